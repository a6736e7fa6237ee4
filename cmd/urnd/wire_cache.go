package main

import (
	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/shared"
)

// storedCache is a cache and its store.
type storedCache[V any] struct {
	*cache.Cache[V]
	store *memory.Store[V]
	name  string
}

// newCache returns the cache of that name: the one of the previous configuration where
// nothing that its contents rest on has changed.
func newCache[V any](r *resolution, c config.Config, d resolverDependencies, name string, of config.Contents, refresh bool, bounds memory.Config[V]) (storedCache[V], error) {
	var previous *shared.Values
	if d.previous != nil {
		previous = &d.previous.shared
	}
	made, err := shared.Reuse(&r.shared, previous, name, c.Basis(of), func() (storedCache[V], func(), error) {
		store, err := memory.New(bounds)
		if err != nil {
			return storedCache[V]{}, nil, err
		}
		made := cache.New(cache.Config[V]{
			Store: store, Now: d.now, RefreshAhead: refresh,
			Panicked: d.panicked, LoadTimeout: c.Resolve.Timeout, StaleFor: c.Cache.StaleFor, RetryAfter: c.Cache.RetryAfter,
		})
		return storedCache[V]{made, store, name}, func() { made.Close(); store.Close() }, nil
	})
	if err == nil {
		r.caches = append(r.caches, made)
	}
	return made, err
}

// purgeAll removes all entries. Without a cache it does nothing.
func (s storedCache[V]) purgeAll() {
	if s.Cache != nil {
		s.PurgeAll(s.store, func(string) bool { return true }, false)
	}
}

// observed is a cache that reports its metrics.
type observed interface{ metrics() metrics.Cache }

// metrics implements observed.
func (s storedCache[V]) metrics() metrics.Cache {
	counts, held := s.Stats(), s.store.Stats()
	return metrics.Cache{
		Name: s.name, Evictions: held.Evictions, Entries: held.Entries, Bytes: held.Bytes,
		Lookups: map[string]uint64{
			"hit": counts.Hits, "negative": counts.Negative, "stale": counts.Stale, "miss": counts.Misses,
			"collapsed": counts.Collapsed, "failure": counts.Failures,
		},
	}
}

// cacheMetrics returns those of all caches.
func (r *resolution) cacheMetrics() []metrics.Cache {
	var all []metrics.Cache
	for _, c := range r.caches {
		all = append(all, c.metrics())
	}
	return all
}
