package cache

import (
	"unsafe"

	"github.com/dgraph-io/ristretto/v2"
)

// memory keeps entries in ristretto, which knows them by hashes: get compares
// the key itself. It is given no TTL: it would expire by the clock of the
// machine and drop what may still serve stale; and zero would mean for ever.
type memory[V any] struct {
	store *ristretto.Cache[string, *entry[V]]
}

// countersPer is how many bytes of capacity have one access counter. ristretto
// wants up to ten counters an entry, and an entry is some hundreds of bytes.
const countersPer = 64

// overhead is the memory that an entry takes in the maps of ristretto and of
// its policy, beyond the item that it counts itself; measured by
// BenchmarkMemoryPerAnswer.
const overhead = 180

func newMemory[V any](maxBytes int64) (*memory[V], error) {
	store, err := ristretto.NewCache(&ristretto.Config[string, *entry[V]]{
		NumCounters: max(maxBytes/countersPer, 1024),
		MaxCost:     maxBytes,
		BufferItems: 64,
	})
	if err != nil {
		return nil, err // the caller says what was made
	}
	return &memory[V]{store: store}, nil
}

// get returns the entry of key, expired or not, or nil.
func (m *memory[V]) get(key string) *entry[V] {
	e, ok := m.store.Get(key)
	if !ok || e.key != key {
		return nil
	}
	return e
}

// set stores e, whose key and value hold size bytes beyond the entry itself.
// It may be dropped under load: this is a cache. ristretto sets
// asynchronously; set returns when the entry can be got, or a caller that
// comes after a load would load again.
func (m *memory[V]) set(e *entry[V], size int) {
	if m.store.Set(e.key, e, int64(size+overhead+int(unsafe.Sizeof(*e)))) {
		m.store.Wait()
	}
}

func (m *memory[V]) delete(key string) { m.store.Del(key) }

func (m *memory[V]) close() { m.store.Close() }
