package httpcache

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
)

// flight is an exchange with an origin, which others who want the same wait for: collapsed
// forwarding, RFC 9111 section 4. It belongs to the client that leads it, and ends with it.
type flight struct {
	cache *Cache
	key   string
	next  *flight // of the same key; nil for none. The shard guards it
	// exchange is the context of the exchange with the origin: own, or that by which it was begun before the flight.
	exchange *lifetime.Lifetime
	own      lifetime.Lifetime
	watch    lifetime.Watch // of the client that leads
	// class is the kind of requests that may join.
	class class
	// solitary is whether nobody else may join.
	solitary bool
	begun    time.Time
	// share shares what is stored with other processes; nil does not.
	share cache.StoreObject

	// ended is closed when the client that leads has ended its side, and may have left: Request.Ended. nil never is.
	ended <-chan struct{}
	// isReady is whether the header of the response is here, or nothing will come.
	isReady atomic.Bool
	// Then: what came.
	result *stored               // nil where there is nothing for others
	live   *httpmessage.Response // whose content result is, while it arrives; nil for a validated one
	// isAwaited is whether others wait for the end of the body.
	isAwaited bool

	mu        sync.Mutex
	ready     chan struct{} // closed with isReady; nil where nobody has waited for that
	joined    int           // clients, the leader included
	hasCome   bool          // the header of the response, or nothing will
	left      bool          // the leader has, before that
	isPassed  bool          // its response is passed on to the client that leads alone, and ends with that
	forgotten bool          // a purge or an invalidation came in between: nothing is stored
}

// enter returns the flight that a request may wait for, or begins one, which it leads. A solitary
// request waits for no header: it takes what has come already, or begins a flight that nobody else joins.
//
// What it begins is in the memory of room.
func (c *Cache) enter(r *Request, of class, solitary bool, room *flight) (f *flight, leads bool) {
	s := c.shard(r.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := s.flights[r.Key]; f != nil; f = f.next {
		if f.suits(r.Fields, of, solitary) {
			return f, false
		}
	}
	return s.begin(c, r, of, solitary, room), true
}

// enterReady returns the flight whose header is here and suits a request, or begins one, which it leads and
// others may join.
func (c *Cache) enterReady(r *Request, of class, room *flight) (f *flight, leads bool) {
	s := c.shard(r.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := s.flights[r.Key]; f != nil; f = f.next {
		if f.isReady.Load() && f.suits(r.Fields, of, false) {
			return f, false
		}
	}
	return s.begin(c, r, of, false, room), true
}

// alone begins a flight that nobody else joins, in the memory of room.
func (c *Cache) alone(r *Request, room *flight) *flight {
	s := c.shard(r.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin(c, r, class{}, true, room)
}

// begin begins a flight behind those of the same key; the shard is held.
func (s *shard) begin(c *Cache, r *Request, of class, solitary bool, f *flight) *flight {
	f.cache, f.key, f.class, f.solitary, f.begun, f.joined, f.exchange = c, r.Key, of, solitary, c.config.Now(), 1, &f.own
	if r.Ended != nil {
		f.ended = r.Ended.Done()
	}
	last := s.flights[f.key]
	if last == nil {
		s.flights[f.key] = f
		return f
	}
	for last.next != nil {
		last = last.next
	}
	last.next = f
	return f
}

// suits reports whether a request may wait for the flight, or take what it has brought; the shard
// is held. Nobody more waits for one that is overdue.
func (f *flight) suits(header httpmessage.Fields, of class, solitary bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.forgotten, f.solitary, f.class.kind != of.kind:
		return false
	case f.isReady.Load():
		if f.result == nil || f.isAwaited && (f.patience() <= 0 || f.isDeserted()) || !f.result.matches(header.Lines) {
			return false
		}
	case solitary, f.class != of, f.left, f.isEnded(), f.patience() <= 0:
		return false
	}
	f.joined++
	return true
}

// isDeserted reports whether the client that leads has left, or may have, while the body arrives.
func (f *flight) isDeserted() bool {
	b, ok := f.result.content.(*body)
	return ok && b.isDeserted()
}

// isEnded reports whether the client that leads has ended its side.
func (f *flight) isEnded() bool { return isClosed(f.ended) }

// patience returns how long others wait for the flight from now on.
func (f *flight) patience() time.Duration {
	return f.cache.config.CollapseTimeout - f.cache.config.Now().Sub(f.begun)
}

// leave is called by each client that has joined.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.joined--
}

// Ended implements lifetime.Watcher, for the client that leads. It ends the exchange, unless the header is here, and others may read
// the body: then the exchange ends with the last of them.
func (f *flight) Ended() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = f.left || !f.hasCome
	if f.left || f.isPassed {
		f.exchange.End(errAbandoned)
	}
}

// passOn returns the content of a response that is for the client that leads alone.
func (x *exchange) passOn(f *flight, response *httpmessage.Response) *passed {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.isPassed = true
	x.passed = passed{response, f.watch, f.exchange, &x.cache.buffers}
	return &x.passed
}

// isShared reports whether others than the leader have joined.
func (f *flight) isShared() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.joined > 1
}

// fail ends a flight that has brought no response.
func (f *flight) fail() { f.finish(nil) }

// finish ends the flight, with what is stored, nil for nothing, and lets those who wait go on. Until
// it is stored the disk may change where its content is.
func (f *flight) finish(s *stored) {
	defer f.publish(s) // also where storing it panics
	defer f.arrived()
	f.commit(s, nil)
}

// arrived notes that the header has come, or nothing does, and reports whether the client that leads was there by then.
func (f *flight) arrived() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hasCome = true
	return !f.left
}

// publish lets those who wait go on, with what is for them, nil for nothing.
func (f *flight) publish(result *stored) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isReady.Load() {
		return
	}
	f.result = result
	f.isReady.Store(true)
	if f.ready != nil {
		close(f.ready)
	}
}

// whenReady returns what is closed when those who wait can go on.
func (f *flight) whenReady() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ready == nil {
		f.ready = make(chan struct{})
		if f.isReady.Load() {
			close(f.ready)
		}
	}
	return f.ready
}

// removeLocked removes the flight, unless it is removed already; the shard is held.
func (f *flight) removeLocked(s *shard) {
	var before *flight
	for other := s.flights[f.key]; other != f; before, other = other, other.next {
		if other == nil {
			return
		}
	}
	switch {
	case before != nil:
		before.next = f.next
	case f.next != nil:
		s.flights[f.key] = f.next
	default:
		delete(s.flights, f.key)
	}
	f.next = nil
}

// forget makes the running flights of a key store nothing, nor be joined; the shard is held.
func (s *shard) forget(key string) {
	for f := s.flights[key]; f != nil; f = f.next {
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

// commit stores the response of the flight with a content, and ends the flight; a nil response
// stores nothing. What has arrived in a spool becomes its object on disk; nil for none. That is done while the shard
// is held, and after what was stored before is known: so the object is not found, and read, as one that was.
func (f *flight) commit(s *stored, from *spool) {
	if f.store(s, from) && f.share != nil {
		f.cache.shareStored(f, s)
	}
}

// store is commit in this process. It reports whether something was stored.
func (f *flight) store(s *stored, from *spool) (isStored bool) {
	shard := f.cache.shard(f.key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if s != nil && !f.isForgotten() {
		f.cache.updateLocked(f.key, func(e *Entry) *Entry {
			if isStored = s.save(from); !isStored {
				return e
			}
			return f.cache.with(e, s)
		})
	}
	f.removeLocked(shard)
	return isStored
}
