//go:build e2e

package names

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// countedDNS starts a DNS server that counts NAPTR queries.
func countedDNS(t *testing.T, answer dns.HandlerFunc) (address string, requested *atomic.Int32) {
	t.Helper()
	requested = new(atomic.Int32)
	return urndtest.UDPAndTCP(func(w dns.ResponseWriter, q *dns.Msg) {
		if q.Question[0].Qtype == dns.TypeNAPTR {
			requested.Add(1)
		}
		answer(w, q)
	}).Serve(t), requested
}

// TestConfiguredNamespaceNeedsNoDNS checks that a namespace with configured targets does not depend on DNS, and
// that its names are not sent to DNS servers. The configured order still applies.
func TestConfiguredNamespaceNeedsNoDNS(t *testing.T) {
	t.Parallel()
	for what, answer := range map[string]dns.HandlerFunc{
		"silent": urndtest.Silent, "refusing": urndtest.AnswerRcode(dns.RcodeRefused),
		"healthy": urndtest.AnswerRcode(dns.RcodeNameError),
	} {
		t.Run(what, func(t *testing.T) {
			address, requested := countedDNS(t, answer)
			w := urndtest.Start(t, address, func(c *config.Config) {
				c.DNS.Timeout = 50 * time.Millisecond
				targets := []config.Target{{Template: "https://library.example/{+nss}"}}
				c.Namespaces = append(c.Namespaces,
					config.Namespace{NID: "Library", Targets: targets},
					config.Namespace{NID: "delegated", Targets: targets, Order: []string{"ddds", "namespace"}})
			})
			before := requested.Load()
			got := w.Get(t, "/urn:library:1")
			if got.Status != http.StatusFound || got.Location != "https://library.example/1" {
				t.Errorf("got %d %s", got.Status, got.Location)
			}
			if n := requested.Load() - before; n != 0 {
				t.Errorf("the DNS was asked %d times", n)
			}
			w.Get(t, "/urn:delegated:1")
			if requested.Load() == before && what != "silent" { // known to be silent since the start
				t.Error("the order that the administrator wrote is not followed")
			}
		})
	}
}

// TestSilentDNSCostsOnce checks that only the first names wait while no DNS server responds.
func TestSilentDNSCostsOnce(t *testing.T) {
	t.Parallel()
	address, requested := countedDNS(t, urndtest.Silent)
	w := urndtest.Start(t, address, func(c *config.Config) {
		c.DNS.Timeout, c.DNS.Rounds, c.Resolve.Backoff = 50*time.Millisecond, 1, time.Second
	})
	testserver.Wait(t, "names fail at once", func() bool {
		before := requested.Load()
		got := w.Get(t, fmt.Sprintf("/urn:name:%d", before))
		if got.Status != http.StatusGatewayTimeout {
			t.Fatalf("got %d", got.Status)
		}
		return requested.Load() == before
	})
	before := requested.Load()
	for i := range 40 {
		if got := w.Get(t, fmt.Sprintf("/urn:other:%d", i)); got.Status != http.StatusGatewayTimeout {
			t.Errorf("got %d", got.Status)
		}
	}
	if n := requested.Load() - before; n != 0 {
		t.Errorf("40 names cost %d queries", n)
	}
	testserver.Wait(t, "the server is asked again", func() bool {
		w.Get(t, "/urn:other:1")
		return requested.Load() > before
	})
}

// TestUnreachableServerCostsOnce checks the same for a resolution server that cannot be reached.
func TestUnreachableServerCostsOnce(t *testing.T) {
	t.Parallel()
	server := "http://" + urndtest.FreeAddress(t)
	w := urndtest.Start(t, urndtest.UDPAndTCP(urndtest.AnswerRcode(dns.RcodeNameError)).Serve(t),
		func(c *config.Config) {
			urndtest.OpenLoopback(c)
			c.Namespaces = append(c.Namespaces, config.Namespace{NID: "served", THTTP: []string{server}})
		})
	for i := range 5 {
		if got := w.Get(t, fmt.Sprintf("/urn:served:%d", i)); got.Status != http.StatusBadGateway {
			t.Errorf("got %d", got.Status)
		}
	}
	w.ExpectMetrics(t, `gateway_exchanges_total{gateway="thttp",outcome="failed"} 1`)
}

// TestDeadFirstServer checks that the addresses of resolution servers are looked up at DNS servers that
// respond.
func TestDeadFirstServer(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.RedirectHandler("https://a.example/", http.StatusSeeOther))
	t.Cleanup(web.Close)
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	good := urndtest.UDPAndTCP(urndtest.Zone(t, "host.example.org. 60 IN A 127.0.0.1")).Serve(t)
	dead := urndtest.UDPAndTCP(urndtest.Silent).Serve(t)
	w := urndtest.Start(t, good, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.DNS.Servers = append([]config.Server{{AddrPort: netip.MustParseAddrPort(dead)}}, c.DNS.Servers...)
		c.DNS.Timeout = time.Minute
		c.Namespaces = append(c.Namespaces,
			config.Namespace{NID: "served", THTTP: []string{"http://host.example.org:" + port}})
	})
	if got := w.Get(t, "/urn:served:1"); got.Status != http.StatusFound || got.Location != "https://a.example/" {
		t.Errorf("got %d %s", got.Status, got.Location)
	}
}

// TestUnknownStatus checks that the status for a name that no system supports is configurable.
func TestUnknownStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusNotImplemented, http.StatusBadGateway} {
		w := urndtest.Start(t, "127.0.0.1:1", func(c *config.Config) {
			c.DDDS.Enabled = false
			c.Resolve.UnknownStatus = status
		})
		if got := w.Get(t, "/urn:none-1:a"); got.Status != status {
			t.Errorf("%d, want %d: %s", got.Status, status, got.Body)
		}
	}
}
