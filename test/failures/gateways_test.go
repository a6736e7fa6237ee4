//go:build e2e

package failures

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// thttpRule is a rule with THTTP servers.
const thttpRule = `name.urn.example.org. 60 IN NAPTR 100 10 "s" "thttp+N2L" "" _thttp._tcp.urn.example.org.`

// thttpZone serves a zone with a namespace with THTTP servers (RFC 2169) in these SRV records, another
// namespace, "origin", whose names are at web, and "mail".
func thttpZone(srv ...string) func(*testing.T, *urndtest.WebServer) []urndtest.DNSServer {
	return func(t *testing.T, web *urndtest.WebServer) []urndtest.DNSServer {
		t.Helper()
		lines := []string{
			thttpRule, "host.example.org. 60 IN A 127.0.0.1",
			"sink.example.org. 60 IN A 192.175.48.1", // of AS112, RFC 7534; no packet arrives there
			"mapped.example.org. 60 IN AAAA ::ffff:127.0.0.1", "this.example.org. 60 IN A 0.0.0.0",
			fmt.Sprintf(`origin.urn.example.org. 60 IN NAPTR 100 10 "u" "http+I2L" "!^urn:origin:(.*)$!http://%s/\\1!" .`, web.Addr),
			`mail.urn.example.org. 60 IN NAPTR 100 10 "u" "http+I2L" "!^.*$!http://192.175.48.1:25/!" .`,
		}
		for i, s := range srv {
			lines = append(lines, fmt.Sprintf("_thttp._tcp.urn.example.org. 60 IN SRV %d 0 %s", i,
				strings.ReplaceAll(s, "WEB", web.Port)))
		}
		return []urndtest.DNSServer{urndtest.UDPAndTCP(urndtest.Zone(t, lines...))}
	}
}

// exchangeCount is the metric of exchanges with a gateway.
func exchangeCount(gateway, outcome string, n int) string {
	return fmt.Sprintf(`gateway_exchanges_total{gateway="%s",outcome="%s"} %d`, gateway, outcome, n)
}

