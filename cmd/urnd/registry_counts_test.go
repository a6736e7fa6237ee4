package main

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/resolver/registry"
)

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// redirectOf returns a function that serves a cached redirect of the registry, without a network.
func redirectOf(tb testing.TB, in siteRegistry, count bool) func() {
	tb.Helper()
	c := config.Default()
	c.Registry.Store, c.Registry.Count, c.DDDS.Enabled = "sqlite:"+in.path, count, false
	p, err := wireAll(c, newDependencies())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.close)
	p.openRegistry(tb.Context(), tb.Output())
	r, w := localRequest("/urn:example:a", "User-Agent", browser), new(discardWriter)
	redirect := func() { w.answerTo(p.service, r) }
	redirect()
	got, cached := proxytest.Record(p.service, r)
	if location, status := got.Fields.Get("Location"), got.Fields.Get("Cache-Status"); !cached ||
		location != "https://example.org/a" || !strings.HasPrefix(status, "urnd; hit") {
		tb.Fatalf("the redirect leads to %q: %q", location, status)
	}
	return redirect
}

// Counting does not allocate for a cached redirect.
func TestCountingIsFree(t *testing.T) {
	r := newSiteRegistry(t)
	r.put(t, registry.Name("urn:example:a"), registry.Record{Targets: targets("https://example.org/a")})
	without := leastAllocations(redirectOf(t, r, false))
	if with := leastAllocations(redirectOf(t, r, true)); with > without {
		t.Errorf("a redirect makes %v allocations where it is counted, %v where it is not", with, without)
	}
}

// leastAllocations returns the minimum number of allocations of a function: with the race detector a
// sync.Pool randomly drops some items.
func leastAllocations(f func()) float64 {
	least := testing.AllocsPerRun(10, f)
	for range 20 {
		least = min(least, testing.AllocsPerRun(10, f))
	}
	return least
}
