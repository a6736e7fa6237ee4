package resolver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/resolver"
)

// A fresh query queries the next resolver and replaces the entry; an explanation queries it without replacing
// the entry.
func TestFreshAndExplained(t *testing.T) {
	store, err := memory.New(memory.Config[resolver.Locations]{MaxBytes: 1 << 20, Size: resolver.LocationsSize})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	answers := cache.New(cache.Config[resolver.Locations]{Store: store, Now: time.Now})
	t.Cleanup(answers.Close)
	location := "http://a.example/"
	cached := resolver.NewCached(answers,
		resolver.Func(func(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
			resolver.TraceOf(ctx).Add(resolver.Step{Stage: "next"}, "asked for %s", location)
			return resolver.Answer{
				Locations: resolver.Locations{{URI: location, From: &resolver.Source{}}},
				TTL:       time.Hour,
			}, nil
		}), nil)
	q := query(t, "urn:example:a")
	expect := func(ctx context.Context, want string, state resolver.CacheState) {
		t.Helper()
		answer, err := cached.Resolve(ctx, q)
		if err != nil || answer.Locations[0].URI != want || answer.Cache != state {
			t.Errorf("%v, %s, %v; want %s, %s", answer.Locations, answer.Cache, err, want, state)
		}
	}
	expect(t.Context(), "http://a.example/", resolver.CacheMiss)
	location = "http://b.example/"
	expect(t.Context(), "http://a.example/", resolver.CacheHit)
	ctx, trace := resolver.WithTrace(t.Context(), time.Now)
	expect(ctx, "http://a.example/", resolver.CacheHit)
	if steps := trace.Steps(); len(steps) != 1 {
		t.Errorf("a trace that is not an explanation: %v", steps)
	}
	trace.Explain()
	expect(ctx, "http://a.example/", resolver.CacheHit)
	var text strings.Builder
	for _, step := range trace.Steps() {
		text.WriteString(step.Stage + " " + step.Detail + "\n")
	}
	if !strings.Contains(text.String(), "next asked for http://b.example/") {
		t.Errorf("explained: %s", text.String())
	}
	expect(resolver.WithCacheBypass(t.Context()), "http://b.example/", resolver.CacheMiss)
	expect(t.Context(), "http://b.example/", resolver.CacheHit)
}
