package main

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
)

// countedDNS starts a DNS server, and counts its queries for NAPTR records.
func countedDNS(t *testing.T, answer dns.HandlerFunc) (address string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	return udpAndTCP(func(w dns.ResponseWriter, q *dns.Msg) {
		if q.Question[0].Qtype == dns.TypeNAPTR {
			asked.Add(1)
		}
		answer(w, q)
	}).serve(t), asked
}

// A namespace that the administrator gave targets does not depend on the DNS, and its names
// are not told to it. Order still decides.
func TestConfiguredNamespaceNeedsNoDNS(t *testing.T) {
	for what, answer := range map[string]dns.HandlerFunc{
		"silent": silent, "refusing": answerRcode(dns.RcodeRefused), "healthy": answerRcode(dns.RcodeNameError),
	} {
		t.Run(what, func(t *testing.T) {
			address, asked := countedDNS(t, answer)
			w := startDaemon(t, address, 0, func(c *config.Config) {
				c.DNS.Timeout = 50 * time.Millisecond
				targets := []config.Target{{Template: "https://library.example/{+nss}"}}
				c.Namespaces = append(c.Namespaces,
					config.Namespace{NID: "Library", Targets: targets},
					config.Namespace{NID: "delegated", Targets: targets, Order: []string{"ddds", "namespace"}})
			})
			before := asked.Load()
			got := w.get(t, "/urn:library:1")
			if got.status != http.StatusFound || got.location != "https://library.example/1" {
				t.Errorf("got %d %s", got.status, got.location)
			}
			if n := asked.Load() - before; n != 0 {
				t.Errorf("the DNS was asked %d times", n)
			}
			w.get(t, "/urn:delegated:1")
			if asked.Load() == before && what != "silent" { // which is known since the start
				t.Error("the order that the administrator wrote is not followed")
			}
		})
	}
}

// While no DNS server answers, only the first names wait for it.
func TestSilentDNSCostsOnce(t *testing.T) {
	address, asked := countedDNS(t, silent)
	w := startDaemon(t, address, 0, func(c *config.Config) { c.DNS.Timeout, c.DNS.Rounds = 50*time.Millisecond, 1 })
	testserver.Wait(t, "names fail at once", func() bool {
		before := asked.Load()
		got := w.get(t, fmt.Sprintf("/urn:name:%d", before))
		if got.status != http.StatusGatewayTimeout {
			t.Fatalf("got %d", got.status)
		}
		return asked.Load() == before
	})
	before := asked.Load()
	for i := range 40 {
		if got := w.get(t, fmt.Sprintf("/urn:other:%d", i)); got.status != http.StatusGatewayTimeout {
			t.Errorf("got %d", got.status)
		}
	}
	if n := asked.Load() - before; n != 0 {
		t.Errorf("40 names cost %d queries", n)
	}
	w.clock.advance(6 * time.Second)
	w.get(t, "/urn:other:1")
	if asked.Load() == before {
		t.Error("the server is not asked again")
	}
}

// So do those of a resolution server that cannot be reached.
func TestUnreachableServerCostsOnce(t *testing.T) {
	server := "http://" + freeAddress(t)
	w := startDaemon(t, udpAndTCP(answerRcode(dns.RcodeNameError)).serve(t), 0, func(c *config.Config) {
		openLoopback(c)
		c.Namespaces = append(c.Namespaces, config.Namespace{NID: "served", THTTP: []string{server}})
	})
	for i := range 5 {
		if got := w.get(t, fmt.Sprintf("/urn:served:%d", i)); got.status != http.StatusBadGateway {
			t.Errorf("got %d", got.status)
		}
	}
	w.expectMetrics(t, `gateway_exchanges_total{gateway="thttp",outcome="failed"} 1`)
}

// The addresses of resolution servers are looked up at the servers that answer.
func TestDeadFirstServer(t *testing.T) {
	web := httptest.NewServer(http.RedirectHandler("https://a.example/", http.StatusSeeOther))
	t.Cleanup(web.Close)
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	good := udpAndTCP(zone(t, "host.example.org. 60 IN A 127.0.0.1")).serve(t)
	dead := udpAndTCP(silent).serve(t)
	w := startDaemon(t, good, 0, func(c *config.Config) {
		openLoopback(c)
		c.DNS.Servers = append([]config.Server{{AddrPort: netip.MustParseAddrPort(dead)}}, c.DNS.Servers...)
		c.DNS.Timeout, c.DNS.HedgeAfter = time.Minute, time.Millisecond
		c.Namespaces = append(c.Namespaces, config.Namespace{NID: "served", THTTP: []string{"http://host.example.org:" + port}})
	})
	if got := w.get(t, "/urn:served:1"); got.status != http.StatusFound || got.location != "https://a.example/" {
		t.Errorf("got %d %s", got.status, got.location)
	}
}
