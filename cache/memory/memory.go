// Package memory is a cache.Store in memory, bounded by bytes. It is the only package
// that uses ristretto.
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

// Store keeps entries in ristretto, which identifies them by hash: Get compares the key
// itself. ristretto gets no TTL: it would expire entries by the system clock and drop
// those that may still be returned stale; and zero would mean no expiry. When it is full,
// new entries are on probation first.
//
// ristretto applies writes with a delay. Store holds them until then, so that writers do
// not wait and readers see every write. It is safe for concurrent use.
type Store[V any] struct {
	items *ristretto.Cache[string, *cache.Entry[V]]
	size  func(V) int
	index index

	evictions      atomic.Uint64
	entries, bytes atomic.Int64

	mainBytes int64 // the part of MaxBytes that is not for probation

	unsettled atomic.Bool  // whether there are writes in recent or applying
	listing   sync.RWMutex // read while entries are listed, written to close
	mu        sync.RWMutex
	closed    bool
	// recent and applying are writes that ristretto may not have applied, by key; nil
	// is a deletion. recent has precedence over applying, for which settle waits.
	recent, applying map[string]*cache.Entry[V]
	timer            *time.Timer // nil if settle is not scheduled
	settling         sync.WaitGroup
	// The entries that ristretto does not have yet, and the keys of those that it never got.
	probation probation[V]
	ghost     ghost
}

const (
	// usualSize is what Config.Usual is where it is not set.
	usualSize = 640
	// countersPerEntry is how many access counters ristretto recommends for an entry, and counterSize the memory of
	// one in bytes: four of half a byte, and 16 bits of a Bloom filter.
	countersPerEntry, counterSize = 10, 4
)

// Config is the configuration of a store. GroupOf may be nil.
type Config[V any] struct {
	// MaxBytes bounds the memory of the store: of the entries, with keys and overhead, and of the tables by which it
	// decides what stays.
	MaxBytes int64
	// Usual is the memory of a usual entry in bytes, by which these tables are sized; 0 is 640.
	Usual int64
	// Size returns the memory held by a value, in bytes, beyond its own struct.
	Size func(V) int
	// GroupOf returns the group of a key for Keys, "" for a key without group.
	GroupOf func(key string) string
}

// New returns an empty store. The caller must close it.
func New[V any](config Config[V]) (*Store[V], error) {
	s := &Store[V]{size: config.Size, index: index{groupOf: config.GroupOf}}
	usual := cmp.Or(config.Usual, usualSize)
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
		// It is part of overhead, so that the store knows by its own count what fits.
		IgnoreInternalCost: true,
		OnEvict:            func(*ristretto.Item[*cache.Entry[V]]) { s.evictions.Add(1) },
		OnExit:             s.dropped,
	})
	if err != nil {
		return nil, fmt.Errorf("creating a store of %d bytes: %w", config.MaxBytes, err)
	}
	return s, nil
}

// powerOfTwo returns the largest power of two that is not more than n: ristretto takes memory for the next larger one.
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

// HasRoom reports whether so many bytes more fit without an entry leaving for them.
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

// dropped is called for every entry that has left the store: it was evicted, rejected,
// replaced or deleted.
func (s *Store[V]) dropped(e *cache.Entry[V]) {
	if e == nil {
		return
	}
	s.index.add(e.Key, -1)
	s.entries.Add(-1)
	s.bytes.Add(-s.cost(e))
}

// Each implements cache.Lister. It waits until all earlier writes are applied, and lists
// what Get returns: also an entry that ristretto has rejected, until it is gone.
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

// Stats are the size of a store, and its evictions.
type Stats struct {
	Evictions      uint64 // entries evicted to make room, since the store was created
	Entries, Bytes int64  // stored now; Bytes is the memory of the entries, without the tables of the store
}

// Stats returns the current values. Writes that are not yet applied count.
func (s *Store[V]) Stats() Stats {
	return Stats{Evictions: s.evictions.Load(), Entries: s.entries.Load(), Bytes: s.bytes.Load()}
}

// overhead is the memory in bytes of an entry in the maps of ristretto and of its
// policy where these have just grown, as TestBoundHasAllOfTheStore measures it; it is 108 before. On probation an entry takes less.
const overhead = 188

// errorSize is about the memory of an error in bytes, without its text.
const errorSize = 80

// sized is an error that holds more memory than its text.
type sized interface {
	error
	// Size returns that memory, in bytes.
	Size() int
}

// cost returns the memory of an entry, in bytes.
func (s *Store[V]) cost(e *cache.Entry[V]) int64 {
	size := overhead + int(unsafe.Sizeof(*e)) + len(e.Key) + s.index.cost(e.Key)
	if err := e.Err(); err != nil {
		size += errorSize
		for one := err; one != nil; one = errors.Unwrap(one) { // each may have a text of its own
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
