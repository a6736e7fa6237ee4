package cache

import "time"

// Instant is a time on the clock of one cache, in nanoseconds since the cache was created. If Config.Now is
// time.Now, it follows the monotonic clock: setting the system clock changes no lifetime.
type Instant int64

func (i Instant) add(d time.Duration) Instant { return i + Instant(d) }

// until returns the time from now to i.
func (i Instant) until(now Instant) time.Duration { return time.Duration(i - now) }

// now returns the current time on the clock of the cache.
func (c *Cache[V]) now() Instant { return Instant(c.config.Now().Sub(c.epoch)) }

// TTL returns how long e is still fresh; it is negative for a stale entry.
func (c *Cache[V]) TTL(e *Entry[V]) time.Duration { return e.TTL(c.now()) }
