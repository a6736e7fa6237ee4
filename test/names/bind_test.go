//go:build e2e

package names

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
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

// startZones starts a server of the zones.
func startZones(t *testing.T, arpa, organisation string) *testserver.BIND {
	t.Helper()
	return testserver.StartBIND(t, testserver.Zone{Name: "urn.arpa", Text: arpa},
		testserver.Zone{Name: "urn.example.org", Text: organisation})
}

// startWithZones runs urnd with the server of the zones.
func startWithZones(t *testing.T, bind *testserver.BIND, change func(*config.Config)) *urndtest.Daemon {
	t.Helper()
	return urndtest.Start(t, bind.Addr(), func(c *config.Config) {
		c.DDDS.Roots = []string{"urn.example.org.", "urn.arpa."}
		if change != nil {
			change(c)
		}
	})
}

// queryCount returns the queries since the last Reset, without the query by which urnd checks whether the server
// responds.
func queryCount(bind *testserver.BIND) []string {
	return slices.DeleteFunc(bind.Queries(), func(question string) bool { return question == "urn.example.org NAPTR" })
}

// lifetime matches a lifetime of some seconds, or that of a record that is a few seconds old.
func lifetime(format string, seconds int) *regexp.Regexp {
	ages := make([]string, 0, 10)
	for age := range min(cap(ages), seconds) {
		ages = append(ages, strconv.Itoa(seconds-age))
	}
	return regexp.MustCompile("^" + fmt.Sprintf(format, "("+strings.Join(ages, "|")+")") + "$")
}

func TestResolveOverBIND(t *testing.T) {
	t.Parallel()
	bind := startZones(t, arpaZone, organisationZone)
	d := startWithZones(t, bind, func(c *config.Config) { c.DDDS.Refer = true })
	for _, tt := range []struct {
		name, path, location string
		age, status          int
		queries              []string
		again                string // another name of the zone
	}{
		{
			name: "terminal u rule in one step", path: "/urn:direct:a/B%2c", location: "https://direct.example/a/B%2C",
			age: 45, status: 302, queries: []string{"direct.urn.example.org NAPTR", "direct.urn.arpa NAPTR"},
			again: "/urn:direct:x",
		},
		{
			name: "non-terminal rule, then a terminal one", path: "/URN:Shared:Book",
			location: "https://org.example/Book", age: 45, status: 302,
			queries: []string{"shared.urn.example.org NAPTR", "shared.urn.arpa NAPTR", "rules.urn.example.org NAPTR"},
			again:   "/urn:shared:film",
		},
		{
			name: "own root, bad records are skipped", path: "/urn:own:1", location: "https://first.example/1", age: 70,
			status: 302, queries: []string{"own.urn.example.org NAPTR"}, again: "/urn:own:2",
		},
		{
			name: "terminal s rule", path: "/urn:served:1",
			location: "http://resolver.example.org:8080/uri-res/N2L?urn:served:1", age: 45, status: 302,
			queries: []string{
				"served.urn.example.org NAPTR", "served.urn.arpa NAPTR",
				"_thttp._tcp.urn.example.org SRV",
			}, again: "/urn:served:2",
		},
		{
			name: "no such namespace", path: "/urn:nobody:1", age: 45, status: 404,
			queries: []string{"nobody.urn.example.org NAPTR", "nobody.urn.arpa NAPTR"}, again: "/urn:nobody:2",
		},
		{name: "no rule for this name", path: "/urn:shared:1", age: 45, status: 404},
		{
			name: "rules in a circle", path: "/urn:loop:1", age: 300, status: 404,
			queries: []string{"loop.urn.example.org NAPTR", "loop.urn.arpa NAPTR"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bind.Reset()
			got := d.Get(t, tt.path)
			if got.Status != tt.status || got.Location != tt.location ||
				!lifetime("max-age=%s", tt.age).MatchString(got.CacheControl) ||
				!lifetime("urnd; fwd=uri-miss; stored; ttl=%s", tt.age).MatchString(got.CacheStatus) {
				t.Errorf("got %+v", got)
			}
			if queries := queryCount(bind); !slices.Equal(queries, tt.queries) {
				t.Errorf("asked %q, want %q", queries, tt.queries)
			}
			bind.Reset()
			again := d.Get(t, tt.path)
			if again.Status != got.Status || again.Location != got.Location ||
				!strings.HasPrefix(again.CacheStatus, "urnd; hit; ttl=") {
				t.Errorf("again: %+v", again)
			}
			if tt.again != "" && d.Get(t, tt.again).Status != tt.status {
				t.Errorf("another name of the zone: %+v", d.Get(t, tt.again))
			}
			if queries := queryCount(bind); len(queries) > 0 {
				t.Errorf("cached records were queried again: %q", queries)
			}
		})
	}
}

