package cache

import (
	"strings"
	"time"
)

// Entry is one stored outcome: a value or an error. It is immutable, and shared by all callers. A cache has
// millions of entries: rare fields are behind a pointer, and times are Instants, a third of the size of a
// time.Time.
type Entry[V any] struct {
	Key      string
	Value    V // the zero value in a negative entry
	expires  Instant
	lifetime int64      // the TTL when it was loaded
	extra    *extraData // nil for most entries
}

// extraData has the fields of negative entries and of entries in backoff.
type extraData struct {
	err     error   // of a negative entry
	retryAt Instant // end of the backoff: no load before this time
}

// NewEntry returns an entry that is fresh for ttl. If err is not nil, the entry is negative.
func NewEntry[V any](key string, value V, err error, now Instant, ttl time.Duration) *Entry[V] {
	// A key is often a substring of a longer text, which the entry must not retain.
	e := &Entry[V]{Key: strings.Clone(key), Value: value, expires: now.add(ttl), lifetime: int64(ttl)}
	if err != nil {
		e.extra = &extraData{err: err}
	}
	return e
}

// Err returns the error of a negative entry, otherwise nil.
func (e *Entry[V]) Err() error {
	if e.extra == nil {
		return nil
	}
	return e.extra.err
}

// TTL returns how long e is still fresh; it is negative for a stale entry.
func (e *Entry[V]) TTL(now Instant) time.Duration {
	return e.expires.until(now)
}

// age returns the time since e was loaded, given its TTL; for an entry that a purge expired, it includes the
// lifetime cut off.
func (e *Entry[V]) age(ttl time.Duration) time.Duration { return time.Duration(e.lifetime) - ttl }

// expiresSoon reports whether e, a fresh entry, is in the last tenth of its lifetime.
func (e *Entry[V]) expiresSoon(now Instant) bool {
	return e.TTL(now) < time.Duration(e.lifetime)/10
}

// mayServeStale reports whether e may be used while stale. A negative entry may not: a failure of the source
// must not extend a negative answer.
func (e *Entry[V]) mayServeStale(now Instant, staleFor time.Duration) bool {
	return e.Err() == nil && e.TTL(now) > -staleFor
}

// inBackoff reports whether a load failed less than RetryAfter ago, so that no load may be tried yet.
func (e *Entry[V]) inBackoff(now Instant) bool {
	return e.extra != nil && now < e.extra.retryAt
}

// withBackoff returns a copy of e that is not loaded again before retryAt; e must not be negative.
func (e *Entry[V]) withBackoff(retryAt Instant) *Entry[V] {
	changed := *e
	changed.extra = &extraData{retryAt: retryAt}
	return &changed
}

// expired returns a copy of e that is stale as of now; e must not be negative.
func (e *Entry[V]) expired(now Instant) *Entry[V] {
	changed := *e
	changed.expires, changed.extra = min(e.expires, now), nil
	return &changed
}
