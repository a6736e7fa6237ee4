package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestLinesOfTOML: faults in TOML have lines, including those in tables, arrays of tables, inline tables and
// dotted keys.
func TestLinesOfTOML(t *testing.T) {
	const text = `dns.timeout = 5
[limits]
"rate" = "10/s"
[access]
proxy_clients = [
  "10.0.0.0/8",
  "office",
]
[proxy]
forwarded = "xff"
upstreams = [ { server = "proxy.example.org:3128" },
  { server = "direct", hosts = ["a..b"] } ]
[[proxy.rules]]
id = "a"
action = "deny"
[[proxy.rules]]
id = "b"
action = "block"
[[namespaces]]
nid = "example"
[[namespaces.targets]]
template = "https://a.example/{nss}"
[[namespaces.targets]]
template = "https://a.example/{id}"
`
	_, err := config.Load(write(t, "urnd.toml", text), nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"urnd.toml:1: dns.timeout: ", "urnd.toml:3: limits.rate: ", "urnd.toml:7: access.proxy_clients.1: ",
		"urnd.toml:10: proxy.forwarded: ", "urnd.toml:11: proxy.upstreams.0.server: ",
		"urnd.toml:12: proxy.upstreams.1.hosts.0: ",
		"urnd.toml:18: proxy.rules.1.action: ",
		"urnd.toml:24: namespaces.0.targets.1.template: ",
	} {
		if !strings.Contains(lines(err), want) {
			t.Errorf("nothing begins with %s:\n%v", want, err)
		}
	}
}

// TestColumns: faults have the column, in characters, of the key, of the list element, or of the syntax error.
func TestColumns(t *testing.T) {
	for text, want := range map[string]string{
		"dns:\n  timeout: soon\n":                            "urnd.yaml:2:3: dns.timeout: ",
		"dns: {rounds: 2, timeout: soon}\n":                  "urnd.yaml:1:18: dns.timeout: ",
		"ddds:\n  roots: [urn.arpa., 'urn arpa']\n":          "urnd.yaml:2:22: ddds.roots.1: ",
		"ddds:\n  roots:\n    - urn.arpa.\n    - urn arpa\n": "urnd.yaml:4:7: ddds.roots.1: ",
		"site: {name: Bücher, accent: blue}\n":               "urnd.yaml:1:22: site.accent: ",
		"site: {name: ü\n\txs: 1}\n":                         "urnd.yaml:2:1: the line is indented with a tab: YAML is",
		"site: {name: @a}\n":                                 "urnd.yaml:1:14: a value cannot begin like this in YAML",
		"[dns]\nrounds = 2\ntimeout = 'soon'\n":              "urnd.toml:3:1: dns.timeout: ",
		"[ddds]\nroots = ['urn.arpa.', 'urn arpa']\n":        "urnd.toml:2:23: ddds.roots.1: ",
		"[dns]\ntimeout = soon\n":                            "urnd.toml:2:11: texts are in quotes in TOML",
	} {
		name := "urnd.yaml"
		if strings.HasPrefix(text, "[") {
			name = "urnd.toml"
		}
		if _, err := config.Load(write(t, name, text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v\nwant %s", text, err, want)
		}
	}
}
