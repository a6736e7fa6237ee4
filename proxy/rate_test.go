package proxy_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// stopwatch is a clock that a test sets.
type stopwatch struct{ nanoseconds atomic.Int64 }

func (c *stopwatch) now() time.Time      { return time.Unix(1_800_000_000, c.nanoseconds.Load()) }
func (c *stopwatch) set(d time.Duration) { c.nanoseconds.Store(int64(d)) }

// limited returns a Handler for all clients with a limit of requests per second.
func limited(perSecond int, clock *stopwatch) *proxy.Handler {
	all := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	set, _ := urnns.NewSet() // nothing can be wrong with no rows
	return proxy.New(proxy.Config{
		Names: resolver.Names{Set: set, Accept: uri.CurrentURN},
		Resolver: resolver.Func(func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{Locations: []resolver.Location{{URI: "http://a.example/", From: &resolver.Source{}}}}, nil
		}),
		Fetch: scheme.Mux{}, Log: slog.New(slog.DiscardHandler), Now: clock.now, MaxTarget: 1024,
		Forward: forward.Config{
			Cache:   httpcache.New(httpcache.Config{Now: clock.now, Same: func(string, string) (string, bool) { return "", false }}),
			Fetches: resolver.Quota{Slots: make(resolver.Slots, 100)},
		},
		Access: gate.Access{Resolve: all, Proxy: all, Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Rate: perSecond},
	})
}

func request(h http.Handler, peer, target string, fields ...string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
	r.RequestURI, r.RemoteAddr = target, peer
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Add(name, value)
	}
	h.ServeHTTP(w, r)
	return w
}

func TestRate(t *testing.T) {
	clock := new(stopwatch)
	h := limited(2, clock)
	for i, tt := range []struct {
		at           time.Duration
		peer, behind string
		status       int
	}{
		{0, "203.0.113.1:1", "", 302},
		{0, "203.0.113.1:2", "", 302},
		{0, "203.0.113.1:3", "", 429},
		{0, "[::ffff:203.0.113.1]:1", "", 429},
		{0, "203.0.113.2:1", "", 302},
		{0, "10.0.0.1:1", "203.0.113.1", 429},
		{0, "10.0.0.1:1", "203.0.113.3", 302},
		{0, "10.0.0.1:1", "203.0.113.3", 302},
		{0, "10.0.0.1:1", "203.0.113.3", 429},
		{0, "10.0.0.1:1", "203.0.113.4", 302},
		{0, "203.0.113.5:1", "203.0.113.6", 302},
		{0, "203.0.113.5:1", "203.0.113.7", 302},
		{0, "203.0.113.5:1", "203.0.113.8", 429}, // it names a client more each time
		{0, "[2001:db8::1]:1", "", 302},
		{0, "[2001:db8::ffff:2]:1", "", 302},
		{0, "[2001:db8::3]:1", "", 429}, // a network of 64 bits is one client
		{0, "[2001:db8:0:1::1]:1", "", 302},
		{0, "@", "", 302}, // it comes from this machine
		{0, "@", "", 302},
		{0, "127.0.0.1:1", "", 429},
		{499 * time.Millisecond, "203.0.113.1:1", "", 429},
		{500 * time.Millisecond, "203.0.113.1:1", "", 302},
		{500 * time.Millisecond, "203.0.113.1:1", "", 429},
		{time.Hour, "203.0.113.1:1", "", 302},
		{time.Hour, "203.0.113.1:1", "", 302},
		{time.Hour, "203.0.113.1:1", "", 429}, // nothing is saved up
		{0, "203.0.113.1:1", "", 429},         // nor by a clock that is set back
	} {
		var fields []string
		if tt.behind != "" {
			fields = append(fields, "X-Forwarded-For: "+tt.behind)
		}
		clock.set(tt.at)
		w := request(h, tt.peer, "/urn:example:a", fields...)
		if w.Code != tt.status {
			t.Errorf("%d. %s for %s after %s: %d", i, tt.peer, tt.behind, tt.at, w.Code)
		}
		if tt.status == 429 && (w.Header().Get("Retry-After") != "1" || w.Header().Get("Cache-Control") != "no-store" || !strings.Contains(w.Body.String(),
			"limits.rate")) {
			t.Errorf("%d. %v %s", i, w.Header(), w.Body)
		}
	}
}

// Requests of all forms count, and are refused.
func TestRateOfAllForms(t *testing.T) {
	for _, target := range []string{"/", "/urn:example:a", "/nothing", "http://a.example/", "/uri-res/N2R?urn:example:a", "/api/v1/resolve", "urn:a"} {
		h := limited(1, new(stopwatch))
		if w := request(h, "203.0.113.1:1", target); w.Code == 429 {
			t.Errorf("%s: %d", target, w.Code)
		}
		if w := request(h, "203.0.113.1:1", target); w.Code != 429 {
			t.Errorf("%s once more: %d", target, w.Code)
		}
	}
	h := limited(0, new(stopwatch))
	for range 1000 {
		if w := request(h, "203.0.113.1:1", "/urn:example:a"); w.Code != 302 {
			t.Fatalf("without a bound: %d", w.Code)
		}
	}
}
