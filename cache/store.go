package cache

// Store keeps entries. It is safe for concurrent use.
//
// Get returns the entry of a key, expired or not, or nil. What was set can be got by
// whoever comes after, and what was deleted cannot; but a store may drop any entry at
// any time to make room. Entries are shared and must not be changed.
type Store[V any] interface {
	Get(key string) *Entry[V]
	Set(e *Entry[V])
	Delete(key string)
}

// Lister is a store whose entries can be listed. Each calls f for every entry, in no
// order, until f returns false. Entries that come or go meanwhile may be left out; f must
// not use the store. It may take long, and is for administrators and snapshots.
type Lister[V any] interface {
	Each(f func(*Entry[V]) bool)
}
