package memory

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
)

// location stands for resolver.Location, which this package does not import.
type location struct{ uri string }

func locationsSize(locations []location) int {
	size := 0
	for _, l := range locations {
		size += 24 + len(l.uri)
	}
	return size
}

// answers is a cache that is used as resolver.Cached uses it.
type answers struct {
	store *Store[[]location]
	cache *cache.Cache[[]location]
}

func openAnswers(tb testing.TB, maxBytes int64) *answers {
	tb.Helper()
	store, err := New(Config[[]location]{MaxBytes: maxBytes, Size: locationsSize})
	if err != nil {
		tb.Fatal(err)
	}
	c := cache.New(cache.Config[[]location]{Store: store, Now: time.Now})
	tb.Cleanup(func() { c.Close(); store.Close() })
	return &answers{store, c}
}

// ask requests a name, and reports whether it was a cache hit.
func (a *answers) ask(tb testing.TB, name string) (hit bool) {
	if _, ok, _ := a.cache.Hit(name); ok {
		return true
	}
	result, err := a.cache.Get(tb.Context(), name, loadLocation)
	if err != nil {
		tb.Fatal(err)
	}
	return result.Status == cache.Hit
}

// askAll requests n names of a kind, and returns the number of cache hits.
func (a *answers) askAll(tb testing.TB, kind string, n int) (hits int) {
	for i := range n {
		if a.ask(tb, nameOf(kind, i)) {
			hits++
		}
	}
	return hits
}

// stored returns the number of stored names of a kind.
func (a *answers) stored(kind string) (n int) {
	for _, key := range keysOf(a.store) {
		if key[:len("urn:example:k")] == "urn:example:"+kind {
			n++
		}
	}
	return n
}

func nameOf(kind string, i int) string { return fmt.Sprintf("urn:example:%s-%07d", kind, i) }

// Names requested only once do not displace names in use, even if those are not requested during the scan, or
// if the cache was full before. The capacity and the number of names are an eighth of those in ADR 18.
func TestScan(t *testing.T) {
	const maxBytes, names, inUse = 1 << 20, 59_000, 300
	for _, test := range []struct {
		name  string
		full  bool // before the names in use are requested
		every int  // scanned names between two rounds of the names in use
		least int
	}{
		{"untouched", false, 0, 250},
		{"touched", false, 5000, 250},
		// ristretto decides by access counts, and loses some accesses.
		{"full before", true, 0, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := openAnswers(t, maxBytes)
			if test.full {
				a.askAll(t, "f", names/4)
			}
			// ristretto drops some accesses, and so rejects some names at first.
			for round := 0; round < 5 || a.stored("u") < inUse && round < 100; round++ {
				a.askAll(t, "u", inUse)
			}
			for i := range names {
				a.ask(t, nameOf("s", i))
				if test.every > 0 && (i+1)%test.every == 0 {
					a.askAll(t, "u", inUse)
				}
			}
			remain := a.stored("u")
			t.Logf("%d of %d names in use remain after %d others", remain, inUse, names)
			if remain < test.least {
				t.Errorf("want %d", test.least)
			}
		})
	}
}

// BenchmarkZipf reports the hit ratio of 2,000,000 requests for 1,000,000 names, 5 % of which fit into the
// cache, after as many requests for other names. Run it once: -benchtime 1x.
func BenchmarkZipf(b *testing.B) {
	const names, warmUp, requests = 1_000_000, 1_000_000, 2_000_000
	for b.Loop() {
		a := openAnswers(b, names/20*409)
		zipf := rand.NewZipf(rand.New(rand.NewSource(1)), 1.01, 1, names-1)
		hits := 0
		for i := range warmUp + requests {
			if a.ask(b, nameOf("z", int(zipf.Uint64()))) && i >= warmUp {
				hits++
			}
		}
		b.ReportMetric(100*float64(hits)/requests, "%hits")
	}
}
