package httpcache

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
)

// flight is an exchange with an origin that other requests for the same may follow: see collapse.go. Its leader
// is the client that started it; the flight ends with it.
type flight struct {
	cache *Cache
	shard *shard // of the key
	key   string
	next  *flight // next flight of the same key; nil for none. Guarded by the shard
	// exchange is the context of the exchange: own, or an existing context for an exchange that started
	// earlier.
	exchange *lifetime.Lifetime
	own      lifetime.Lifetime
	watch    lifetime.Watch // of the leader
	// collapse is the collapse key that followers must have.
	collapse collapseKey
	// exclusive is whether no other request may follow.
	exclusive bool
	started   time.Time
	// updates is the stored response that the stored one is an update of, nil for none.
	updates *stored
	// validated is the stored response that a 304 validated, nil for none.
	validated *stored
	// share stores the response in the shared store; nil does not.
	share cache.StoreFunc

	// ended is closed when the leader has half-closed its connection, and may have disconnected:
	// Request.ClientHalfClosed.
	// nil is never closed.
	ended <-chan struct{}
	// published is whether the header has arrived, or never will. From then on the next three fields are final.
	published atomic.Bool
	result    *stored               // nil if there is no response for followers
	live      *httpmessage.Response // the response whose body result has while it arrives; nil for a validated one
	// awaited is whether followers wait for the end of the body.
	awaited bool

	mu            sync.Mutex
	publication   chan struct{} // closed with published; nil until a request waits for it
	joined        int           // number of clients, including the leader
	headArrived   bool          // the header has arrived, or never will
	abandoned     bool          // the leader left before headArrived
	passedThrough bool          // only the leader reads the response, and the exchange ends with it
	forgotten     bool          // purged or invalidated in the meantime: nothing is stored
}

// enter returns a flight that a request with these fields may follow, or starts own. If arrivedOnly is set, it
// follows only a flight whose header has arrived.
func (s *shard) enter(own *flight, fields httpmessage.Fields, arrivedOnly bool) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := s.flights[own.key]; f != nil; f = f.next {
		if f.admits(fields, own.collapse, arrivedOnly) {
			own.shard = nil // its memory may be reused
			return f
		}
	}
	s.startLocked(own)
	return own
}

// start starts a flight without looking for another one to follow.
func (s *shard) start(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startLocked(f)
}

// startLocked appends a flight to those of the same key; the shard is held.
func (s *shard) startLocked(f *flight) {
	f.started, f.joined = f.cache.config.Now(), 1
	last := s.flights[f.key]
	if last == nil {
		s.flights[f.key] = f
		return
	}
	for last.next != nil {
		last = last.next
	}
	last.next = f
}

// admits reports whether a request may follow the flight, and then counts it; the shard is held. An overdue
// flight admits none.
func (f *flight) admits(fields httpmessage.Fields, key collapseKey, arrivedOnly bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.forgotten, f.exclusive, f.collapse.collapseKind != key.collapseKind:
		return false
	case f.published.Load():
		if f.result == nil || f.awaited && (f.waitBudget() <= 0 || f.abandonedByLeader()) {
			return false
		}
		if !f.result.Matches(fields.Values) {
			return false
		}
	case arrivedOnly, f.collapse != key, f.abandoned, body.Closed(f.ended), f.waitBudget() <= 0:
		return false
	}
	f.joined++
	return true
}

// abandonedByLeader reports whether the leader has left, or may have, while the body arrives.
func (f *flight) abandonedByLeader() bool {
	b, ok := f.result.content.(*body.Arriving)
	return ok && b.AbandonedByLeader()
}

// waitBudget returns how much longer followers wait for the flight; it may be negative.
func (f *flight) waitBudget() time.Duration {
	return f.cache.config.CollapseTimeout - f.cache.config.Now().Sub(f.started)
}

// leave is called by each client that has joined.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.joined--
}

