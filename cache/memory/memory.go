// Package memory is the store of caches in the memory of the process, bounded by bytes.
// It is the only room with ristretto.
package memory

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/urnd/urnd/cache"
)

// Store keeps entries in ristretto, which knows them by hashes: Get compares the key
// itself. ristretto is given no TTL: it would expire by the clock of the machine and
// drop what may still serve stale; and zero would mean for ever.
//
// ristretto applies writes some time after they are made. Store has them until then, so
// that nobody waits and everybody sees them. It is safe for concurrent use.
type Store[V any] struct {
	items *ristretto.Cache[string, *cache.Entry[V]]
	size  func(V) int
	index index

	evictions      atomic.Uint64
	entries, bytes atomic.Int64

	unsettled atomic.Bool  // whether there are writes in recent or applying
	listing   sync.RWMutex // read while entries are listed, written to close
	mu        sync.RWMutex
	closed    bool
	// recent and applying are writes that ristretto may not have applied, by key; nil
	// stands for a deletion. recent goes before applying, for which settle waits.
	recent, applying map[string]*cache.Entry[V]
	timer            *time.Timer // nil: none is set
	settling         sync.WaitGroup
}

// countersPer is how many bytes of capacity have one access counter. ristretto
// wants up to ten counters an entry, and an entry is some hundreds of bytes.
const countersPer = 64

// Config bounds a store. GroupOf may be nil.
type Config[V any] struct {
	// MaxBytes bounds the memory of the entries, as Size counts it.
	MaxBytes int64
	// Size returns the memory held by a value, in bytes, beyond its own struct.
	Size func(V) int
	// GroupOf returns the group of a key, "" for keys in none: Keys finds them by it.
	GroupOf func(key string) string
}

// New returns an empty store. Close it.
func New[V any](config Config[V]) (*Store[V], error) {
	s := &Store[V]{size: config.Size, index: index{groupOf: config.GroupOf}}
	var err error
	s.items, err = ristretto.NewCache(&ristretto.Config[string, *cache.Entry[V]]{
		NumCounters: max(config.MaxBytes/countersPer, 1024),
		MaxCost:     config.MaxBytes,
		BufferItems: 64,
		OnEvict:     func(*ristretto.Item[*cache.Entry[V]]) { s.evictions.Add(1) },
		OnExit:      s.dropped,
	})
	if err != nil {
		return nil, fmt.Errorf("making a store of %d bytes: %w", config.MaxBytes, err)
	}
	return s, nil
}

// Get implements cache.Store.
func (s *Store[V]) Get(key string) *cache.Entry[V] {
	if s.unsettled.Load() {
		s.mu.RLock()
		e, ok := s.recent[key]
		if !ok {
			e, ok = s.applying[key]
		}
		s.mu.RUnlock()
		if ok {
			return e
		}
	}
	e, ok := s.items.Get(key)
	if !ok || e.Key != key {
		return nil
	}
	return e
}

// Set implements cache.Store.
func (s *Store[V]) Set(e *cache.Entry[V]) {
	cost := s.cost(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.note(e.Key, e)
	s.index.add(e.Key, 1)
	s.entries.Add(1)
	s.bytes.Add(cost)
	if !s.items.Set(e.Key, e, cost) {
		s.dropped(e)
	}
}

// Delete implements cache.Store.
func (s *Store[V]) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.note(key, nil)
	s.items.Del(key)
}

// dropped is called for every entry that is no longer held, for whatever reason.
func (s *Store[V]) dropped(e *cache.Entry[V]) {
	if e == nil {
		return
	}
	s.index.add(e.Key, -1)
	s.entries.Add(-1)
	s.bytes.Add(-s.cost(e))
}

// Each implements cache.Lister. It waits until all writes so far are applied.
func (s *Store[V]) Each(f func(*cache.Entry[V]) bool) {
	s.listing.RLock()
	defer s.listing.RUnlock()
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		return
	}
	s.items.Wait()
	s.items.IterValues(func(e *cache.Entry[V]) (stop bool) { return !f(e) })
}

// Stats are what a store holds.
type Stats struct {
	Evictions      uint64 // entries that made room for others, since it was made
	Entries, Bytes int64  // stored now; Bytes as the bound of the store counts them
}

// Stats returns what the store holds. Writes that are not applied yet count.
func (s *Store[V]) Stats() Stats {
	return Stats{Evictions: s.evictions.Load(), Entries: s.entries.Load(), Bytes: s.bytes.Load()}
}

// overhead is the memory that an entry takes in the maps of ristretto and of
// its policy, beyond the item that it counts itself; measured by
// BenchmarkMemoryPerAnswer.
const overhead = 180

// errorSize is about what an error holds beside its text.
const errorSize = 128

// cost returns the memory of an entry, in bytes.
func (s *Store[V]) cost(e *cache.Entry[V]) int64 {
	size := overhead + int(unsafe.Sizeof(*e)) + len(e.Key) + s.index.cost(e.Key)
	if err := e.Err(); err != nil {
		size += errorSize + len(err.Error())
	} else {
		size += s.size(e.Value)
	}
	return int64(size)
}
