package cache

import (
	"strings"
	"time"
)

// Entry is one stored outcome. It is immutable, and shared by all callers. There are
// millions of entries: rare fields are behind a pointer, and a time is an Instant, a third of
// the size of a time.Time.
type Entry[V any] struct {
	Key      string
	Value    V // the zero value in a negative entry
	expires  Instant
	lifetime int64      // the TTL when it was loaded
	extra    *extraData // nil for most entries
}

// extraData has the fields of negative entries and of those in backoff.
type extraData struct {
	err     error   // of a negative entry
	retryAt Instant // end of the backoff: no load before
}

// NewEntry returns an entry that is fresh for ttl. With an error it is negative.
func NewEntry[V any](key string, value V, err error, now Instant, ttl time.Duration) *Entry[V] {
	// A key is often a substring of a longer text, which the entry must not keep in memory.
	e := &Entry[V]{Key: strings.Clone(key), Value: value, expires: now.add(ttl), lifetime: int64(ttl)}
	if err != nil {
		e.extra = &extraData{err: err}
	}
	return e
}

// Err returns the error of a negative entry, nil for all others.
func (e *Entry[V]) Err() error {
	if e.extra == nil {
		return nil
	}
	return e.extra.err
}

// TTL returns how long e is still fresh; it is negative once e is stale.
func (e *Entry[V]) TTL(now Instant) time.Duration {
	return e.expires.until(now)
}

// age returns how long ago e was loaded, or made stale before its time.
func (e *Entry[V]) age(ttl time.Duration) time.Duration { return time.Duration(e.lifetime) - ttl }

// expiresSoon reports whether e, which is fresh, is in the last tenth of its lifetime.
func (e *Entry[V]) expiresSoon(now Instant) bool {
	return e.TTL(now) < time.Duration(e.lifetime)/10
}

// mayServeStale reports whether e may be used although it is stale. A negative entry
// may not: a failure of the source must not extend a negative answer.
func (e *Entry[V]) mayServeStale(now Instant, staleFor time.Duration) bool {
	return e.Err() == nil && e.TTL(now) > -staleFor
}

// inBackoff reports whether a load failed recently, so that none is tried now.
func (e *Entry[V]) inBackoff(now Instant) bool {
	return e.extra != nil && now < e.extra.retryAt
}

// withBackoff returns a copy of e that is not loaded again before retryAt; e must not
// be negative.
func (e *Entry[V]) withBackoff(retryAt Instant) *Entry[V] {
	changed := *e
	changed.extra = &extraData{retryAt: retryAt}
	return &changed
}

// expired returns a copy of e that is stale from now on; e must not be negative.
func (e *Entry[V]) expired(now Instant) *Entry[V] {
	changed := *e
	changed.expires, changed.extra = min(e.expires, now), nil
	return &changed
}
