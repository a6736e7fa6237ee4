package cache

import (
	"sync/atomic"

	"github.com/dgraph-io/ristretto/v2"
)

// memory keeps entries in ristretto, which knows them by hashes: get compares
// the key itself. It is given no TTL: it would expire by the clock of the
// machine and drop what may still serve stale; and zero would mean for ever.
type memory[V any] struct {
	store *ristretto.Cache[string, *entry[V]]
	cost  func(*entry[V]) int64

	evictions      atomic.Uint64
	entries, bytes atomic.Int64
}

// countersPer is how many bytes of capacity have one access counter. ristretto
// wants up to ten counters an entry, and an entry is some hundreds of bytes.
const countersPer = 64

// overhead is the memory that an entry takes in the maps of ristretto and of
// its policy, beyond the item that it counts itself; measured by
// BenchmarkMemoryPerAnswer.
const overhead = 180

func newMemory[V any](maxBytes int64, cost func(*entry[V]) int64) (*memory[V], error) {
	m := &memory[V]{cost: cost}
	var err error
	m.store, err = ristretto.NewCache(&ristretto.Config[string, *entry[V]]{
		NumCounters: max(maxBytes/countersPer, 1024),
		MaxCost:     maxBytes,
		BufferItems: 64,
		OnEvict:     func(*ristretto.Item[*entry[V]]) { m.evictions.Add(1) },
		OnExit:      m.left,
	})
	if err != nil {
		return nil, err // the caller says what was made
	}
	return m, nil
}

// left is called for every entry that is held no more, for whatever reason.
func (m *memory[V]) left(e *entry[V]) {
	if e == nil {
		return
	}
	m.entries.Add(-1)
	m.bytes.Add(-m.cost(e))
}

// get returns the entry of key, expired or not, or nil.
func (m *memory[V]) get(key string) *entry[V] {
	e, ok := m.store.Get(key)
	if !ok || e.key != key {
		return nil
	}
	return e
}

// set stores e. It may be dropped under load: this is a cache. ristretto sets
// asynchronously; set returns when the entry can be got, or a caller that
// comes after a load would load again.
func (m *memory[V]) set(e *entry[V]) {
	cost := m.cost(e)
	m.entries.Add(1)
	m.bytes.Add(cost)
	if !m.store.Set(e.key, e, cost) {
		m.left(e)
		return
	}
	m.store.Wait()
}

func (m *memory[V]) delete(key string) { m.store.Del(key) }

func (m *memory[V]) close() { m.store.Close() }
