//go:build e2e

package names

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
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

// TestUrndAsksUrnd runs two urnds: one is the authority of a namespace, the other finds it by NAPTR and SRV
// records in BIND, and queries it by THTTP.
func TestUrndAsksUrnd(t *testing.T) {
	t.Parallel()
	authority := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		c.Namespaces = []config.Namespace{{
			NID: "book", Order: []string{"namespace"}, Check: "strict",
			Targets: []config.Target{
				{Pattern: "^[0-9]+$", Template: "https://books.example/{nss}"},
				{Pattern: "^[0-9]+$", Template: "https://mirror.example/{nss}"},
			},
		}, {
			NID: "raw", Order: []string{"namespace"},
			Targets: []config.Target{{Template: "https://raw.example/{+nss}"}},
		}}
	})
	u, err := url.Parse(authority.URL)
	if err != nil {
		t.Fatal(err)
	}
	bind := testserver.StartBIND(t,
		testserver.Zone{Name: "urn.example.org", Text: fmt.Sprintf(authorityZone, u.Port(), "1")})
	d := urndtest.Start(t, bind.Addr(), urndtest.OpenLoopback)
	if got := d.Get(t, "/urn:book:42"); got.Status != 302 || got.Location != "https://books.example/42" ||
		!lifetime("max-age=%s", 120).MatchString(got.CacheControl) {
		t.Errorf("%+v", got)
	}
	if got := d.Get(t, "/urn:book:42"); !strings.HasPrefix(got.CacheStatus, "urnd; hit") {
		t.Errorf("again: %+v", got)
	}
	if got := d.Get(t, "/urn:book:x"); got.Status != 404 ||
		!strings.Contains(got.Body, "resolution server responded 404") {
		t.Errorf("a name that the server does not know: %+v", got)
	}
	// Percent-encodings in a name are not decoded.
	if got := d.Get(t, "/urn:raw:a%2Db%7e"); got.Status != 302 || got.Location != "https://raw.example/a%2Db%7E" {
		t.Errorf("a name with percent-encodings: %+v", got)
	}
	for path, want := range map[string]string{
		"/uri-res/N2Ls?urn:book:42": "# urn:book:42\r\nhttps://books.example/42\r\nhttps://mirror.example/42\r\n",
		"/uri-res/N2Ls?urn:raw:42":  "# urn:raw:42\r\nhttps://raw.example/42\r\n", // its server only supports N2L
	} {
		if got := d.Get(t, path); got.Status != 200 || got.Body != want {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if got := d.Get(t, "/urn:down:1"); got.Status != 502 {
		t.Errorf("servers that are down: %+v", got)
	}
	closed := urndtest.Start(t, bind.Addr(), nil)
	if got := closed.Get(t, "/urn:book:42"); got.Status != 403 {
		t.Errorf("a server on loopback, where that is closed: %+v", got)
	}
	configured := urndtest.Start(t, bind.Addr(), func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://127.0.0.1:1", authority.URL}}}
	})
	if got := configured.Get(t, "/urn:book:42"); got.Status != 302 || got.Location != "https://books.example/42" {
		t.Errorf("a server of the configuration: %+v", got)
	}
}
