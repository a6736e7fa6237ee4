package cache

import "time"

// Entry is what is stored for a key.
type Entry[V any] struct {
	Key   string
	Value V             // the zero value where there is an error
	TTL   time.Duration // still to live; negative where it serves stale
	Err   error         // of a negative entry
}

func (e *entry[V]) entry(now time.Time) Entry[V] {
	return Entry[V]{Key: e.key, Value: e.value, TTL: e.ttl(now), Err: e.err()}
}

// Each calls f for each entry, in no order, until it returns false. Entries that come
// or go meanwhile may be left out. f must not use the cache.
func (c *Cache[V]) Each(f func(Entry[V]) bool) {
	now := c.config.Now()
	c.memory.store.IterValues(func(e *entry[V]) (stop bool) { return !f(e.entry(now)) })
}

// Purge takes away the entries whose key matches, and returns how many there were.
// Where it is soft they stay, past their expiry: they are loaded anew when they are
// next asked for, and serve stale if that fails. What is being loaded is not stopped.
func (c *Cache[V]) Purge(matches func(key string) bool, soft bool) int {
	if !c.hold() {
		return 0
	}
	defer c.running.Done()
	var found []*entry[V]
	c.memory.store.IterValues(func(e *entry[V]) (stop bool) {
		if matches(e.key) {
			found = append(found, e)
		}
		return false
	})
	now := c.config.Now()
	for _, e := range found {
		if soft && e.err() == nil {
			aged := *e
			aged.expires, aged.rare = min(e.expires, now.UnixNano()), nil
			c.store(&aged)
			continue
		}
		c.memory.delete(e.key)
	}
	return len(found)
}

// Seed stores a value that was loaded elsewhere, unless there is one already.
func (c *Cache[V]) Seed(key string, value V, ttl time.Duration) {
	if ttl <= 0 || !c.hold() {
		return
	}
	defer c.running.Done()
	if c.memory.get(key) != nil {
		return
	}
	c.store(newEntry(key, value, nil, c.config.Now(), ttl))
}

// hold keeps a cache from being closed until its running is done, and reports whether
// it is open: ristretto would wait for ever once it is closed.
func (c *Cache[V]) hold() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.running.Add(1)
	}
	return !c.closed
}
