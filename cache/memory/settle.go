package memory

import (
	"maps"
	"time"

	"github.com/urnd/urnd/cache"
)

// settleAfter is how long writes are collected before one wait for ristretto covers them all.
const settleAfter = 10 * time.Millisecond

// note records a write until ristretto has applied it; a nil entry is a deletion. s.mu is held.
func (s *Store[V]) note(key string, e *cache.Entry[V]) {
	if s.recent == nil {
		s.recent = make(map[string]*cache.Entry[V])
	}
	s.recent[key] = e
	s.unsettled.Store(true)
	s.schedule()
}

// pending returns the pending write of key, if any; a nil entry is a deletion. s.mu is held.
func (s *Store[V]) pending(key string) (e *cache.Entry[V], ok bool) {
	if e, ok = s.recent[key]; !ok {
		e, ok = s.applying[key]
	}
	return e, ok
}

// held returns the pending writes by key; a nil entry is a deletion.
func (s *Store[V]) held() map[string]*cache.Entry[V] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	held := make(map[string]*cache.Entry[V], len(s.applying)+len(s.recent))
	maps.Copy(held, s.applying)
	maps.Copy(held, s.recent)
	return held
}

// schedule starts the timer unless it is running; s.mu is held.
func (s *Store[V]) schedule() {
	if s.timer == nil {
		s.settling.Add(1)
		s.timer = time.AfterFunc(settleAfter, s.settle)
	}
}

// settle waits until ristretto has applied the recent writes, and removes them from the maps.
func (s *Store[V]) settle() {
	defer s.settling.Done()
	s.mu.Lock()
	s.applying, s.recent = s.recent, nil
	s.mu.Unlock()
	s.items.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applying, s.timer = nil, nil
	if len(s.recent) == 0 {
		s.unsettled.Store(false)
	} else if !s.closed {
		s.schedule()
	}
}

// Close drops all entries. Later writes are ignored.
func (s *Store[V]) Close() {
	s.listing.Lock()
	defer s.listing.Unlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	if s.timer != nil && s.timer.Stop() {
		s.settling.Done()
	}
	s.recent, s.timer = nil, nil
	for _, e := range s.probation.entries() {
		s.dropped(s.probation.remove(e.Key))
	}
	s.mu.Unlock()
	s.settling.Wait()
	s.items.Close()
}
