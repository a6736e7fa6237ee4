// Package memory is an in-memory cache.Store bounded in bytes, with admission and eviction by ristretto and a
// probation queue. Entries enter by Set; Get, Each and Keys return them until they are deleted or evicted. It
// implements no RFC; it is the only package that imports ristretto.
package memory

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/urnd/urnd/cache"
)

// Store stores entries in ristretto, which identifies them by hash, so Get compares the key itself. ristretto
// gets no TTL: it would expire entries by the system clock, drop entries that may still be served stale, and
// take zero for no expiry. While ristretto is full, new entries are on probation first.
//
// ristretto applies writes with a delay. Store holds pending writes, so that writers do not wait and readers
// see every write. It is safe for concurrent use.
type Store[V any] struct {
	items *ristretto.Cache[string, *cache.Entry[V]]
	size  func(V) int
	index index

	evictions      atomic.Uint64
	entries, bytes atomic.Int64

	mainBytes int64 // MaxBytes without the tables and the probation

	unsettled atomic.Bool  // whether recent or applying has writes
	listing   sync.RWMutex // read-locked while entries are listed, write-locked to close
	mu        sync.RWMutex
	closed    bool
	// recent and applying are writes that ristretto may not have applied, by key; nil is a deletion. recent has
	// precedence over applying, which settle waits for.
	recent, applying map[string]*cache.Entry[V]
	timer            *time.Timer // nil if settle is not scheduled
	settling         sync.WaitGroup
	// The entries that are not in ristretto yet, and the fingerprints of those evicted from probation.
	probation probation[V]
	ghost     ghost
}

const (
	// usualSize is the default of Config.TypicalSize.
	usualSize = 640
	// countersPerEntry is the number of access counters per entry that ristretto recommends. counterSize is the
	// memory of a counter in bytes: four counts of half a byte, and 16 bits of a Bloom filter.
	countersPerEntry, counterSize = 10, 4
)

// Config is the configuration of a store. GroupOf may be nil.
type Config[V any] struct {
	// MaxBytes bounds the memory of the store: the entries, with keys and overhead, and the tables for
	// admission and eviction.
	MaxBytes int64
	// TypicalSize is the usual memory of an entry in bytes, which determines the size of these tables; 0 means 640.
	TypicalSize int64
	// Size returns the memory of a value in bytes, without its own struct.
	Size func(V) int
	// GroupOf returns the group of a key for Keys, "" for a key without a group.
	GroupOf func(key string) string
}

// New returns an empty store. The caller must close it.
func New[V any](config Config[V]) (*Store[V], error) {
	s := &Store[V]{size: config.Size, index: index{groupOf: config.GroupOf}}
	usual := cmp.Or(config.TypicalSize, usualSize)
	counters := powerOfTwo(max(config.MaxBytes*countersPerEntry/usual, 1))
	s.ghost = newGhost(config.MaxBytes * fingerprintsPerEntry / usual)
	maxBytes := config.MaxBytes - counters*counterSize - s.ghost.memory()
	s.probation = probation[V]{maxBytes: maxBytes / probationShare, cost: s.cost}
	s.mainBytes = maxBytes - s.probation.maxBytes
	var err error
	s.items, err = ristretto.NewCache(&ristretto.Config[string, *cache.Entry[V]]{
		NumCounters: counters,
		MaxCost:     s.mainBytes,
		BufferItems: 64,
		// The internal cost is part of overhead, so that the store computes by itself what fits.
		IgnoreInternalCost: true,
		OnEvict:            func(*ristretto.Item[*cache.Entry[V]]) { s.evictions.Add(1) },
		OnExit:             s.dropped,
	})
	if err != nil {
		return nil, fmt.Errorf("creating a store of %d bytes: %w", config.MaxBytes, err)
	}
	return s, nil
}

// powerOfTwo returns the largest power of two up to n, because ristretto rounds up to a power of two.
func powerOfTwo(n int64) int64 { return 1 << (bits.Len64(uint64(n)) - 1) } //nolint:gosec // n is positive

// Get implements cache.Store.
func (s *Store[V]) Get(key string) *cache.Entry[V] {
	if s.unsettled.Load() {
		s.mu.RLock()
		e, ok := s.pending(key)
		s.mu.RUnlock()
		if ok {
			return e
		}
	}
	if e, ok := s.items.Get(key); ok && e.Key == key {
		return e
	}
	return s.getCandidate(key)
}

// Set implements cache.Store.
func (s *Store[V]) Set(e *cache.Entry[V]) {
	cost := s.cost(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.index.add(e.Key, 1)
	s.entries.Add(1)
	s.bytes.Add(cost)
	if s.admits(e.Key, cost) {
		s.dropped(s.probation.remove(e.Key))
		s.admit(e, cost)
		return
	}
	s.dropped(s.probation.put(e))
	s.endProbation()
}

// HasRoom reports whether this many more bytes fit without an eviction.
func (s *Store[V]) HasRoom(bytes int64) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bytes.Load()-s.probation.bytes+bytes <= s.mainBytes
}

// Delete implements cache.Store.
func (s *Store[V]) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.dropped(s.probation.remove(key))
	s.note(key, nil)
	s.items.Del(key)
}

// dropped updates the counters for an entry that has left the store: evicted, rejected, replaced or deleted. e
// may be nil.
func (s *Store[V]) dropped(e *cache.Entry[V]) {
	if e == nil {
		return
	}
	s.index.add(e.Key, -1)
	s.entries.Add(-1)
	s.bytes.Add(-s.cost(e))
}

// Each implements cache.Lister. It waits until ristretto has applied all earlier writes, and lists the entries
// that Get returns, including an entry that ristretto rejected but that is still pending.
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
	held := s.heldWithCandidates()
	more := true
	s.items.IterValues(func(e *cache.Entry[V]) (stop bool) {
		if _, ok := held[e.Key]; !ok {
			more = f(e)
		}
		return !more
	})
	for _, e := range held {
		if more && e != nil {
			more = f(e)
		}
	}
}

// Stats are the size and the evictions of a store.
type Stats struct {
	Evictions      uint64 // entries evicted for lack of space since the store was created
	Entries, Bytes int64  // current; Bytes is the memory of the entries, without the tables of the store
}

// Stats returns the current values. They include pending writes.
func (s *Store[V]) Stats() Stats {
	return Stats{Evictions: s.evictions.Load(), Entries: s.entries.Load(), Bytes: s.bytes.Load()}
}

// overhead is the memory in bytes of an entry in the maps and the policy of ristretto when the maps have just
// grown, as measured by TestBoundHasAllOfTheStore; before, it is 108. On probation an entry needs less.
const overhead = 188

// errorSize is the approximate memory of an error in bytes, without its text.
const errorSize = 80

// sized is an error that uses more memory than its text.
type sized interface {
	error
	// Size returns that memory, in bytes.
	Size() int
}

// cost returns the memory of an entry in bytes.
func (s *Store[V]) cost(e *cache.Entry[V]) int64 {
	size := overhead + int(unsafe.Sizeof(*e)) + len(e.Key) + s.index.cost(e.Key)
	if err := e.Err(); err != nil {
		size += errorSize
		for one := err; one != nil; one = errors.Unwrap(one) { // each wrapped error may have its own text
			size += len(one.Error())
		}
		var more sized
		if errors.As(err, &more) {
			size += more.Size()
		}
	} else {
		size += s.size(e.Value)
	}
	return int64(size)
}