// Ended implements lifetime.Watcher for the leader. It ends the exchange, unless the header has arrived and
// other clients may read the body: then the exchange ends with the last of them.
func (f *flight) Ended() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandoned = f.abandoned || !f.headArrived
	if f.abandoned || f.passedThrough {
		f.exchange.End(body.ErrAbandoned)
	}
}

// passThrough ends the flight with its leader, and returns the content from which the leader reads the
// response.
func (f *flight) passThrough(response *httpmessage.Response) body.PassThrough {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.passedThrough = true
	return body.PassThrough{Response: response, Watch: f.watch, Exchange: f.exchange, Buffers: &f.cache.buffers}
}

// shared reports whether clients other than the leader have joined.
func (f *flight) shared() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.joined > 1
}

// fail ends a flight without a response.
func (f *flight) fail() { f.finish(nil) }

// finish ends the flight, stores s, nil for nothing, and then releases the followers: storing on disk may still
// replace the content of s.
func (f *flight) finish(s *stored) {
	defer f.publish(s) // even if storing panics
	defer f.arrived()
	f.commit(s, nil)
}

// arrived records that the header has arrived, or never will, and reports whether the leader was still
// connected.
func (f *flight) arrived() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.headArrived = true
	return !f.abandoned
}

// publish releases the followers with their response, nil for none.
func (f *flight) publish(result *stored) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.published.Load() {
		return
	}
	f.result = result
	f.published.Store(true)
	if f.publication != nil {
		close(f.publication)
	}
}

// whenPublished returns a channel that is closed by publish.
func (f *flight) whenPublished() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.publication == nil {
		f.publication = make(chan struct{})
		if f.published.Load() {
			close(f.publication)
		}
	}
	return f.publication
}

// removeLocked removes the flight from its shard, if it is still there; the shard is held.
func (f *flight) removeLocked() {
	var before *flight
	for other := f.shard.flights[f.key]; other != f; before, other = other, other.next {
		if other == nil {
			return
		}
	}
	switch {
	case before != nil:
		before.next = f.next
	case f.next != nil:
		f.shard.flights[f.key] = f.next
	default:
		delete(f.shard.flights, f.key)
	}
	f.next = nil
}

// forget prevents the running flights of a key from storing and from being followed; the shard is held.
func (s *shard) forget(key string) {
	s.forgets++
	for f := s.flights[key]; f != nil; f = f.next {
		f.mu.Lock()
		f.forgotten = true
		f.mu.Unlock()
	}
}

// countForgets returns the number of purges and invalidations so far.
func (s *shard) countForgets() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forgets
}

func (f *flight) wasForgotten() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.forgotten
}

// commit stores a response with its content, and ends the flight; a nil response stores nothing. The content of
// a spool, which may be nil, becomes the object on disk. This happens while the shard is held, after the
// previous entry was read, so that the new object is not found and read as part of that.
func (f *flight) commit(s *stored, from *body.Spool) {
	if f.store(s, from) && f.share != nil {
		f.cache.shared.store(f, s)
	}
}

// store is commit without the shared store. It reports whether a response was stored.
func (f *flight) store(s *stored, from *body.Spool) (done bool) {
	f.shard.mu.Lock()
	defer f.shard.mu.Unlock()
	if s != nil && !f.wasForgotten() {
		f.cache.storage.updateLocked(f.key, func(e *Entry) *Entry {
			if done = !f.outpaced(e, s) && s.save(from); !done {
				return e
			}
			return e.replacing(f.updates, s).with(s, f.cache.config.MaxObject, f.cache.config.Now())
		})
	}
	f.removeLocked()
	return done
}

// outpaced reports whether an entry has a response that another exchange has stored since this one started, in place of
// s, which a 304 has validated: the 304 may be older. RFC 9111 section 4.3.4 updates only what is stored.
func (f *flight) outpaced(e *Entry, s *stored) bool {
	if e == nil || f.validated == nil {
		return false
	}
	return slices.ContainsFunc(e.variants, func(other *stored) bool {
		later := other.Received.After(f.started) || other.Purged && !f.validated.Purged
		return other != f.validated && later && s.Replaces(&other.Response)
	})
}
