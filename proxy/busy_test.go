package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
)

// Where as much is under way as may be, what needs a slot is shed, and only that.
func TestBusy(t *testing.T) {
	slots := make(resolver.Slots, 1)
	s := start(t, func(c *proxy.Config) {
		c.Slots = slots
		known := c.Resolver
		limited := resolver.Limit{Slots: slots, Next: known}
		c.Resolver = resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
			if strings.Contains(q.URI.String(), "known") {
				return known.Resolve(ctx, q)
			}
			return limited.Resolve(ctx, q)
		})
	})
	forward := "http://" + origin(t) + "/"
	for _, tt := range []struct {
		target     string
		idle, busy int
	}{
		{"/urn:example:known", 302, 302},
		{"/", 200, 200},
		{"/http://a.example/known", 302, 302},
		{"/urn:example:a", 302, 503},
		{"/uri-res/N2L?urn:example:a", 303, 503},
		{"/api/v1/resolve?uri=urn:example:a", 200, 503},
		{"/uri-res/N2R?urn:example:known", http.StatusNotImplemented, 503}, // its location is of https
		{"/uri-res/N2Rs?urn:example:known", http.StatusNotImplemented, 503},
		{forward, http.StatusTeapot, 503},
	} {
		if got := s.get(t, tt.target).StatusCode; got != tt.idle {
			t.Errorf("%s: %d", tt.target, got)
		}
		if !slots.Take() {
			t.Fatalf("%s keeps its slot", tt.target)
		}
		response := s.get(t, tt.target)
		if body := text(t, response); response.StatusCode != tt.busy ||
			tt.busy == 503 && (response.Header.Get("Retry-After") != "1" || response.Header.Get("Cache-Control") != "no-store" || !strings.Contains(body, "limits.requests")) {
			t.Errorf("%s while busy: %d %v %s", tt.target, response.StatusCode, response.Header, body)
		}
		slots.Leave()
	}
}

// What is fetched for a name is one request: it must not wait for a slot that it holds
// itself.
func TestARequestTakesOneSlot(t *testing.T) {
	slots := make(resolver.Slots, 1)
	s := start(t, func(c *proxy.Config) {
		c.Slots, c.Resolver = slots, resolver.Limit{Slots: slots, Next: c.Resolver}
	})
	s.next = several("http://" + origin(t) + "/") // it answers with 418, which is no resource
	for _, target := range []string{"/uri-res/N2R?urn:example:a", "/uri-res/N2Rs?urn:example:a"} {
		if response := s.get(t, target); response.StatusCode != http.StatusBadGateway {
			t.Errorf("%s: %d %s", target, response.StatusCode, text(t, response))
		}
	}
}
