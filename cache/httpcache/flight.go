package httpcache

import (
	"context"
	"net/http"
	"slices"
	"sync"
)

// flight is an exchange with an origin, which others who want the same wait for: collapsed
// forwarding, RFC 9111 section 4.
type flight struct {
	cache  *Cache
	key    string
	cancel context.CancelCauseFunc
	// solitary is whether nobody else may join.
	solitary bool

	ready chan struct{} // closed when the header of the response is here
	// After ready: what came, or why nothing came.
	result *stored   // nil where the response is not for others
	live   *Response // whose content result is, while it arrives; nil for a validated one
	err    error

	mu        sync.Mutex
	waiting   int     // clients that wait for the header; -1 where the last one has left before it came
	hold      Content // keeps the body until those who have waited read it
	forgotten bool    // a purge or an invalidation came in between: nothing is stored
}

// enter returns the flight that a request may wait for, or begins one, which it leads. A solitary
// request waits for no header: it takes what has come already, or begins a flight of its own.
func (c *Cache) enter(key string, header http.Header, solitary bool) (f *flight, leads bool) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.flights[key] {
		if f.suits(header, solitary) {
			return f, false
		}
	}
	return s.begin(c, key, solitary), true
}

// alone begins a flight that nobody else joins.
func (c *Cache) alone(key string) *flight {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin(c, key, true)
}

// begin begins a flight; the shard is held.
func (s *shard) begin(c *Cache, key string, solitary bool) *flight {
	f := &flight{cache: c, key: key, ready: make(chan struct{}), waiting: 1, solitary: solitary}
	s.flights[key] = append(s.flights[key], f)
	return f
}

// suits reports whether a request may wait for the flight, or take what it has brought; the shard
// is held.
func (f *flight) suits(header http.Header, solitary bool) bool {
	select {
	case <-f.ready:
		if f.result == nil || !f.result.matches(linesOf(header)) {
			return false
		}
	default:
		if solitary {
			return false
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.forgotten || f.solitary || f.waiting < 0 {
		return false
	}
	f.waiting++
	return true
}

// leave is called by each client that has waited. The last one ends an exchange whose response
// nobody waits for any more, and lets the body go, which ends where nobody reads it.
func (f *flight) leave() {
	if hold := f.left(); hold != nil {
		hold.Close()
	}
}

func (f *flight) left() (hold Content) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return nil
	}
	if !f.isReady() {
		f.waiting = -1 // nobody can join
		f.cancel(errAbandoned)
	}
	hold, f.hold = f.hold, nil // there may be one before the others can go on
	return hold
}

// holds keeps a body for those who wait, until they have begun to read it. f.mu is not held while the
// body is: the end of a body takes them the other way round.
func (f *flight) holds(b *body) {
	r := b.join(f.cache.base, span{0, -1})
	if r != nil && !f.keeps(r) {
		r.Close()
	}
}

// keeps makes a reader of the body be there while somebody waits, and reports whether that is so.
func (f *flight) keeps(r *bodyReader) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting > 0 {
		f.hold = r
	}
	return f.waiting > 0
}

// isShared reports whether others than the leader wait.
func (f *flight) isShared() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting > 1
}

// fail ends a flight that has brought no response.
func (f *flight) fail(err error) {
	f.err = err
	f.finish(nil)
}

// finish ends the flight, with what is stored, nil for nothing, and lets those who wait go on. Until
// it is stored the disk may change where its content is.
func (f *flight) finish(s *stored) {
	f.result = s
	defer close(f.ready) // also where storing it panics
	f.commit(s)
}

// isReady reports whether those who wait can go on.
func (f *flight) isReady() bool {
	select {
	case <-f.ready:
		return true
	default:
		return false
	}
}

func (f *flight) removeLocked(s *shard) {
	left := slices.DeleteFunc(s.flights[f.key], func(other *flight) bool { return other == f })
	if len(left) == 0 {
		delete(s.flights, f.key)
		return
	}
	s.flights[f.key] = left
}

// forget makes the running flights of a key store nothing, nor be joined; the shard is held.
func (s *shard) forget(key string) {
	for _, f := range s.flights[key] {
		f.mu.Lock()
		f.forgotten = true
		f.mu.Unlock()
	}
}

func (f *flight) isForgotten() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.forgotten
}

// commit stores the response of the flight with a content, and ends the flight; a nil content
// stores nothing.
func (f *flight) commit(s *stored) {
	shard := f.cache.shard(f.key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	switch forgotten := f.isForgotten(); {
	case s == nil:
	case !forgotten:
		f.cache.updateLocked(f.key, func(e *Entry) *Entry { return f.cache.with(e, s) })
	case s.saved != nil && f.live != nil:
		_ = f.cache.config.Disk.Remove(s.saved)
	}
	f.removeLocked(shard)
}
