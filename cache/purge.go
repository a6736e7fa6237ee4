package cache

import "time"

// Purge removes the entry of key, and reports whether there was one. A soft purge only makes the entry stale:
// the next Get loads it again, and returns the stale value if the load fails. The outcome of a running load is
// returned to its current waiters but not stored: the load may have begun before the change that caused the
// purge.
func (c *Cache[V]) Purge(key string, soft bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.detach(key)
	e := c.config.Store.Get(key)
	switch {
	case e == nil || c.closed:
		return false
	case soft && e.Err() == nil:
		c.config.Store.Set(e.expired(c.now()))
	default:
		c.config.Store.Delete(key)
	}
	return true
}

// Detach separates the running loads of matching keys from the cache: their outcomes are returned to their
// current waiters, and not stored.
func (c *Cache[V]) Detach(matches func(key string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.flights {
		if matches(key) {
			c.detach(key)
		}
	}
}

// PurgeAll purges the entries with matching keys, and returns these keys. entries must list the store of the
// cache.
func (c *Cache[V]) PurgeAll(entries Lister[V], matches func(key string) bool, soft bool) []string {
	c.Detach(matches)
	var keys []string
	entries.Each(func(e *Entry[V]) bool {
		if matches(e.Key) {
			keys = append(keys, e.Key)
		}
		return true
	})
	purged := keys[:0]
	for _, key := range keys {
		if c.Purge(key, soft) {
			purged = append(purged, key)
		}
	}
	return purged
}

// Seed stores a value that was loaded elsewhere, unless the key has an entry.
func (c *Cache[V]) Seed(key string, value V, ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ttl <= 0 || c.closed || c.config.Store.Get(key) != nil {
		return
	}
	c.config.Store.Set(NewEntry(key, value, nil, c.now(), ttl))
}
