package main

import (
	"bytes"
	"net/http"
	"strconv"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
)

// registeredForms returns names of a registry as requested by their own URLs: a PURL, an item, and a name
// with all its registered levels.
func registeredForms() [][2]string {
	return [][2]string{
		{"plain", "purl.example /net/foo"},
		{"item", linkHost + " " + gtin},
		{"four-levels", linkHost + " " + gtin + "/22/V/10/L1/21/S1"},
	}
}

// newRegisteredClient returns a connection to a server with the names of registeredForms, with a request for
// a path of a host.
func newRegisteredClient(tb testing.TB, r siteRegistry, form string) *tcpClient {
	tb.Helper()
	c := config.Default()
	c.DDDS.Enabled = false
	c.Registry.Store, c.Registry.Hosts, c.Registry.DigitalLink = "sqlite:"+r.path, []string{"purl.example"},
		digitalLinks()
	client := dialServer(tb, c)
	host, path, _ := bytes.Cut([]byte(form), []byte(" "))
	client.request = []byte("GET " + string(path) + " HTTP/1.1\r\nHost: " + string(host) +
		"\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n")
	for range 16 {
		if client.exchange(tb); client.status() != http.StatusFound && client.status() != http.StatusTemporaryRedirect {
			tb.Fatalf("%q", client.response[:400])
		}
	}
	return client
}

// registeredNames registers the names of registeredForms.
func registeredNames(tb testing.TB) siteRegistry {
	tb.Helper()
	r := newSiteRegistry(tb)
	r.put(tb, registry.Name("https://purl.example/net/foo"), linked("item https://a.example/foo"))
	for _, level := range []string{"", "/22/V", "/22/V/10/L1", "/21/S1"} {
		r.put(tb, registry.Name(linkRoot+gtin+level),
			linked("gs1:defaultLink https://a.example/foo"+level, "gs1:pip https://a.example/pip"+level,
				"gs1:instructions https://a.example/i"+level, "gs1:recallStatus https://a.example/r"+level))
	}
	return r
}

// exchangeMany pipelines a request several times, and reads the responses. A single wake-up of the server serves
// all of them, so that the work per request is measured, without that of the connection.
func (c *tcpClient) exchangeMany(tb testing.TB, requests []byte, n int) {
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

// A cached name does not allocate, even if it is an identifier in a web address.
func TestRegisteredAllocations(t *testing.T) {
	r := registeredNames(t)
	for _, f := range registeredForms() {
		limit := 0.0
		if raceDetector { // a sync.Pool drops some items on purpose
			limit += 16
		}
		client := newRegisteredClient(t, r, f[1])
		if n := testing.AllocsPerRun(2000, func() { client.exchange(t) }); n > limit {
			t.Errorf("%s: %v allocations, at most %v", f[0], n, limit)
		}
	}
}

// BenchmarkRegisteredRedirect measures cached answers of the registry, for single requests, and for 32
// pipelined ones.
func BenchmarkRegisteredRedirect(b *testing.B) {
	r := registeredNames(b)
	for _, f := range registeredForms() {
		for _, at := range []int{1, 32} {
			b.Run(f[0]+"/"+strconv.Itoa(at), func(b *testing.B) {
				client := newRegisteredClient(b, r, f[1])
				requests := bytes.Repeat(client.request, at)
				b.ReportAllocs()
				for b.Loop() {
					client.exchangeMany(b, requests, at)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*at), "ns/request")
			})
		}
	}
}
