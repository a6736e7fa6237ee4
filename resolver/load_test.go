package resolver_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

type clientKey struct{}

// A load sees these values of its first caller's context, and no other: data of a client must not change the
// result of other clients.
func TestValuesOfLoads(t *testing.T) {
	ctx, trace := resolver.WithTrace(t.Context(), time.Now)
	ctx = resolver.WithSpan(ctx, "00-own")
	for _, of := range []struct{ key, value any }{ // values of a client, and of net/http
		{clientKey{}, "Via"}, {http.ServerContextKey, &http.Server{}}, {http.LocalAddrContextKey, &net.TCPAddr{}},
	} {
		ctx = context.WithValue(ctx, of.key, of.value)
	}
	requested := query(t, "urn:example:a")
	requested.Client = netip.MustParseAddr("192.0.2.1")
	for _, fresh := range []bool{false, true} {
		if fresh {
			ctx = resolver.WithCacheBypass(ctx)
		}
		seen := ""
		next := resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
			seen = strings.TrimSpace(fmt.Sprintln(
				resolver.TraceOf(ctx) == trace, resolver.SpanOf(ctx), resolver.BypassesCache(ctx) == fresh, q.Client,
				ctx.Value(clientKey{}), ctx.Value(http.ServerContextKey), ctx.Value(http.LocalAddrContextKey),
			))
			return located("http://a/", time.Hour), nil
		})
		answers := newAnswers(t, time.Now, nil)
		_, _ = resolver.NewCached(answers.Cache, next, nil).Resolve(ctx, requested)
		answers.Close() // waits for the end of the load
		if want := "true 00-own true invalid IP <nil> <nil> <nil>"; seen != want {
			t.Errorf("fresh %t: the load saw %s, want %s", fresh, seen, want)
		}
	}
}

// A query with hops never waits for one with fewer hops, which may be waiting for it. A cached result of the
// latter answers it.
func TestHopsInKey(t *testing.T) {
	answers := newAnswers(t, time.Now, nil)
	var cached resolver.Resolver
	var seen []uint8
	cached = resolver.NewCached(answers.Cache,
		resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
			seen = append(seen, q.Hops)
			if q.Hops++; q.Hops == resolver.MaxHops {
				return located("http://a/", time.Hour), nil
			}
			return cached.Resolve(ctx, q) // as a chain of servers with a loop
		}), nil)
	q := query(t, "urn:example:a")
	if _, err := cached.Resolve(t.Context(), q); err != nil || !slices.Equal(seen, []uint8{0, 1, 2, 3}) {
		t.Fatalf("%v, %v", seen, err)
	}
	answers.Cache.Purge(q.Key()+" hops=3", false)
	q.Hops = 3
	if answer, err := cached.Resolve(t.Context(), q); err != nil || answer.Cache != resolver.CacheHit {
		t.Errorf("%s, %v", answer.Cache, err)
	}
	if got := resolver.NameOfKey(q.Key()); got != "urn:example:a" {
		t.Errorf("a purge of the name does not find %s: %q", q.Key(), got)
	}
}