func TestFailuresOfTHTTPServers(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) {
		location := map[string]string{
			"/uri-res/N2L?urn:name:self": r.URL.String(), "/uri-res/N2L?urn:name:fragment": r.URL.String() + "#f",
			"/uri-res/N2L?urn:name:private": "http://10.0.0.1/", "/uri-res/N2L?urn:name:urn": "urn:name:another",
			"/self": "/self", "/urn": "urn:x1:y", "/private": "http://10.0.0.1/",
			"/metadata": "http://169.254.169.254/", "/mail": "http://192.175.48.1:25/",
		}[r.URL.String()]
		switch r.URL.RawQuery {
		case "urn:name:list":
			trickle(w, r)
		case "urn:name:header":
			trickleHeader(w, r)
		default:
			redirect(w, location)
		}
	}
	good := urndtest.ServeHTTP(t, redirectToLocation)
	first := thttpZone("WEB host.example.org.")
	second := thttpZone("WEB host.example.org.", good.Port+" host.example.org.")
	within := func(timeout time.Duration) func(*config.Config) {
		return func(c *config.Config) { urndtest.OpenLoopback(c); c.THTTP.Timeout = timeout }
	}
	base := "querying http://host.example.org:WEB: "
	runFailures(t, handler, []failure{
		{
			name: "list that trickles", dns: first, change: within(500 * time.Millisecond), path: "/urn:name:list",
			status: 504, queries: 1, log: base + "context deadline exceeded: ",
			metrics: []string{exchangeCount("thttp", "timeout", 1)},
		},
		{
			name: "header that trickles", dns: first, change: within(500 * time.Millisecond), path: "/urn:name:header",
			status: 504, queries: 1, log: base + "context deadline exceeded: ",
			metrics: []string{exchangeCount("thttp", "timeout", 1)},
		},
		{
			name: "list that trickles, and another server", dns: second, change: within(time.Second),
			path: "/urn:name:list", status: 302,
			location: "https://a.example/", queries: 1,
			metrics: []string{exchangeCount("thttp", "timeout", 1), exchangeCount("thttp", "found", 1)},
		},
		{
			name: "redirect to itself", dns: first, change: urndtest.OpenLoopback, path: "/urn:name:self", status: 502,
			queries: 1, log: base + "source unreachable: redirect to itself",
			metrics: []string{exchangeCount("thttp", "failed", 1)},
		},
		{
			name: "redirect to a part of itself", dns: first, change: urndtest.OpenLoopback, path: "/urn:name:fragment",
			status: 502, queries: 1, log: base + "source unreachable: redirect to itself",
			metrics: []string{exchangeCount("thttp", "failed", 1)},
		},
		{ // one request, and none for the other URN
			name: "redirect to another URN", dns: first, change: urndtest.OpenLoopback, path: "/urn:name:urn",
			status: 502, queries: 1, log: base + `source unreachable: invalid Location: `,
			metrics: []string{exchangeCount("thttp", "failed", 1)},
		},
		{ // followed by the client
			name: "redirect to a private address", dns: first, change: urndtest.OpenLoopback, path: "/urn:name:private",
			status: 302, location: "http://10.0.0.1/", queries: 1,
			metrics: []string{exchangeCount("thttp", "found", 1)},
		},
		{
			name: "location at a private address", dns: first, change: urndtest.OpenLoopback,
			path: "/urn:name:private?s=I2R", status: 403, queries: 1, detail: "its address is private",
			log:     "10.0.0.1 is private",
			metrics: []string{exchangeCount("thttp", "found", 1), exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "origin that redirects to itself", dns: first, change: urndtest.OpenLoopback,
			path: "/urn:origin:self?s=I2R", status: 502, queries: 6, log: "the origin redirects more than 5 times",
			metrics: []string{exchangeCount("fetch", "found", 6)},
		},
		{
			name: "origin that redirects to a URN", dns: first, change: urndtest.OpenLoopback,
			path: "/urn:origin:urn?s=I2R", status: 502, queries: 1, log: `which cannot be fetched`,
			metrics: []string{exchangeCount("fetch", "failed", 1)},
		},
		{
			name: "origin that redirects to a private address", dns: first, change: urndtest.OpenLoopback,
			path: "/urn:origin:private?s=I2R", status: 403, queries: 1, detail: "its address is private",
			log:     "10.0.0.1 is private",
			metrics: []string{exchangeCount("fetch", "found", 1), exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "origin that redirects to metadata", dns: first, change: urndtest.OpenLoopback,
			path: "/urn:origin:metadata?s=I2R", status: 403, queries: 1, detail: "its address is link-local",
			log:     "169.254.169.254 is link-local",
			metrics: []string{exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "origin that redirects to port 25", dns: first, change: urndtest.OpenLoopback,
			path: "/urn:origin:mail?s=I2R", status: 403, queries: 1, detail: "port 25 belongs to another service",
			log:     "port 25 belongs to another service",
			metrics: []string{exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "location at port 25", dns: first, path: "/urn:mail:1?s=I2R", status: 403,
			detail: "port 25 belongs to another service", log: "port 25 belongs to another service",
			metrics: []string{exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "location on loopback", dns: first, path: "/urn:origin:1?s=I2R", status: 403,
			detail: "its address is loopback", log: "127.0.0.1 is loopback",
			metrics: []string{exchangeCount("fetch", "forbidden", 1)},
		},
	})
}

// TestErrorsInSRV: an SRV record (RFC 2782) may name any host and port; the guard rejects unsafe ones.
func TestErrorsInSRV(t *testing.T) {
	t.Parallel()
	forbidden := exchangeCount("thttp", "forbidden", 1)
	runFailures(t, redirectToLocation, []failure{
		{
			name: "port 25", dns: thttpZone("25 sink.example.org."), status: 403,
			detail: "port 25 belongs to another service", log: "port 25 belongs to another service",
			metrics: []string{forbidden},
		},
		{
			name: "port 25, and another server", dns: thttpZone("25 sink.example.org.", "WEB host.example.org."),
			change: urndtest.OpenLoopback,
			status: 302, location: "https://a.example/", queries: 1,
			metrics: []string{forbidden, exchangeCount("thttp", "found", 1)},
		},
		{
			name: "loopback", dns: thttpZone("WEB host.example.org."), status: 403, detail: "its address is loopback",
			log: "127.0.0.1 is loopback", metrics: []string{forbidden},
		},
		{
			name: "loopback in IPv6", dns: thttpZone("WEB mapped.example.org."), status: 403,
			detail: "its address is loopback", log: "127.0.0.1 is loopback", metrics: []string{forbidden},
		},
		{
			name: "localhost", dns: thttpZone("WEB localhost."), status: 403, detail: "its address is loopback",
			log:     "is loopback",
			metrics: []string{forbidden},
		},
		{
			name: "this host", dns: thttpZone("WEB this.example.org."), status: 403,
			detail: "its address is this network", log: "0.0.0.0 is this network", metrics: []string{forbidden},
		},
		{ // an address is not a name: RFC 1123 section 2.1
			name: "an address", dns: thttpZone("WEB 127.0.0.1."), status: 404,
			detail:  "_thttp._tcp.urn.example.org. has no server",
			metrics: []string{`dns_queries_total{rcode="NOERROR",server="DNS1",type="SRV"} 1`},
		},
	})
}

// TestFailureOfURNsForEver: an origin redirects back to urnd with another URN each time.
func TestFailureOfURNsForEver(t *testing.T) {
	t.Parallel()
	own := urndtest.FreeAddress(t)
	relay := testserver.StartRelay(t, own).Addr() // urnd knows its own listeners
	var n atomic.Int32
	web := urndtest.ServeHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		to := relay
		if r.URL.Path == "/direct" {
			to = own
		}
		redirect(w, fmt.Sprintf("http://%s/urn:origin:%d?s=I2R", to, n.Add(1)))
	})
	d := urndtest.Start(t, thttpZone()(t, web)[0].Serve(t), func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Listen.Service = []string{own}
	})
	if got := d.Get(t, "/urn:origin:0?s=I2R"); got.Status != 502 {
		t.Errorf("got %+v", got)
	}
	// Detected by Via (RFC 9110 section 7.6.3): requests that have passed urnd end there.
	for _, line := range []string{
		`requests_total{code="508",form="none",service="I2L"} 1`,
		`requests_total{code="502",form="path",service="I2R"} 1`,
	} {
		testserver.Wait(t, "the metrics have "+line, func() bool { return isAdded("", d.Scrape(t), line) })
	}
	if got := d.Get(t, "/urn:origin:direct?s=I2R"); got.Status != 403 ||
		!strings.Contains(got.Body, "a listener of urnd itself") {
		t.Errorf("without a relay: %+v", got)
	}
	d.Stop()
	warned := warnings(t, d.Log())
	if len(warned) != 3 || warned[0].Status != 508 ||
		!strings.Contains(warned[0].Error, "the request has already passed through this proxy") ||
		warned[1].Status != 502 || warned[2].Status != 403 {
		t.Errorf("logged %+v", warned)
	}
}

// TestErrorOfSelfReference: an SRV record refers to urnd itself for the same name; it must not wait for itself.
func TestErrorOfSelfReference(t *testing.T) {
	t.Parallel()
	own := urndtest.FreeAddress(t)
	for _, tt := range []struct {
		name, server, message string
		status                int
	}{
		{"by a relay", testserver.StartRelay(t, own).Addr(), "response status 508 without a location for I2L", 502},
		{"as itself", own, "a listener of urnd itself", 403},
	} {
		_, port, _ := strings.Cut(tt.server, ":")
		d := urndtest.Start(t, thttpZone(port+" host.example.org.")(t,
			urndtest.ServeHTTP(t, redirectToLocation))[0].Serve(t), func(c *config.Config) {
			urndtest.OpenLoopback(c)
			c.Listen.Service = []string{own}
			c.THTTP.Timeout = time.Minute
		})
		if got := d.Get(t, "/urn:name:1"); got.Status != tt.status {
			t.Errorf("%s: got %+v", tt.name, got)
		}
		d.WaitForLog(t, tt.message)
		d.Stop()
	}
}
