package main

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
)

// thttpRule leads to THTTP servers.
const thttpRule = `name.urn.example.org. 60 IN NAPTR 100 10 "s" "thttp+N2L" "" _thttp._tcp.urn.example.org.`

// openLoopback lets urnd ask what is on loopback.
func openLoopback(c *config.Config) {
	c.Access.AllowDestinations = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// thttpZone serves a zone with a namespace that has THTTP servers (RFC 2169), by these SRV
// records, with another one, "origin", whose names are at web, and with "mail".
func thttpZone(t *testing.T, web *webServer, srv ...string) []dnsServer {
	t.Helper()
	lines := []string{
		thttpRule, "host.example.org. 60 IN A 127.0.0.1",
		"sink.example.org. 60 IN A 192.175.48.1", // of AS112, RFC 7534; no packet gets there
		"mapped.example.org. 60 IN AAAA ::ffff:127.0.0.1", "this.example.org. 60 IN A 0.0.0.0",
		fmt.Sprintf(`origin.urn.example.org. 60 IN NAPTR 100 10 "u" "http+I2L" "!^urn:origin:(.*)$!http://%s/\\1!" .`, web.addr),
		`mail.urn.example.org. 60 IN NAPTR 100 10 "u" "http+I2L" "!^.*$!http://192.175.48.1:25/!" .`,
	}
	for i, s := range srv {
		lines = append(lines, fmt.Sprintf("_thttp._tcp.urn.example.org. 60 IN SRV %d 0 %s", i, s))
	}
	return []dnsServer{udpAndTCP(zone(t, lines...))}
}

// exchangeCount is the metric of exchanges through a gateway.
func exchangeCount(gateway, outcome string, n int) string {
	return fmt.Sprintf(`gateway_exchanges_total{gateway="%s",outcome="%s"} %d`, gateway, outcome, n)
}

func TestFaultsOfTHTTPServers(t *testing.T) {
	web := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		location := map[string]string{
			"/uri-res/N2L?urn:name:self": r.URL.String(), "/uri-res/N2L?urn:name:fragment": r.URL.String() + "#f",
			"/uri-res/N2L?urn:name:private": "http://10.0.0.1/", "/uri-res/N2L?urn:name:urn": "urn:name:another",
			"/self": "/self", "/urn": "urn:x1:y", "/private": "http://10.0.0.1/", "/metadata": "http://169.254.169.254/", "/mail": "http://192.175.48.1:25/",
		}[r.URL.String()]
		switch r.URL.RawQuery {
		case "urn:name:list":
			trickle(w, r)
		case "urn:name:header":
			trickleHeader(w, r)
		default:
			redirect(w, location)
		}
	})
	good := serveHTTP(t, redirectToLocation)
	first := thttpZone(t, web, web.port+" host.example.org.")
	second := thttpZone(t, web, web.port+" host.example.org.", good.port+" host.example.org.")
	within := func(timeout time.Duration) func(*config.Config) {
		return func(c *config.Config) { openLoopback(c); c.THTTP.Timeout = timeout }
	}
	base := "asking http://host.example.org:" + web.port + ": "
	runFaults(t, web, []fault{
		{
			name: "list that trickles", dns: first, change: within(100 * time.Millisecond), path: "/urn:name:list", status: 504, asked: 1,
			log: base + "context deadline exceeded: ", metrics: []string{exchangeCount("thttp", "timeout", 1)},
		},
		{
			name: "header that trickles", dns: first, change: within(100 * time.Millisecond), path: "/urn:name:header", status: 504, asked: 1,
			log: base + "context deadline exceeded: ", metrics: []string{exchangeCount("thttp", "timeout", 1)},
		},
		{
			name: "list that trickles, and another server", dns: second, change: within(500 * time.Millisecond), path: "/urn:name:list", status: 302,
			location: "https://a.example/", asked: 1,
			metrics: []string{exchangeCount("thttp", "timeout", 1), exchangeCount("thttp", "found", 1)},
		},
		{
			name: "redirect to itself", dns: first, change: openLoopback, path: "/urn:name:self", status: 502, asked: 1,
			log: base + "source unreachable: it redirects to itself", metrics: []string{exchangeCount("thttp", "failed", 1)},
		},
		{
			name: "redirect to a part of itself", dns: first, change: openLoopback, path: "/urn:name:fragment", status: 502, asked: 1,
			log: base + "source unreachable: it redirects to itself", metrics: []string{exchangeCount("thttp", "failed", 1)},
		},
		{ // it is asked once, and not for the other one
			name: "redirect to another URN", dns: first, change: openLoopback, path: "/urn:name:urn", status: 502, asked: 1,
			log: base + `source unreachable: its Location: `, metrics: []string{exchangeCount("thttp", "failed", 1)},
		},
		{ // which is the client's to follow
			name: "redirect to a private address", dns: first, change: openLoopback, path: "/urn:name:private", status: 302, location: "http://10.0.0.1/", asked: 1,
			metrics: []string{exchangeCount("thttp", "found", 1)},
		},
		{
			name: "location at a private address", dns: first, change: openLoopback, path: "/urn:name:private?s=I2R", status: 403, asked: 1,
			detail: "its address is private", log: "10.0.0.1 is private", metrics: []string{exchangeCount("thttp", "found", 1), exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "origin that redirects to itself", dns: first, change: openLoopback, path: "/urn:origin:self?s=I2R", status: 502, asked: 6,
			log: "the origin redirects more than 5 times", metrics: []string{exchangeCount("fetch", "found", 6)},
		},
		{
			name: "origin that redirects to a URN", dns: first, change: openLoopback, path: "/urn:origin:urn?s=I2R", status: 502, asked: 1,
			log: `which cannot be fetched`, metrics: []string{exchangeCount("fetch", "failed", 1)},
		},
		{
			name: "origin that redirects to a private address", dns: first, change: openLoopback, path: "/urn:origin:private?s=I2R", status: 403, asked: 1,
			detail: "its address is private", log: "10.0.0.1 is private", metrics: []string{exchangeCount("fetch", "found", 1), exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "origin that redirects to metadata", dns: first, change: openLoopback, path: "/urn:origin:metadata?s=I2R", status: 403, asked: 1,
			detail: "its address is link-local", log: "169.254.169.254 is link-local", metrics: []string{exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "origin that redirects to port 25", dns: first, change: openLoopback, path: "/urn:origin:mail?s=I2R", status: 403, asked: 1,
			detail: "port 25 is of another service", log: "port 25 is of another service", metrics: []string{exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "location at port 25", dns: first, path: "/urn:mail:1?s=I2R", status: 403,
			detail: "port 25 is of another service", log: "port 25 is of another service", metrics: []string{exchangeCount("fetch", "forbidden", 1)},
		},
		{
			name: "location on loopback", dns: first, path: "/urn:origin:1?s=I2R", status: 403,
			detail: "its address is loopback", log: "127.0.0.1 is loopback", metrics: []string{exchangeCount("fetch", "forbidden", 1)},
		},
	})
}

// An SRV record (RFC 2782) may name any host and port: the guard refuses unsafe ones.
func TestFaultsOfSRV(t *testing.T) {
	web := serveHTTP(t, redirectToLocation)
	forbidden := exchangeCount("thttp", "forbidden", 1)
	runFaults(t, web, []fault{
		{
			name: "port 25", dns: thttpZone(t, web, "25 sink.example.org."), status: 403, detail: "port 25 is of another service",
			log: "port 25 is of another service", metrics: []string{forbidden},
		},
		{
			name: "port 25, and another server", dns: thttpZone(t, web, "25 sink.example.org.", web.port+" host.example.org."), change: openLoopback,
			status: 302, location: "https://a.example/", asked: 1, metrics: []string{forbidden, exchangeCount("thttp", "found", 1)},
		},
		{
			name: "loopback", dns: thttpZone(t, web, web.port+" host.example.org."), status: 403, detail: "its address is loopback",
			log: "127.0.0.1 is loopback", metrics: []string{forbidden},
		},
		{
			name: "loopback in IPv6", dns: thttpZone(t, web, web.port+" mapped.example.org."), status: 403, detail: "its address is loopback",
			log: "127.0.0.1 is loopback", metrics: []string{forbidden},
		},
		{
			name: "localhost", dns: thttpZone(t, web, web.port+" localhost."), status: 403, detail: "its address is loopback", log: "is loopback",
			metrics: []string{forbidden},
		},
		{
			name: "this host", dns: thttpZone(t, web, web.port+" this.example.org."), status: 403, detail: "its address is this network",
			log: "0.0.0.0 is this network", metrics: []string{forbidden},
		},
		{ // no address is a name: RFC 1123 section 2.1
			name: "an address", dns: thttpZone(t, web, web.port+" 127.0.0.1."), status: 404, detail: "_thttp._tcp.urn.example.org. has no server",
			metrics: []string{`dns_queries_total{rcode="NOERROR",server="DNS1",type="SRV"} 1`},
		},
	})
}

// An origin sends us back to ourselves, with another URN each time.
func TestFaultOfURNsForEver(t *testing.T) {
	var d *testService
	var n atomic.Int32
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		redirect(w, fmt.Sprintf("%s/urn:origin:%d?s=I2R", d.url, n.Add(1)))
	})
	d = startService(t, thttpZone(t, web)[0].serve(t), func(c *config.Config) { openLoopback(c); c.DDDS.Roots = []string{"urn.example.org."} })
	if got := d.get(t, "/urn:origin:0?s=I2R"); got.status != 502 {
		t.Errorf("got %+v", got)
	}
	// Via tells it (RFC 9110 section 7.6.3): what has come through us ends there.
	d.expectMetrics(t, `requests_total{code="508",form="none",service="I2L"} 1`, `requests_total{code="502",form="path",service="I2R"} 1`)
	warned := d.warnings()
	if len(warned) != 2 || !strings.Contains(warned[0], "status=508") || !strings.Contains(warned[0], "the request has come through this proxy before") ||
		!strings.Contains(warned[1], "status=502") {
		t.Errorf("logged %q", warned)
	}
}

// An SRV record leads back to urnd itself, for the same name: it must not wait for
// itself.
func TestFaultOfItself(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	own := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(own)
	d := startService(t, thttpZone(t, serveHTTP(t, redirectToLocation), port+" host.example.org.")[0].serve(t), func(c *config.Config) {
		openLoopback(c)
		c.Listen.Service = []string{own}
		c.DDDS.Roots = []string{"urn.example.org."}
		c.THTTP.Timeout = time.Minute
	})
	if got := d.get(t, "/urn:name:1"); got.status != 502 || !strings.Contains(d.log.String(), "it answered 508") {
		t.Errorf("got %+v", got)
	}
}
