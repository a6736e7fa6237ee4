package config_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
)

// TestMessages requires helpful messages for common mistakes.
func TestMessages(t *testing.T) {
	for text, want := range map[string]string{
		"dns:\n\ttimeout: 5s\n": "urnd.yaml:2: the line is indented with a tab: YAML is " +
			"indented with spaces",
		"[dns]\ntimeout = \"5s\"\n": "urnd.yaml: this is TOML: the name of the file must end in " +
			".toml",
		"dns: {timeout: 5}":                             "5 has no unit: write 5s or 5ms",
		"dns: {timeout: 5s}\n---\ndns: {timeout: 6s}\n": `urnd.yaml:2: a second YAML document, after "---"`,
		"dns: {timeout: 5s}\n---\ndns: {\n":             `urnd.yaml: a second YAML document, after "---"`,
		"ddds: {enabled: maybe}":                        `ddds.enabled: "maybe" is not true or false`,
		"log: {level: warning}":                         `"warning" is not DEBUG, INFO, WARN or ERROR; did you mean WARN?`,
		"log: {format: jsno}":                           `"jsno" is not auto, text, json or journald; did you mean json?`,
		"resolve: {order: []}":                          "resolve.order: is empty, so no URN would be resolved",
		"namespaces: {book: {targets: []}}":             `namespaces: is a table, and must be a list: write "- nid: book"`,
		"dns: {servers: {a: b}}":                        "dns.servers: is a table, and must be a list",
		"access: {proxy_clients: [office]}":             `"office" is not an address range such as 192.0.2.0/24, or an address`,
		"access: {admin_token: s3cr3t}": "access.admin_token: is not a path that begins with a " +
			"slash, or credential: and a name",
		"resolve: {fallback: 'https://a.example/$1'}":                                                         `$1 is not a variable of templates: write {name}, where`,
		"resolve: {fallback: 'https://a.example/%s'}":                                                         `%s is not a variable of templates`,
		"resolve: {fallback: 'https://a.example/{+unr}'}":                                                     `the variable "unr" is unknown; did you mean urn?`,
		"namespaces: [{nid: a1, pattern: '(?P<year>.*)', targets: [{template: 'https://a.example/{yeer}'}]}]": `the variable "yeer" is unknown; did you mean year?; known variables: urn, nid, nss, c, year`,
		"resolve: {fallback: 'https://a.example/\\1'}":                                                        `\1 is not a variable of templates`,
		"resolve: {fallback: 'https://a.example/<urn>'}":                                                      `<urn> is not a variable of templates`,
		"resolve: {fallback: 'https://a.example/a b/{urn}'}":                                                  `does not expand to a URI: in "https://a.example/a b/1"`,
		"resolve: {fallback: 'https://a.example/{urn.}'}":                                                     `"urn." in {urn.} is not the name of a variable`,
		"namespaces: [{nid: a1, targets: [{template: 'javascript:{nss}'}]}]":                                  `redirects to the scheme "javascript" are not allowed`,
		"resolve: {identifiers: [{pattern: 'x(?P<n>.)', template: 'urn:a1:{nss}'}]}":                          `the variable "nss" is unknown; known variables: n`,
		"access: {admin_token: [s3cr3t]}":                                                                     "its value is not shown",
		"access: {proxy_users: {alice: s3cr3t}}":                                                              "its value is not shown",
		"access: {admin_token: 's3cr3t/abc=='}":                                                               "its value is not shown",
		"tls: {certificate: /c, key: \"-----BEGIN PRIVATE KEY-----\\ns3cr3t\"}":                               "its value is not shown",
		"timeout: 5s": "did you mean dns.timeout, gateways.timeout, resolve.timeout, slp.timeout or thttp.timeout? " +
			"Its section is missing above it, or",
	} {
		_, err := config.Load(write(t, "urnd.yaml", text), nil)
		if err == nil || !strings.Contains(lines(err), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("a secret is shown: %v", err)
		}
	}
	if _, err := config.Load(write(t, "urnd.toml", "dns:\n  timeout: 5s\n"), nil); err == nil ||
		!strings.Contains(err.Error(), "this is YAML") {
		t.Errorf("YAML in a .toml file: %v", err)
	}
	for _, text := range []string{
		"---\ndns: {timeout: 5s}\n...\n", "dns: {timeout: 5s}\n---\n", "", "---\n",
		"# nothing\n",
	} {
		if _, err := config.Load(write(t, "urnd.yaml", text), nil); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	t.Setenv("URND_DNS_TIMOUT", "5s")
	if _, err := config.Load("", nil); err == nil ||
		err.Error() != "URND_DNS_TIMOUT: no setting has this variable; did you mean URND_DNS_TIMEOUT?" {
		t.Errorf("a mistyped variable: %v", err)
	}
}

// TestAddressRanges: an address is a network of one address; host bits cause a warning.
func TestAddressRanges(t *testing.T) {
	c, err := config.Load(write(t, "urnd.yaml", "access: {allow_destinations: [192.0.2.1, '2001:db8::1', 10.1.2.3/8]}"),
		nil)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Access.AllowDestinations
	if got[0] != netip.MustParsePrefix("192.0.2.1/32") || got[1] != netip.MustParsePrefix("2001:db8::1/128") {
		t.Errorf("%v", got)
	}
	if warnings := c.Warnings(); len(warnings) != 1 ||
		!strings.Contains(warnings[0].String(),
			"access.allow_destinations.2: 10.1.2.3/8 is interpreted as 10.0.0.0/8") {
		t.Errorf("%v", warnings)
	}
}

// TestWarningsOfProxy requires warnings about proxy settings that can never have an effect.
func TestWarningsOfProxy(t *testing.T) {
	for text, want := range map[string]string{
		"proxy: {sites: [{hosts: [a.example], servers: ['http://192.0.2.1', 'http://10.0.0.1:80']}]}": "proxy.sites.0.servers.1: 10.0.0.1 is not in access.allow_destinations",
		"proxy: {sites: [{hosts: [a.example], servers: ['http://[::1]:80']}]}":                        "proxy.sites.0.servers.0: ::1 is not in",
		"{access: {allow_destinations: [10.0.0.0/8]}, proxy: {sites: [{hosts: [a.example], servers: " +
			"['http://10.0.0.1:80', 'http://b.example']}]}}": "",
		"limits: {client_share: 50}":                             "limits.client_share: is 50 percent",
		"limits: {client_share: 50, network_factor: 1}":          "",
		"limits: {client_share: 100}":                            "",
		"cache: {disk: 1GiB, disk_directory: /a, responses: 0B}": "cache.disk: is not used",
	} {
		c, err := config.Load(write(t, "urnd.yaml", text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Warnings(); (want == "") != (len(got) == 0) || !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestManyNamespaces requires that the time to check a configuration is linear in its namespaces: in quadratic
// time, four times as many take sixteen times as long. It retries, for a busy machine.
func TestManyNamespaces(t *testing.T) {
	const many, tries, most = 20_000, 5, 8
	load := func(count int) func() time.Duration {
		var text strings.Builder
		text.WriteString("namespaces:\n")
		for i := range count {
			fmt.Fprintf(&text, "- {nid: n%d, targets: [{template: 'https://a.example/{nss}'}]}\n", i)
		}
		path := write(t, "urnd.yaml", text.String())
		return func() time.Duration {
			start := time.Now()
			if _, err := config.Load(path, nil); err != nil {
				t.Fatal(err)
			}
			return time.Since(start)
		}
	}
	loadPart, loadWhole := load(many/4), load(many)
	for try := 1; ; try++ {
		part, whole := loadPart(), loadWhole()
		if whole < most*part {
			t.Logf("%d took %s, a quarter of them %s", many, whole, part)
			return
		}
		if try == tries {
			t.Fatalf("%d took %s, a quarter of them %s", many, whole, part)
		}
	}
}
