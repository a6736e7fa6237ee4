package cache

// Store stores entries by key. It is safe for concurrent use.
//
// Get returns the entry of a key, fresh or expired, or nil. Set and Delete are visible to every later Get, but
// a store may evict any entry at any time. Entries are shared and must not be changed.
type Store[V any] interface {
	Get(key string) *Entry[V]
	Set(e *Entry[V])
	Delete(key string)
}

// Lister is a store that lists its entries. Each calls f for every entry, in no particular order, until f
// returns false. Entries set or deleted during the call may be missing; f must not use the store. A call may
// take long; it is meant for administration and snapshots.
type Lister[V any] interface {
	Each(f func(*Entry[V]) bool)
}
