//go:build e2e

package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// TestOwnListeners checks that urnd never dials its own listeners, whatever destinations are allowed: not as a
// proxy, not for a resource, and not for a record.
func TestOwnListeners(t *testing.T) {
	t.Parallel()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Listen.Admin = "0.0.0.0:0"
		c.Access.AllowDestinations = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
		c.Namespaces = []config.Namespace{{
			NID:     "book",
			Targets: []config.Target{{Template: "http://127.0.0.1:{+nss}/metrics"}},
		}}
	})
	_, admin, _ := net.SplitHostPort(strings.TrimPrefix(d.Admin, "http://"))
	_, service, _ := net.SplitHostPort(at(d.URL))
	refused := func(target string) {
		t.Helper()
		response := sendAsIs(t, d, "GET "+target, "")
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", target, response.StatusCode)
		}
		response.Body.Close()
	}
	for _, host := range []string{"127.0.0.1", "127.9.9.9", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		refused("http://" + host + ":" + admin + "/metrics")
	}
	refused("http://0.0.0.0:" + service + "/urn:book:1")
	for _, host := range []string{"127.0.0.1", "localhost"} { // urnd responds itself: RFC 9110 section 7.6
		response := sendAsIs(t, d, "GET http://"+host+":"+service+"/urn:book:1", "")
		if got := response.Header.Get("Location"); got != "http://127.0.0.1:1/metrics" {
			t.Errorf("%s: %d, %s", host, response.StatusCode, got)
		}
		response.Body.Close()
	}
	refused("/uri-res/N2R?urn:book:" + admin)
	for _, local := range localAddrs(t) {
		refused("http://" + netip.AddrPortFrom(local, 0).Addr().String() + ":" + admin + "/metrics")
	}
	for host, want := range map[string]int{"127.0.0.1": http.StatusOK, "0.0.0.0": http.StatusMisdirectedRequest} {
		d.Admin = "http://" + net.JoinHostPort(host, admin)
		if status, _ := d.AdminRequest(t, "GET /metrics"); status != want {
			t.Errorf("an administrator by %s: %d", host, status)
		}
	}
}

// localAddrs returns the IPv4 addresses of this machine.
func localAddrs(t *testing.T) (all []netip.Addr) {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Is4() {
			all = append(all, prefix.Addr())
		}
	}
	return all
}

// TestRequestsForOtherHosts: a page of another site may direct a browser on this machine to urnd by a name of
// its own (DNS rebinding). Such requests do not have the privileges of this machine.
func TestRequestsForOtherHosts(t *testing.T) {
	t.Parallel()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Listen.Names = []string{"urn.example.org"}
		c.Namespaces = []config.Namespace{{
			NID:     "book",
			Targets: []config.Target{{Template: "http://books.example/{+nss}"}},
		}}
	})
	for _, tt := range []struct {
		target, host string
		status       int
	}{
		{"/http://a.example/", "evil.example", 403},
		{"/?uri=http://a.example/", "evil.example:8141", 403},
		{"/uri-res/N2R?urn:book:1", "evil.example", 403},
		{"/uri-res/N2R?urn:book:1", "127.0.0.1.evil.example", 403},
		{"/urn:book:1", "evil.example", 302}, // permitted for all clients
		{"/http://a.example/", "URN.example.org.", 302},
		{"/http://a.example/", "localhost", 302},
		{"/http://a.example/", "127.0.0.1:8141", 302},
		{"/http://a.example/", "[::1]", 302},
	} {
		if got := d.Get(t, tt.target, "Host: "+tt.host); got.Status != tt.status {
			t.Errorf("%s for %s: %+v", tt.target, tt.host, got)
		}
	}
	if !reload(t, d, func(c *config.Config) {
		c.Access.ResolveClients = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}) {
		t.Error("the reload is refused")
	}
	if got := d.Get(t, "/urn:book:1", "Host: evil.example"); got.Status != 403 ||
		!strings.Contains(got.Body, "listen.names") {
		t.Errorf("where only this machine may resolve: %+v", got)
	}
	if got := d.Get(t, "/urn:book:1"); got.Status != 302 {
		t.Errorf("from this machine: %+v", got)
	}
}
