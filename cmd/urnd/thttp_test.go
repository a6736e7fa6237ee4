package main

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

const authorityZone = `
$TTL 300
@     IN SOA ns.elsewhere.test. hostmaster.elsewhere.test. 1 3600 600 86400 60
@     IN NS  ns.elsewhere.test.
book  300 IN NAPTR 100 10 "s" "thttp+N2L+N2Ls" "" _book._tcp.urn.example.org.
raw   300 IN NAPTR 100 10 "s" "thttp+N2L" "" _book._tcp.urn.example.org.
_book._tcp 120 IN SRV 0 0 %s authority.urn.example.org.
authority 120 IN A 127.0.0.1
down  300 IN NAPTR 100 10 "s" "thttp+N2L" "" _down._tcp.urn.example.org.
_down._tcp 120 IN SRV 0 0 %s authority.urn.example.org.
_down._tcp 120 IN SRV 1 0 9 authority.urn.example.org.
`

// urnd against urnd: one is the authority for a namespace, the other finds it by
// NAPTR and SRV records in BIND, and asks it by THTTP.
func TestUrndAsksUrnd(t *testing.T) {
	authority := startService(t, "127.0.0.1:9", func(c *config.Config) {
		c.Namespaces = []config.Namespace{{
			NID: "book", Order: []string{"namespace"}, Check: "strict",
			Targets: []config.Target{
				{Pattern: "^[0-9]+$", Template: "https://books.example/{nss}"}, {Pattern: "^[0-9]+$", Template: "https://mirror.example/{nss}"},
			},
		}, {NID: "raw", Order: []string{"namespace"}, Targets: []config.Target{{Template: "https://raw.example/{+nss}"}}}}
	})
	u, err := url.Parse(authority.url)
	if err != nil {
		t.Fatal(err)
	}
	bind := testserver.StartBIND(t, testserver.Zone{Name: "urn.example.org", Text: fmt.Sprintf(authorityZone, u.Port(), "1")})
	d := startService(t, bind.Addr(), func(c *config.Config) {
		c.DDDS.Roots = []string{"urn.example.org."}
		c.Access.AllowDestinations = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	if got := d.get(t, "/urn:book:42"); got.status != 302 || got.location != "https://books.example/42" || got.cacheControl != "max-age=120" {
		t.Errorf("%+v", got)
	}
	if got := d.get(t, "/urn:book:42"); !strings.HasPrefix(got.cacheStatus, "urnd; hit") {
		t.Errorf("again: %+v", got)
	}
	if got := d.get(t, "/urn:book:x"); got.status != 404 || !strings.Contains(got.body, "answered 404") {
		t.Errorf("a name that the server does not know: %+v", got)
	}
	// Percent-encodings of a name are not decoded.
	if got := d.get(t, "/urn:raw:a%2Db%7e"); got.status != 302 || got.location != "https://raw.example/a%2Db%7E" {
		t.Errorf("a name with percent-encodings: %+v", got)
	}
	for path, want := range map[string]string{
		"/uri-res/N2Ls?urn:book:42": "# urn:book:42\r\nhttps://books.example/42\r\nhttps://mirror.example/42\r\n",
		"/uri-res/N2Ls?urn:raw:42":  "# urn:raw:42\r\nhttps://raw.example/42\r\n", // its server offers only N2L
	} {
		if got := d.get(t, path); got.status != 200 || got.body != want {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if got := d.get(t, "/urn:down:1"); got.status != 502 {
		t.Errorf("servers that are down: %+v", got)
	}
	closed := startService(t, bind.Addr(), func(c *config.Config) { c.DDDS.Roots = []string{"urn.example.org."} })
	if got := closed.get(t, "/urn:book:42"); got.status != 403 {
		t.Errorf("a server on loopback, where that is closed: %+v", got)
	}
	configured := startService(t, bind.Addr(), func(c *config.Config) {
		c.Access.AllowDestinations = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://127.0.0.1:1", authority.url}}}
	})
	if got := configured.get(t, "/urn:book:42"); got.status != 302 || got.location != "https://books.example/42" {
		t.Errorf("a server of the configuration: %+v", got)
	}
}
