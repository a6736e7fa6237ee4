package cache

import (
	"strings"
	"time"
)

// entry is one stored outcome. There are millions of them: what few have is
// behind a pointer, and a time is nanoseconds of Unix time, a third of a
// time.Time.
type entry[V any] struct {
	key     string
	value   V
	expires int64
	life    int64 // the TTL that it had at first
	rare    *rare // nil for most
}

// rare is what sets an entry apart.
type rare struct {
	err   error // a negative entry
	retry int64 // a stale entry that is not to be loaded again before
}

func newEntry[V any](key string, value V, err error, now time.Time, ttl time.Duration) *entry[V] {
	// A key is often a part of a longer text, which must not live as long.
	e := &entry[V]{key: strings.Clone(key), value: value, expires: now.Add(ttl).UnixNano(), life: int64(ttl)}
	if err != nil {
		e.rare = &rare{err: err}
	}
	return e
}

// err returns the error of a negative entry, nil for all others.
func (e *entry[V]) err() error {
	if e.rare == nil {
		return nil
	}
	return e.rare.err
}

// ttl returns how long e is still fresh; negative once it is not.
func (e *entry[V]) ttl(now time.Time) time.Duration {
	return time.Duration(e.expires - now.UnixNano())
}

// usable reports whether e may serve although it is stale. An error may not:
// a source that fails is no reason to deny a thing for longer.
func (e *entry[V]) usable(now time.Time, staleFor time.Duration) bool {
	return e.err() == nil && e.ttl(now) > -staleFor
}

// rests reports whether loading was tried a moment ago, and failed.
func (e *entry[V]) rests(now time.Time) bool {
	return e.rare != nil && now.UnixNano() < e.rare.retry
}

// rest returns a copy of e, which is not negative, that is not to be loaded
// again before retry.
func (e *entry[V]) rest(retry time.Time) *entry[V] {
	rested := *e
	rested.rare = &rare{retry: retry.UnixNano()}
	return &rested
}
