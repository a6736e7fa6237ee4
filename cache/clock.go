package cache

import "time"

// Instant is a time on the clock of one cache, in nanoseconds since the cache was made. Where
// Config.Now is time.Now it is measured by the monotonic clock: a system clock that is set back
// extends no lifetime, and one that is set forward ends none.
type Instant int64

func (i Instant) add(d time.Duration) Instant { return i + Instant(d) }

// until returns the time from now to i.
func (i Instant) until(now Instant) time.Duration { return time.Duration(i - now) }

// now returns the time by the clock of the cache.
func (c *Cache[V]) now() Instant { return Instant(c.config.Now().Sub(c.epoch)) }

// TTL returns how long an entry of the cache is still fresh; it is negative for a stale one.
func (c *Cache[V]) TTL(e *Entry[V]) time.Duration { return e.TTL(c.now()) }
