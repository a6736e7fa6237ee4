package cache

import "time"

// entry is one stored outcome. Times are in nanoseconds of Unix time: a
// time.Time is three times as large, and there are millions of entries.
type entry[V any] struct {
	key     string
	value   V
	err     error // a negative entry
	expires int64
	retry   int64 // when stale: do not load before this
}

func newEntry[V any](key string, value V, err error, expires time.Time) *entry[V] {
	return &entry[V]{key: key, value: value, err: err, expires: expires.UnixNano()}
}

// ttl returns how long e is still fresh; negative once it is not.
func (e *entry[V]) ttl(now time.Time) time.Duration {
	return time.Duration(e.expires - now.UnixNano())
}

// usable reports whether e may serve although it is stale. An error may not:
// a source that fails is no reason to deny a thing for longer.
func (e *entry[V]) usable(now time.Time, staleFor time.Duration) bool {
	return e.err == nil && e.ttl(now) > -staleFor
}

// restsUntil reports whether loading was tried a moment ago, and failed.
func (e *entry[V]) restsUntil(now time.Time) bool { return now.UnixNano() < e.retry }

// rest returns a copy of e that is not to be loaded again before retry.
func (e *entry[V]) rest(retry time.Time) *entry[V] {
	rested := *e
	rested.retry = retry.UnixNano()
	return &rested
}