// TestManyAskForOneName checks that concurrent requests for an uncached name share one chain of DNS queries.
func TestManyAskForOneName(t *testing.T) {
	t.Parallel()
	bind := startZones(t, arpaZone, organisationZone)
	d := startWithZones(t, bind, nil)
	const clients = 1000
	client := &http.Client{
		Transport:     &http.Transport{MaxConnsPerHost: 100},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	var answered sync.WaitGroup
	failures := make(chan string, clients)
	for range clients {
		answered.Go(func() {
			response, err := client.Get(d.URL + "/urn:shared:crowd")
			if err != nil {
				failures <- err.Error()
				return
			}
			_ = response.Body.Close()
			if location := response.Header.Get("Location"); response.StatusCode != http.StatusFound ||
				location != "https://org.example/crowd" {
				failures <- response.Status + " " + location
			}
		})
	}
	answered.Wait()
	close(failures)
	for failure := range failures {
		t.Error(failure)
	}
	if got, want := queryCount(bind), []string{
		"shared.urn.example.org NAPTR", "shared.urn.arpa NAPTR",
		"rules.urn.example.org NAPTR",
	}; !slices.Equal(got, want) {
		t.Errorf("asked %q", got)
	}
}

func TestNegativeAnswerExpires(t *testing.T) {
	t.Parallel()
	bind := startZones(t, arpaZone, strings.Replace(organisationZone, " 86400 45", " 86400 1", 1))
	d := startWithZones(t, bind, nil)
	first := d.Get(t, "/urn:nobody:1")
	if !strings.Contains(first.Body, "nobody.urn.arpa. does not exist (NXDOMAIN)") ||
		!strings.Contains(first.Body, "no rules for namespace") {
		t.Errorf("the reason does not name what was tried: %s", first.Body)
	}
	bind.Reset()
	var got []string
	// After the TTL of one zone, a second, but before that of the other, 60.
	testserver.Wait(t, "the name is asked for again", func() bool {
		d.Get(t, "/urn:nobody:1")
		got = queryCount(bind)
		return len(got) > 0
	})
	if want := []string{"nobody.urn.example.org NAPTR"}; !slices.Equal(slices.Compact(got), want) {
		t.Errorf("asked %q, want %q", got, want)
	}
}

func TestStaleWhileDNSIsDown(t *testing.T) {
	t.Parallel()
	bind := startZones(t, arpaZone, strings.ReplaceAll(organisationZone, "\nown   70 ", "\nown   1 "))
	d := startWithZones(t, bind, nil)
	want := d.Get(t, "/urn:own:1")
	bind.Stop()
	// Stale records are served for 30 seconds (RFC 8767 section 4), for this name and for another one.
	var got urndtest.Response
	testserver.Wait(t, "the record is stale", func() bool {
		got = d.Get(t, "/urn:own:1")
		return lifetime("max-age=%s", 30).MatchString(got.CacheControl)
	})
	if got.Status != 302 || got.Location != want.Location {
		t.Errorf("stale: %+v", got)
	}
	if got := d.Get(t, "/urn:own:2"); got.Status != 302 || got.Location != "https://first.example/2" {
		t.Errorf("by stale records: %+v", got)
	}
	if got := d.Get(t, "/urn:other:1"); got.Status != 502 {
		t.Errorf("nothing held: %+v", got)
	}
}

// TestSilentDNS checks that a DNS server that does not respond is a timeout: 504, not 502.
func TestSilentDNS(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	d := urndtest.Start(t, silent.LocalAddr().String(),
		func(c *config.Config) { c.DNS.Timeout = 50 * time.Millisecond })
	if got := d.Get(t, "/urn:direct:1"); got.Status != 504 {
		t.Errorf("%+v", got)
	}
	// Built-in rules need no DNS.
	if got := d.Get(t, "/urn:ietf:rfc:2648"); got.Status != 302 {
		t.Errorf("%+v", got)
	}
}

// TestWiring checks that settings for clients and limits are passed to the components.
func TestWiring(t *testing.T) {
	t.Parallel()
	d := urndtest.Start(t, "127.0.0.1:1", func(c *config.Config) {
		c.DDDS.Enabled = false
		c.Access.ProxyClients = nil
		c.Limits.Target = 300
		c.Namespaces = []config.Namespace{
			{NID: "ISBN", Targets: []config.Target{{Template: "https://own.example/{+nss}"}}},
			{
				NID: "example", Fold: "lower", Strip: "-", Order: []string{"namespace"},
				Targets: []config.Target{{Template: "https://example.org/{+nss}"}},
			},
		}
	})
	for path, want := range map[string]urndtest.Response{
		"/http://a.example/":                       {Status: 403},
		"/urn:example:" + strings.Repeat("a", 300): {Status: 414},
		"/urn:isbn:0-395-36341-1":                  {Status: 302, Location: "https://own.example/0395363411"},
		"/urn:isbn:0-395-36341-2":                  {Status: 400},
		"/urn:example:A-%2fB":                      {Status: 302, Location: "https://example.org/a%2Fb"},
		"/urn:example:a?s=I2C":                     {Status: 200},
		"/urn:example:a?s=I2R":                     {Status: 403},
	} {
		if got := d.Get(t, path); got.Status != want.Status || got.Location != want.Location {
			t.Errorf("%.40s: %+v", path, got)
		}
	}
}

func TestWithoutDNS(t *testing.T) {
	t.Parallel()
	d := urndtest.Start(t, "127.0.0.1:1", func(c *config.Config) { c.DDDS.Enabled = false })
	got := d.Get(t, "/urn:nobody:1")
	if got.Status != 404 || !strings.Contains(got.Body,
		"ddds: disabled (ddds.enabled); namespace: no rules for namespace") {
		t.Errorf("%+v", got)
	}
}
