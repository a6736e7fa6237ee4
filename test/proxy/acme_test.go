//go:build e2e

package proxy

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// issued returns the names and the issuer of the certificate for clients that request a host; "" if there is
// none.
func issued(address, host string) string {
	conn, err := tls.Dial("tcp", address, &tls.Config{ServerName: host, InsecureSkipVerify: true})
	if err != nil {
		return ""
	}
	defer conn.Close()
	leaf := conn.ConnectionState().PeerCertificates[0]
	by, _, _ := strings.Cut(leaf.Issuer.CommonName, " ")
	return strings.Join(leaf.DNSNames, " ") + " by " + by
}

// TestACME checks that a public resolver and a site obtain their certificates automatically, store them, and
// serve the stored ones while the authority is unavailable.
func TestACME(t *testing.T) {
	t.Parallel()
	plain, secure := urndtest.FreeAddress(t), urndtest.FreeAddress(t)
	pebble := testserver.StartPebble(t,
		testserver.PebbleConfig{HTTP: netip.MustParseAddrPort(plain), TLS: netip.MustParseAddrPort(secure)})
	site := urndtest.ServeHTTP(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the site")) })
	state := t.TempDir()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Listen.Service, c.Listen.TLS, c.Listen.RedirectTLS = []string{plain}, []string{secure}, true
		c.Listen.Names = []string{"urn.a.test"}
		c.Namespaces = []config.Namespace{book("a")}
		c.Proxy.Sites = []config.Site{{Hosts: []string{"www.b.test"}, Servers: []string{"http://" + site.Addr}}}
		c.ACME.Enabled, c.ACME.Directory, c.ACME.CA, c.ACME.Contact = true, pebble.Directory, pebble.CA.File,
			"hostmaster@a.test"
		c.Cache.Directory = state
	})
	for _, host := range []string{"urn.a.test", "www.b.test"} {
		testserver.Wait(t, "there is a certificate for "+host,
			func() bool { return issued(secure, host) == host+" by Pebble" })
	}
	if got := issued(secure, "other.test"); got != "urn.a.test by Pebble" {
		t.Errorf("for another name: %q", got)
	}
	if got := d.At(t, http.MethodGet, "urn.a.test", "/urn:book:1"); !strings.Contains(got, "308") {
		t.Errorf("by http: %q", got)
	}
	if got := d.At(t, http.MethodGet, "urn.a.test",
		"/.well-known/acme-challenge/0123456789012345678901"); !strings.Contains(got, "308") {
		t.Errorf("an unrequested challenge: %q", got)
	}
	d.ExpectMetrics(t, `certificate_orders_total{outcome="success"} 2`)
	for _, path := range []string{"certificates"} {
		if info, err := os.Stat(filepath.Join(state, path)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v, %v", path, info, err)
		}
	}

	// A name added while the authority is unavailable is reported as missing, and the others are served, also
	// after a restart.
	pebble.Stop()
	d.Reload(t, func(c *config.Config) { c.Listen.Names = append(c.Listen.Names, "new.a.test") })
	d.WaitForLog(t, "certificate order failed")
	if status, ready := d.AdminRequest(t, "GET /readyz"); status != http.StatusOK ||
		!strings.Contains(ready, "new.a.test") {
		t.Errorf("/readyz: %d %s", status, ready)
	}
	d.Stop()
	again := urndtest.StartConfig(t, d.Config)
	for _, host := range []string{"urn.a.test", "www.b.test"} {
		testserver.Wait(t, "the certificate for "+host+" is there again",
			func() bool { return issued(secure, host) == host+" by Pebble" })
	}
	again.WaitForLog(t, "certificate order failed")
}
