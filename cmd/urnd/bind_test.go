package main

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

const arpaZone = `
$TTL 300
@        IN SOA ns.elsewhere.test. hostmaster.elsewhere.test. 1 3600 600 86400 60
@        IN NS  ns.elsewhere.test.
direct   120 IN NAPTR 100 10 "u" "http+N2L" "!^urn:direct:(.+)$!https://direct.example/\\1!" .
shared   200 IN NAPTR 100 10 ""  ""         "" rules.urn.example.org.
served   90  IN NAPTR 100 10 "s" "thttp+N2L" "" _thttp._tcp.urn.example.org.
loop     300 IN NAPTR 100 10 ""  ""         "" loop.urn.example.org.
`

const organisationZone = `
$TTL 300
@     IN SOA ns.elsewhere.test. hostmaster.elsewhere.test. 1 3600 600 86400 45
@     IN NS  ns.elsewhere.test.
rules 50 IN NAPTR 100 10 "u" "http+N2L" "!^urn:shared:([a-z]+)$!https://org.example/\\1!i" .
own   70 IN NAPTR 100 20 "u" "http+N2L" "!^urn:own:(.+)$!https://second.example/\\1!" .
own   70 IN NAPTR 100 10 "u" "http+N2L" "!^urn:own:(.+)$!https://first.example/\\1!" .
own   70 IN NAPTR 90  10 "x" "http+N2L" "!^.*$!https://flag.example/!" .
own   70 IN NAPTR 100 5  "u" "http+N2L" "!^.*$!javascript:alert(1)!" .
loop  300 IN NAPTR 100 10 "" "" "" loop.urn.arpa.
_thttp._tcp 80 IN SRV 0 0 8080 resolver.example.org.
`

func startZones(t *testing.T) *testserver.BIND {
	t.Helper()
	return testserver.StartBIND(t,
		testserver.Zone{Name: "urn.arpa", Text: arpaZone},
		testserver.Zone{Name: "urn.example.org", Text: organisationZone})
}

func TestResolveOverBIND(t *testing.T) {
	bind := startZones(t)
	d := startService(t, bind.Addr(), func(c *config.Config) { c.DDDS.Refer = true })
	for _, tt := range []struct {
		name, path, location, age string
		status                    int
		queries                   []string
		again                     string // another name of the zone
	}{
		{
			name: "terminal u rule in one step", path: "/urn:direct:a/B%2c", location: "https://direct.example/a/B%2C", age: "45", status: 302,
			queries: []string{"direct.urn.example.org NAPTR", "direct.urn.arpa NAPTR"}, again: "/urn:direct:x",
		},
		{
			name: "non-terminal rule, then a terminal one", path: "/URN:Shared:Book", location: "https://org.example/Book", age: "45", status: 302,
			queries: []string{"shared.urn.example.org NAPTR", "shared.urn.arpa NAPTR", "rules.urn.example.org NAPTR"}, again: "/urn:shared:film",
		},
		{
			name: "own root, bad records are skipped", path: "/urn:own:1", location: "https://first.example/1", age: "70", status: 302,
			queries: []string{"own.urn.example.org NAPTR"}, again: "/urn:own:2",
		},
		{
			name: "terminal s rule", path: "/urn:served:1", location: "http://resolver.example.org:8080/uri-res/N2L?urn:served:1", age: "45", status: 302,
			queries: []string{"served.urn.example.org NAPTR", "served.urn.arpa NAPTR", "_thttp._tcp.urn.example.org SRV"}, again: "/urn:served:2",
		},
		{
			name: "no such namespace", path: "/urn:nobody:1", age: "45", status: 404,
			queries: []string{"nobody.urn.example.org NAPTR", "nobody.urn.arpa NAPTR"}, again: "/urn:nobody:2",
		},
		{name: "no rule for this name", path: "/urn:shared:1", age: "45", status: 404},
		{
			name: "rules in a circle", path: "/urn:loop:1", age: "300", status: 404,
			queries: []string{"loop.urn.example.org NAPTR", "loop.urn.arpa NAPTR"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bind.Reset()
			got := d.get(t, tt.path)
			if got.status != tt.status || got.location != tt.location || got.cacheControl != "max-age="+tt.age ||
				got.cacheStatus != "urnd; fwd=uri-miss; stored; ttl="+tt.age {
				t.Errorf("got %+v", got)
			}
			if queries := bind.Queries(); !slices.Equal(queries, tt.queries) {
				t.Errorf("asked %q, want %q", queries, tt.queries)
			}
			bind.Reset()
			again := d.get(t, tt.path)
			if again.status != got.status || again.location != got.location || !strings.HasPrefix(again.cacheStatus, "urnd; hit; ttl=") {
				t.Errorf("again: %+v", again)
			}
			if tt.again != "" && d.get(t, tt.again).status != tt.status {
				t.Errorf("another name of the zone: %+v", d.get(t, tt.again))
			}
			if queries := bind.Queries(); len(queries) > 0 {
				t.Errorf("what is cached was asked again: %q", queries)
			}
		})
	}
}

