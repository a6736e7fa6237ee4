package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// Faults of TOML have lines, too: those of tables, of arrays of tables, of inline tables and of dotted keys.
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
		"urnd.toml:1: dns.timeout: ", "urnd.toml:3: limits.rate: ", "urnd.toml:7: access.proxy_clients.1: ", "urnd.toml:10: proxy.forwarded: ",
		"urnd.toml:11: proxy.upstreams.0.server: ", "urnd.toml:12: proxy.upstreams.1.hosts.0: ", "urnd.toml:18: proxy.rules.1.action: ",
		"urnd.toml:24: namespaces.0.targets.1.template: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing begins with %s:\n%v", want, err)
		}
	}
}
