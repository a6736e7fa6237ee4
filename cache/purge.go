package cache

import "time"

// Purge removes the entry of key, and reports whether there was one. Where it is soft
// the entry stays, past its expiry: it is loaded anew when it is next asked for, and
// serves stale if that fails. A load that runs answers those who wait for it, and is not
// stored: it may have begun before what made the purge necessary.
func (c *Cache[V]) Purge(key string, soft bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, key)
	e := c.config.Store.Get(key)
	switch {
	case e == nil || c.closed:
		return false
	case soft && e.Err() == nil:
		c.config.Store.Set(e.expired(c.config.Now()))
	default:
		c.config.Store.Delete(key)
	}
	return true
}

// Detach makes the loads that run for keys that match answer those who wait for them,
// and nobody after: their outcome is not stored.
func (c *Cache[V]) Detach(matches func(key string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.flights {
		if matches(key) {
			delete(c.flights, key)
		}
	}
}

// PurgeAll purges the entries of a list, which are those of the store, whose keys match.
// It returns their keys.
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

// Seed stores a value that was loaded elsewhere, unless there is one already.
func (c *Cache[V]) Seed(key string, value V, ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ttl <= 0 || c.closed || c.config.Store.Get(key) != nil {
		return
	}
	c.config.Store.Set(NewEntry(key, value, nil, c.config.Now(), ttl))
}
