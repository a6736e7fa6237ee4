package proxy_test

import (
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/proxytest"
)

// kind is a request of one kind: see package route.
type kind struct {
	method, target string
	fields         []string
	body           string
}

// request returns a new request of the kind.
func (k kind) request() *httpmessage.Incoming {
	in := request(k.method, k.target, k.fields...)
	if k.body != "" {
		proxytest.WithBody(in, k.body)
	}
	return in
}

// kinds are requests of all kinds, valid and malformed.
func kinds() []kind {
	kinds := []kind{
		{
			method: "POST", target: "/api/v1/resolve?service=I2L", fields: []string{"Content-Type", "text/plain"},
			body: "urn:example:one\nurn:example:none\n",
		},
		{
			method: "POST", target: "http://a.example/echo",
			fields: []string{"X-Field", "value", "Content-Type", "text/plain"}, body: "content",
		},
		{method: "PUT", target: "/echo", fields: []string{"Host", "www.example", "X-Field", "value"}, body: "content"},
		{method: "CONNECT", target: "a.example:443"},
		{method: "CONNECT", target: "a.example:0"},
		{method: "OPTIONS", target: "*"},
		{
			method: "OPTIONS", target: "/urn:example:one",
			fields: []string{"Origin", "https://b.example", "Access-Control-Request-Method", "GET"},
		},
		{method: "OPTIONS", target: "/01/09506000134352", fields: []string{"Host", "id.example"}},
		{method: "PURGE", target: "http://a.example/modified"},
		{method: "BREW", target: "/urn:example:one"},
		{method: "TRACE", target: "http://a.example/echo", fields: []string{"Max-Forwards", "0"}},
		{method: "HEAD", target: "/urn:example:one"},
		{method: "HEAD", target: "http://a.example/page"},
		{method: "GET", target: "http://a.example/page", fields: []string{"If-None-Match", `"v1"`}},
		{method: "GET", target: "http://a.example/page", fields: []string{"Range", "bytes=2-3"}},
		{
			method: "GET", target: "http://a.example/vary",
			fields: []string{"Accept-Language", "de", "Accept-Encoding", "gzip"},
		},
		{
			method: "GET", target: "http://a.example/echo",
			fields: []string{
				"Authorization", "Basic eDp5", "Traceparent",
				"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			},
		},
		{
			method: "GET", target: "http://a.example/echo?a=b",
			fields: []string{"X-Forwarded-For", "192.0.2.1", "Via", "1.1 front", "Connection", "X-Hop", "X-Hop", "1"},
		},
		{method: "GET", target: "http://a.example/echo", fields: []string{"Urnd-Hops", "2"}},
		{method: "GET", target: "http://a.example/echo", fields: []string{"Urnd-Hops", "x"}},
		{method: "GET", target: "http://a.example/fails"},
		{method: "GET", target: "http://a.example/x y"},
		{method: "GET", target: "/page", fields: []string{"Host", "www.example"}},
		{
			method: "GET", target: "/echo",
			fields: []string{"Host", "www.example", "Referer", "http://www.example/x", "User-Agent", "agent"},
		},
		{
			method: "GET", target: "/01/09506000134352",
			fields: []string{"Host", "id.example", "Accept", "application/linkset+json"},
		},
		{method: "GET", target: "/01/09506000134352/21/none", fields: []string{"Host", "id.example"}},
		{method: "GET", target: "/moved?x=y", fields: []string{"Host", "purl.example"}},
		{
			method: "GET", target: "/fetch?uri=http://a.example/echo",
			fields: []string{"Accept", "text/html", "Referer", "http://a/"},
		},
		{
			method: "GET", target: "/fetch?uri=javascript:x",
			fields: []string{"Accept", "text/html", "Accept-Language", "fr"},
		},
		{method: "GET", target: "/uri-res/N2R?urn:example:one"},
		{method: "GET", target: "/uri-res/N2Rs?urn:example:two"},
		{method: "GET", target: "/uri-res/N2C?urn:example:record", fields: []string{"Accept", "application/ld+json"}},
		{method: "GET", target: "/uri-res/N2Ls?urn:example:two"},
		{method: "GET", target: "/uri-res/N2X?urn:example:two"},
		{method: "GET", target: "/uri-res/I=I?urn:example:one%20urn:example:two"},
		{method: "GET", target: "/api/v1/resolve?uri=urn:example:one"},
		{method: "GET", target: "/api/v1/explain?uri=urn:isbn:0395363412"},
		{method: "GET", target: "/api/v1/nothing"},
		{method: "GET", target: "/namespaces", fields: []string{"Accept", "text/html", "Accept-Language", "de"}},
		{method: "GET", target: "/robots.txt"},
		{
			method: "GET",
			target: "/names?prefix=urn:example:&q=words&host=a.example&tag=x&status=live&after=urn:example:one",
			fields: []string{"Accept", "text/html"},
		},
		{method: "GET", target: "/namespaces?q=book&after=isbn", fields: []string{"Accept", "text/html"}},
		{method: "GET", target: "/namespaces/isbn", fields: []string{"Accept", "text/html"}},
		{method: "GET", target: "/docs/api", fields: []string{"Accept", "text/html"}},
		{method: "GET", target: "/sitemap/1.xml"},
		{method: "GET", target: "/timemap/link/urn:example:one"},
		{
			method: "GET", target: "/timegate/urn:example:one",
			fields: []string{"Accept-Datetime", "Fri, 31 Dec 1999 00:00:00 GMT"},
		},
		{method: "GET", target: "/memento/20200101000000/urn:example:one"},
		{method: "GET", target: "/api/handles/10.1000/182?type=URL&index=1"},
		{method: "GET", target: "/?uri=a%20b&lang=de", fields: []string{"Accept", "text/html"}},
		{method: "GET", target: "/", fields: []string{"Accept", "text/html"}},
		{method: "GET", target: "/nothing", fields: []string{"Accept", "text/html", "Accept-Language", "de"}},
		{method: "GET", target: "/ark:12345/x-1?info"},
		{method: "GET", target: "/http://b.example/?a=b"},
		{method: "GET", target: "/mailto:A@Example.org"},
		{method: "GET", target: "/gopher://h.example/1a%09b"},
		{method: "GET", target: "ftp://a.example/x"},
		{method: "GET", target: "a"},
		{method: "GET", target: "http://[::1"},
	}
	for _, name := range []string{
		"one", "one?=q", "one?=q#f", "none", "none?=q", "gone", "withdrawn", "record", "two", "typed", "fails", "stale",
		"once", "javascript", "a%zz", "<script>", "absent",
	} {
		kinds = append(kinds,
			kind{method: "GET", target: "/urn:example:" + name},
			kind{
				method: "GET", target: "/?uri=urn:example:" + name,
				fields: []string{"Accept", "text/html;q=0.9, */*;q=0.1", "Accept-Language", "de"},
			},
		)
	}
	return kinds
}

// withAll sets all options that add to a response, or retain data after the request.
func withAll(c *proxy.Config) {
	c.SendRequestID, c.Tags, c.CORS = true, message.SurrogateKey, []string{"https://b.example"}
}

// A server reuses the buffer of a request after Begin: neither the response of Continue, nor stored or
// observed data, may refer to it.
func TestRequestsAreOverwritten(t *testing.T) { overwrite(t, withAll, kinds()) }

// The same holds for the fields in which a trusted proxy describes its client.
func TestFrontedRequestsAreOverwritten(t *testing.T) {
	fields := []string{
		"Host", "www.example", "X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https",
		"X-Request-Id", "of-the-front",
	}
	var fronted []kind
	for _, target := range []string{"/page", "/echo", "/fails", "/absent"} {
		fronted = append(fronted, kind{method: "GET", target: target, fields: fields},
			kind{method: "GET", target: target, fields: fields[:6]})
	}
	overwrite(t, func(c *proxy.Config) { withAll(c); trusting(c) }, fronted)
}

// overwrite handles requests whose buffer is overwritten after Begin.
func overwrite(t *testing.T, change func(*proxy.Config), kinds []kind) {
	t.Helper()
	for _, k := range kinds {
		w, calm := newWorld(t, change), newWorld(t, change)
		for round := range 3 { // the second and the third are cache hits, if cacheable
			want, _ := calm.ask(k.request())
			in, got := k.request(), new(proxytest.Recorder)
			overwrite := proxytest.Overlay(in)
			rest := w.Begin(in, got)
			overwrite()
			if rest != nil {
				rest.Continue()
			}
			if shown(got) != shown(want) {
				t.Errorf("%s %s, round %d, by Begin %t:\n%.600s\nwant\n%.600s", k.method, k.target, round, rest == nil,
					shown(got), shown(want))
			}
			e, usual := w.event(t), calm.event(t)
			if id := got.Fields.Get("X-Request-Id"); id != e.ID ||
				id != want.Fields.Get("X-Request-Id") && in.Fields.Has("X-Request-Id") {
				t.Errorf("%s %s, round %d: %q is sent, and %q observed", k.method, k.target, round, id, e.ID)
			}
			if e.Method != usual.Method || e.Target != usual.Target || e.Host != usual.Host ||
				e.Status != usual.Status || e.Form != usual.Form || e.Scheme != usual.Scheme || e.Cache != usual.Cache {
				t.Errorf("%s %s, round %d: %+v, want %+v", k.method, k.target, round, e, usual)
			}
		}
	}
}

// Exchanges are pooled: no state of one is visible to the next, whichever that is.
func TestExchangesForget(t *testing.T) {
	w := newWorld(t, withAll)
	all := kinds()
	want := make([]string, len(all))
	for range 2 { // until the caches are filled
		for i, k := range all {
			got, _ := proxytest.Record(proxy.New(w.config), k.request()) // with an empty pool
			want[i] = shown(got)
		}
	}
	changing := make(map[int]bool) // responses that change on repetition, such as after a purge
	for i, k := range all {
		got, _ := proxytest.Record(proxy.New(w.config), k.request())
		changing[i] = shown(got) != want[i]
	}
	for step := 1; step < len(all); step += 2 { // each after many others
		for n := range all {
			i := (n * step) % len(all)
			got, _ := w.ask(all[i].request())
			if shown(got) != want[i] && !changing[i] {
				t.Errorf("%s %s, step %d:\n%.600s\nwant\n%.600s", all[i].method, all[i].target, step, shown(got),
					want[i])
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}
