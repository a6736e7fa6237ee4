package resolver_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
)

// The accounted size of cached answers is about the growth of the heap.
func TestMemoryOfAnswers(t *testing.T) {
	shared := &resolver.Source{Name: "namespace ietf"}
	locations := func(n int, source func() *resolver.Source) func(i int) (resolver.Locations, error) {
		return func(i int) (resolver.Locations, error) {
			all := make(resolver.Locations, 0, n)
			for j := range n {
				all = append(all, resolver.Location{
					URI:  fmt.Sprintf("https://www.example.org/info/%d/%d", i, j),
					From: source(),
				})
			}
			return all, nil
		}
	}
	record := func() *resolver.Record {
		return &resolver.Record{
			Name: fmt.Sprint("urn:nbn:fi-fe", 1), Metadata: strings.Repeat("m", 2000),
			Contact: strings.Repeat("c", 50),
		}
	}
	for _, shape := range []struct {
		name  string
		n     int
		value func(i int) (resolver.Locations, error)
	}{
		{"one location", 5000, locations(1, func() *resolver.Source { return shared })},
		{"many locations", 500, locations(50, func() *resolver.Source { return shared })},
		{"a description", 2000, locations(1, func() *resolver.Source {
			return &resolver.Source{Name: "thttp a", Type: "text/plain", Content: strings.Repeat("c", 500)}
		})},
		{"a record", 2000, locations(1, func() *resolver.Source {
			return &resolver.Source{Name: "registry", Record: record()}
		})},
		{"a record with targets that have types", 500, func(i int) (resolver.Locations, error) {
			one := record()
			return locations(20, func() *resolver.Source {
				return &resolver.Source{Name: "registry", Record: one, Type: "text/html"}
			})(i)
		}},
		{"a record with targets", 1000, func(i int) (resolver.Locations, error) {
			one := &resolver.Source{Name: "registry", Record: record()}
			return locations(20, func() *resolver.Source { return one })(i)
		}},
		{"not found", 5000, func(i int) (resolver.Locations, error) {
			return nil, &resolver.Negative{
				Kind: resolver.ErrNotFound, TTL: time.Hour,
				Reason: fmt.Sprintf("the name %d is not registered in any of the systems that were asked", i),
			}
		}},
		{"not found, wrapped", 5000, func(i int) (resolver.Locations, error) {
			return nil, fmt.Errorf("asking for %d: %w", i,
				&resolver.Negative{Kind: resolver.ErrNotFound, TTL: time.Hour, Reason: strings.Repeat("r", 100+i%2)})
		}},
		{"withdrawn", 2000, func(i int) (resolver.Locations, error) {
			one := record()
			one.Successors = []string{fmt.Sprint("urn:nbn:fi-fe", i), fmt.Sprint("urn:nbn:fi-fg", i)}
			return nil, &resolver.Negative{
				Kind: resolver.ErrGone, TTL: time.Hour, Record: one,
				Reason: strings.Repeat("r", 100+i%2),
			}
		}},
	} {
		t.Run(shape.name, func(t *testing.T) {
			store, err := memory.New(memory.Config[resolver.Locations]{
				MaxBytes: 512 << 20,
				Size:     resolver.LocationsSize, GroupOf: resolver.NameOfKey,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			c := cache.New(cache.Config[resolver.Locations]{Store: store, Now: time.Now})
			defer c.Close()
			before := testserver.HeapInUse()
			for i := range shape.n {
				_, _ = c.Get(t.Context(), fmt.Sprintf("urn:nbn:fi-fe%d", i),
					func(context.Context) (resolver.Locations, time.Duration, error) {
						all, err := shape.value(i)
						return all, time.Hour, err
					})
			}
			store.Each(func(*cache.Entry[resolver.Locations]) bool { return true }) // waits for pending writes
			grown, stats := testserver.HeapInUse()-before, store.Stats()
			t.Logf("%d entries, %d bytes grown, %d counted: %.2f", stats.Entries, grown, stats.Bytes,
				float64(stats.Bytes)/float64(grown))
			// For small values the overhead of the store matters; it is calibrated for millions of entries.
			if stats.Bytes*5 < grown*4 || stats.Bytes*2 > grown*3 {
				t.Errorf("%d bytes grown, %d counted", grown, stats.Bytes)
			}
		})
	}
	runtime.KeepAlive(shared)
}
