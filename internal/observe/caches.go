package observe

import (
	"fmt"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/metrics"
)

// Observed is a cache that exports its statistics.
type Observed interface{ Metrics() metrics.Cache }

// Cache is a cache with its store and name. The zero value represents a disabled cache.
type Cache[V any] struct {
	*cache.Cache[V]
	Store *memory.Store[V]
	Name  string
}

// Purge removes the entries for whose keys has returns true. It does nothing for a disabled cache.
func (c Cache[V]) Purge(has func(key string) bool) {
	if c.Cache != nil {
		c.PurgeAll(c.Store, has, false)
	}
}

// Metrics implements Observed.
func (c Cache[V]) Metrics() metrics.Cache {
	counts, held := c.Stats(), c.Store.Stats()
	return metrics.Cache{
		Name: c.Name, Evictions: held.Evictions, Entries: held.Entries, Bytes: held.Bytes,
		Lookups: map[string]uint64{
			"hit": counts.Hits, "negative": counts.Negative, "stale": counts.Stale, "miss": counts.Misses,
			"collapsed": counts.Collapsed, "failure": counts.Failures,
		},
	}
}

// Responses is the cache of HTTP responses with its store, which is nil if the cache is disabled.
type Responses struct {
	*httpcache.Cache
	Store *memory.Store[*httpcache.Entry]
}

// Metrics implements Observed.
func (r Responses) Metrics() metrics.Cache {
	counts := r.Stats()
	m := metrics.Cache{Name: "responses", Lookups: map[string]uint64{
		"hit": counts.Hits, "stale": counts.Stale, "revalidated": counts.Validated, "miss": counts.Misses,
		"collapsed": counts.Collapsed, "failure": counts.Failures,
	}}
	if r.Store != nil {
		held := r.Store.Stats()
		m.Evictions, m.Entries, m.Bytes = held.Evictions, held.Entries, held.Bytes
	}
	return m
}

// Disk is the disk store of HTTP responses. The zero value represents no store.
type Disk struct{ *disk.Store }

// Metrics implements Observed.
func (d Disk) Metrics() metrics.Cache {
	held := d.Stats()
	return metrics.Cache{
		Name: "disk", Evictions: held.Evicted, Entries: held.Objects, Bytes: held.Bytes,
		Lookups: map[string]uint64{"failure": held.Failures + held.Corrupt},
	}
}

// AllMetrics returns the statistics of all caches.
func AllMetrics(caches []Observed) (all []metrics.Cache) {
	for _, c := range caches {
		all = append(all, c.Metrics())
	}
	return all
}

// Status describes the state of the service in one line: the answer cache and the number of connections.
func Status(caches []Observed, connections int) string {
	var hits, all uint64
	var entries int64
	for _, c := range AllMetrics(caches) {
		if c.Name != "answers" {
			continue
		}
		entries = c.Entries
		for outcome, n := range c.Lookups {
			all += n
			if outcome == "hit" || outcome == "negative" {
				hits += n
			}
		}
	}
	return fmt.Sprintf("%d answers cached, %d hits of %d lookups, %d connections", entries, hits, all, connections)
}

// Shared is the second-level cache. The zero value represents none.
type Shared struct{ *valkey.Level }

// Metrics implements Observed.
func (s Shared) Metrics() metrics.Cache {
	counts := s.Stats()
	return metrics.Cache{Name: "shared", Lookups: map[string]uint64{
		"hit": counts.Hits, "miss": counts.Misses, "wait": counts.Waits, "failure": counts.Failures,
		"written": counts.Writes, "dropped": counts.Dropped, "full": counts.Full,
		"foreign": counts.Foreign, "purged": counts.Purged, "unknown": counts.Unknown, "unsuitable": counts.Unsuitable,
		"full_purge": counts.FullPurges,
	}}
}
