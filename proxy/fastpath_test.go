package proxy_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
)

// withAnswers gives a handler a cache of answers, as the daemon does.
func withAnswers(t testing.TB, c *proxy.Config, next resolver.Func) {
	t.Helper()
	store, err := memory.New(memory.Config[resolver.Locations]{MaxBytes: 1 << 20, Size: resolver.LocationsSize})
	if err != nil {
		t.Fatal(err)
	}
	answers := cache.New(cache.Config[resolver.Locations]{Store: store, Now: c.Now, LoadTimeout: time.Minute})
	t.Cleanup(func() { answers.Close(); store.Close() })
	c.Resolver = resolver.NewCanonical(c.Names, resolver.NewCached(answers, next, resolver.NewShares(100, 100, resolver.ErrBusy)))
	c.Ready = &resolver.Ready{Names: c.Names, Cache: answers}
}

// located answers with one location for a minute.
func located(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	if strings.HasSuffix(q.URI.String(), ":0") {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "none", TTL: time.Minute}
	}
	return resolver.Answer{
		Locations: []resolver.Location{{URI: "https://a.example/" + q.URI.String(), From: &resolver.Source{Name: "test"}}}, TTL: time.Minute,
	}, nil
}

// A client may ask for the trace of what is cached, too.
func TestFastPathLeavesTraces(t *testing.T) {
	s := start(t, func(c *proxy.Config) { withAnswers(t, c, located) })
	for _, name := range []string{"/urn:ietf:rfc:1", "urn:ietf:rfc:1", "/uri-res/N2L?urn:ietf:rfc:1", "/urn:ietf:rfc:0"} {
		s.get(t, name)
		response := s.get(t, name, "Accept: application/vnd.urnd.trace+json")
		if body := text(t, response); !strings.Contains(body, `"trace"`) {
			t.Errorf("%s: %d %s %s", name, response.StatusCode, response.Header.Get("Content-Type"), body)
		}
	}
}