// All clients that ask for an uncached name wait for one chain of DNS queries.
func TestManyAskForOneName(t *testing.T) {
	bind := startZones(t)
	d := startService(t, bind.Addr(), nil)
	const clients = 1000
	client := &http.Client{
		Transport:     &http.Transport{MaxConnsPerHost: 100},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	var answered sync.WaitGroup
	faults := make(chan string, clients)
	for range clients {
		answered.Go(func() {
			response, err := client.Get(d.url + "/urn:shared:crowd")
			if err != nil {
				faults <- err.Error()
				return
			}
			_ = response.Body.Close()
			if location := response.Header.Get("Location"); response.StatusCode != http.StatusFound || location != "https://org.example/crowd" {
				faults <- response.Status + " " + location
			}
		})
	}
	answered.Wait()
	close(faults)
	for fault := range faults {
		t.Error(fault)
	}
	if got, want := bind.Queries(), []string{"shared.urn.example.org NAPTR", "shared.urn.arpa NAPTR", "rules.urn.example.org NAPTR"}; !slices.Equal(got, want) {
		t.Errorf("asked %q", got)
	}
}

func TestNegativeAnswerExpires(t *testing.T) {
	bind := startZones(t)
	d := startService(t, bind.Addr(), nil)
	first := d.get(t, "/urn:nobody:1")
	if !strings.Contains(first.body, "nobody.urn.arpa. does not exist (NXDOMAIN)") || !strings.Contains(first.body, "no rules for namespace") {
		t.Errorf("the reason does not say what was tried: %s", first.body)
	}
	d.clock.advance(50 * time.Second) // beyond the 45 of one zone, not the 60 of the other
	bind.Reset()
	d.get(t, "/urn:nobody:1")
	if got, want := bind.Queries(), []string{"nobody.urn.example.org NAPTR"}; !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
}

func TestStaleWhileDNSIsDown(t *testing.T) {
	bind := startZones(t)
	d := startService(t, bind.Addr(), nil)
	want := d.get(t, "/urn:own:1")
	bind.Stop()
	d.clock.advance(100 * time.Second)
	// The records serve on, for the 30 seconds of RFC 8767 section 4: for this
	// name, and for another one.
	got := d.get(t, "/urn:own:1")
	if got.status != 302 || got.location != want.location || got.cacheControl != "max-age=30" {
		t.Errorf("stale: %+v", got)
	}
	if got := d.get(t, "/urn:own:2"); got.status != 302 || got.location != "https://first.example/2" {
		t.Errorf("by stale records: %+v", got)
	}
	if got := d.get(t, "/urn:other:1"); got.status != 502 {
		t.Errorf("nothing held: %+v", got)
	}
}

// A DNS server that does not answer is a timeout: 504, and not 502.
func TestSilentDNS(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	d := startService(t, silent.LocalAddr().String(), func(c *config.Config) { c.DNS.Timeout = 50 * time.Millisecond })
	if got := d.get(t, "/urn:direct:1"); got.status != 504 {
		t.Errorf("%+v", got)
	}
	// The rules that are built in need no DNS.
	if got := d.get(t, "/urn:ietf:rfc:2648"); got.status != 302 {
		t.Errorf("%+v", got)
	}
}

// Settings for clients and limits reach the parts that they are for.
func TestWiring(t *testing.T) {
	d := startService(t, "127.0.0.1:1", func(c *config.Config) {
		c.DDDS.Enabled = false
		c.Access.ProxyClients = nil
		c.Limits.Target = 300
		c.Namespaces = []config.Namespace{
			{NID: "ISBN", Targets: []config.Target{{Template: "https://own.example/{+nss}"}}},
			{NID: "example", Fold: "lower", Strip: "-", Order: []string{"namespace"}, Targets: []config.Target{{Template: "https://example.org/{+nss}"}}},
		}
	})
	for path, want := range map[string]answer{
		"/http://a.example/":                       {status: 403},
		"/urn:example:" + strings.Repeat("a", 300): {status: 414},
		"/urn:isbn:0-395-36341-1":                  {status: 302, location: "https://own.example/0395363411"},
		"/urn:isbn:0-395-36341-2":                  {status: 400},
		"/urn:example:A-%2fB":                      {status: 302, location: "https://example.org/a%2Fb"},
		"/urn:example:a?s=I2C":                     {status: 200},
		"/urn:example:a?s=I2R":                     {status: 403},
	} {
		if got := d.get(t, path); got.status != want.status || got.location != want.location {
			t.Errorf("%.40s: %+v", path, got)
		}
	}
}

func TestWithoutDNS(t *testing.T) {
	d := startService(t, "127.0.0.1:1", func(c *config.Config) { c.DDDS.Enabled = false })
	got := d.get(t, "/urn:nobody:1")
	if got.status != 404 || !strings.Contains(got.body, "ddds: turned off (ddds.enabled); namespace: no rules for namespace") {
		t.Errorf("%+v", got)
	}
}
