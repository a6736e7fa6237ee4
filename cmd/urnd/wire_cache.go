package main

import (
	"reflect"

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

// dependsOn names, for each cache, the sections of the configuration that its content
// depends on: a reload reuses the cache while they are unchanged. TestDependsOn explains
// those that are missing.
func dependsOn() map[string][]string {
	records := []string{"Cache", "DNS", "DDDS", "Resolve"}
	answers := append([]string{"Registry", "THTTP", "SLP", "URN", "Namespaces", "Access"}, records...)
	return map[string][]string{"records": records, "answers": answers, "found": answers}
}

// basisOf returns the parts of a configuration that the content of a cache depends on.
func basisOf(name string, c config.Config) map[string]any {
	c.Access = config.Access{AllowDestinations: c.Access.AllowDestinations} // the content does not depend on who may resolve
	c.Cache = config.Cache{
		Answers: c.Cache.Answers, Records: c.Cache.Records, StaleFor: c.Cache.StaleFor, RetryAfter: c.Cache.RetryAfter,
		Directory: c.Cache.Directory, MaxSaved: c.Cache.MaxSaved,
	} // nor on the cache of HTTP responses
	c.Registry.HealthInterval, c.Registry.HealthRate, c.Registry.HealthConcurrency = 0, 0, 0 // nor on which targets are checked
	c.Registry.HealthPause, c.Registry.HealthContact = 0, ""
	basis := make(map[string]any)
	for _, section := range dependsOn()[name] {
		basis[section] = reflect.ValueOf(c).FieldByName(section).Interface()
	}
	return basis
}

// newCache returns the cache of that name: the one of the previous configuration where
// nothing that it depends on has changed.
func newCache[V any](r *resolution, c config.Config, d resolverDependencies, name string, refresh bool, bounds memory.Config[V]) (storedCache[V], error) {
	var previous *shared.Values
	if d.previous != nil {
		previous = &d.previous.shared
	}
	made, err := shared.Reuse(&r.shared, previous, name, basisOf(name, c), func() (storedCache[V], func(), error) {
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
