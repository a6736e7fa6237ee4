package main

import (
	"bytes"
	"net/http"
	"strconv"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
)

// registeredForms are names of a registry by their own URLs, as clients ask for them: a PURL, an item, and a name with all the levels that
// are registered of it.
func registeredForms() [][2]string {
	return [][2]string{
		{"plain", "purl.example /net/foo"},
		{"item", linkHost + " " + gtin},
		{"four-levels", linkHost + " " + gtin + "/22/V/10/L1/21/S1"},
	}
}

// newRegisteredClient returns a connection to a server with the names of registeredForms, whose request is one for a path of a host.
func newRegisteredClient(tb testing.TB, r siteRegistry, form string) *tcpClient {
	tb.Helper()
	c := config.Default()
	c.DDDS.Enabled = false
	c.Registry.Store, c.Registry.Hosts, c.Registry.DigitalLink = "sqlite:"+r.path, []string{"purl.example"}, digitalLinks()
	client := dialServer(tb, c)
	host, path, _ := bytes.Cut([]byte(form), []byte(" "))
	client.request = []byte("GET " + string(path) + " HTTP/1.1\r\nHost: " + string(host) + "\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n")
	for range 16 {
		if client.ask(tb); client.status() != http.StatusFound && client.status() != http.StatusTemporaryRedirect {
			tb.Fatalf("%q", client.response[:400])
		}
	}
	return client
}

// registeredNames registers what registeredForms asks for.
func registeredNames(tb testing.TB) siteRegistry {
	tb.Helper()
	r := newSiteRegistry(tb)
	r.put(tb, registry.Name("https://purl.example/net/foo"), linked("item https://a.example/foo"))
	for _, level := range []string{"", "/22/V", "/22/V/10/L1", "/21/S1"} {
		r.put(tb, registry.Name(linkRoot+gtin+level), linked("gs1:defaultLink https://a.example/foo"+level, "gs1:pip https://a.example/pip"+level,
			"gs1:instructions https://a.example/i"+level, "gs1:recallStatus https://a.example/r"+level))
	}
	return r
}

// askMany sends a request several times at once, and reads the responses: one wake-up of the server answers them all, so that what is measured
// is the work for a request, and not that for the connection.
func (c *tcpClient) askMany(tb testing.TB, requests []byte, n int) {
	tb.Helper()
	if _, err := c.Write(requests); err != nil {
		tb.Fatal(err)
	}
	for have := 0; n > 0; {
		more, err := c.Read(c.response[have:])
		if err != nil {
			tb.Fatal(err)
		}
		have += more
		at := 0
		for n > 0 {
			end := lengthOf(c.response[at:have])
			if end < 0 || at+end > have {
				break
			}
			at, n = at+end, n-1
		}
		have = copy(c.response, c.response[at:have])
	}
}

// A name is answered from the cache without an allocation, also one that is an identifier in a web address.
func TestRegisteredAllocations(t *testing.T) {
	r := registeredNames(t)
	for _, f := range registeredForms() {
		limit := 0.0
		if raceDetector { // a sync.Pool loses some of what it has, on purpose
			limit += 16
		}
		client := newRegisteredClient(t, r, f[1])
		if n := testing.AllocsPerRun(2000, func() { client.ask(t) }); n > limit {
			t.Errorf("%s: %v allocations, at most %v", f[0], n, limit)
		}
	}
}

// BenchmarkRegisteredRedirect is the time of a cached answer of the registry, of requests that come one at a time, and 32 at once.
func BenchmarkRegisteredRedirect(b *testing.B) {
	r := registeredNames(b)
	for _, f := range registeredForms() {
		for _, at := range []int{1, 32} {
			b.Run(f[0]+"/"+strconv.Itoa(at), func(b *testing.B) {
				client := newRegisteredClient(b, r, f[1])
				requests := bytes.Repeat(client.request, at)
				b.ReportAllocs()
				for b.Loop() {
					client.askMany(b, requests, at)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*at), "ns/request")
			})
		}
	}
}
