package httpcache

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
)

// flight is an exchange with an origin, which others who request the same may follow: see collapse.go. It belongs to
// the client that leads it, and ends with it.
type flight struct {
	cache *Cache
	shard *shard // of the key
	key   string
	next  *flight // of the same key; nil for none. The shard guards it
	// exchange is the context of the exchange with the origin: own, or that by which it was started before the flight.
	exchange *lifetime.Lifetime
	own      lifetime.Lifetime
	watch    lifetime.Watch // of the client that leads
	// collapse is what requests have in common that may follow.
	collapse collapseKey
	// exclusive is whether no other request may follow.
	exclusive bool
	started   time.Time
	// share shares what is stored with other processes; nil does not.
	share cache.StoreObject

	// ended is closed when the client that leads has ended its side, and may have left: Request.Ended. nil never is.
	ended <-chan struct{}
	// published is whether the header of the response has arrived, or nothing will. It makes what follows final.
	published atomic.Bool
	result    *stored               // nil where there is nothing for others
	live      *httpmessage.Response // whose body result has, while it arrives; nil for a validated one
	// awaited is whether followers wait for the end of the body.
	awaited bool

	mu            sync.Mutex
	publication   chan struct{} // closed with published; nil where no request has waited for that
	joined        int           // clients, the leader included
	headArrived   bool          // the header of the response has, or nothing will
	abandoned     bool          // the leader has left before that
	passedThrough bool          // its response is for the client that leads alone, and ends with that
	forgotten     bool          // a purge or an invalidation came in between: nothing is stored
}

// enter returns the flight that a request with some fields may follow, or starts its own. arrivedOnly is whether it
// follows only one whose header has arrived.
func (s *shard) enter(own *flight, fields httpmessage.Fields, arrivedOnly bool) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := s.flights[own.key]; f != nil; f = f.next {
		if f.admits(fields, own.collapse, arrivedOnly) {
			own.shard = nil // its memory may be used again
			return f
		}
	}
	s.startLocked(own)
	return own
}

// start starts a flight that follows no other.
func (s *shard) start(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startLocked(f)
}

// startLocked starts a flight behind those of the same key; the shard is held.
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

// admits reports whether a request may follow the flight, and counts it then; the shard is held. One that is overdue
// admits no more.
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
		if !f.result.Matches(fields.Lines) {
			return false
		}
	case arrivedOnly, f.collapse != key, f.abandoned, body.Closed(f.ended), f.waitBudget() <= 0:
		return false
	}
	f.joined++
	return true
}

// abandonedByLeader reports whether the client that leads has left, or may have, while the body arrives.
func (f *flight) abandonedByLeader() bool {
	b, ok := f.result.content.(*body.Arriving)
	return ok && b.AbandonedByLeader()
}

// waitBudget returns how long others wait for the flight from now on.
func (f *flight) waitBudget() time.Duration {
	return f.cache.config.CollapseTimeout - f.cache.config.Now().Sub(f.started)
}

// leave is called by each client that has joined.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.joined--
}

// Ended implements lifetime.Watcher, for the client that leads. It ends the exchange, unless the header has arrived,
// and others may read the body: then the exchange ends with the last of them.
func (f *flight) Ended() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandoned = f.abandoned || !f.headArrived
	if f.abandoned || f.passedThrough {
		f.exchange.End(body.ErrAbandoned)
	}
}

// passThrough lets the flight end with the client that leads, and returns how that reads its response.
func (f *flight) passThrough(response *httpmessage.Response) body.PassThrough {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.passedThrough = true
	return body.PassThrough{Response: response, Watch: f.watch, Exchange: f.exchange, Buffers: &f.cache.buffers}
}

// shared reports whether others than the leader have joined.
func (f *flight) shared() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.joined > 1
}

// fail ends a flight that has brought no response.
func (f *flight) fail() { f.finish(nil) }

// finish ends the flight, with what is stored, nil for nothing, and lets followers go on. Until
// it is stored the disk may change where its content is.
func (f *flight) finish(s *stored) {
	defer f.publish(s) // also where storing it panics
	defer f.arrived()
	f.commit(s, nil)
}

// arrived notes that the header has arrived, or nothing does, and reports whether the client that leads was there by
// then.
func (f *flight) arrived() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.headArrived = true
	return !f.abandoned
}

// publish lets followers go on, with what is for them, nil for nothing.
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

// whenPublished returns what is closed when followers can go on.
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

// removeLocked removes the flight, unless it is removed already; the shard is held.
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

// forget makes the running flights of a key store nothing, nor be followed; the shard is held.
func (s *shard) forget(key string) {
	for f := s.flights[key]; f != nil; f = f.next {
		f.mu.Lock()
		f.forgotten = true
		f.mu.Unlock()
	}
}

func (f *flight) wasForgotten() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.forgotten
}

// commit stores the response of the flight with a content, and ends the flight; a nil response
// stores nothing. What has arrived in a spool becomes its object on disk; nil for none. That is done while the shard
// is held, and after what was stored before is known: so the object is not found, and read, as one that was.
func (f *flight) commit(s *stored, from *body.Spool) {
	if f.store(s, from) && f.share != nil {
		f.cache.shared.store(f, s)
	}
}

// store is commit in this process. It reports whether something was stored.
func (f *flight) store(s *stored, from *body.Spool) (done bool) {
	f.shard.mu.Lock()
	defer f.shard.mu.Unlock()
	if s != nil && !f.wasForgotten() {
		f.cache.storage.updateLocked(f.key, func(e *Entry) *Entry {
			if done = s.save(from); !done {
				return e
			}
			return e.with(s, f.cache.config.MaxObject, f.cache.config.Now())
		})
	}
	f.removeLocked()
	return done
}
