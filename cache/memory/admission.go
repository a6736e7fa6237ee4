package memory

import "github.com/urnd/urnd/cache"

// probationShare is the part of the capacity for entries on probation: one of so many.
const probationShare = 8

// Names that are asked for once must not displace those in use. ristretto does not see to
// it: it counts an access for each lookup, so that a miss counts three times, and all
// counts are halved after some accesses, until a name in use has no more than a new one.
//
// So a new entry gets into ristretto only while nothing has to leave for it, or when its
// name is asked for again: while it is on probation, or while the ghost remembers it. The
// entry moves at the end of its probation, and not when it is asked for: then a read
// moves nothing, and entries that just fit all stay (S3-FIFO does the same).
//
// ristretto does not weigh the size of an entry, for which several others may have to leave.
// So one that is larger than the mean must be asked for once more for each time that its size
// is twice as much (isWorth).

// admits reports whether ristretto gets an entry at once; s.mu is held, and the entry is
// counted.
func (s *Store[V]) admits(key string, cost int64) bool {
	if cost > s.probation.maxBytes || s.bytes.Load()-s.probation.bytes <= s.mainBytes {
		return true
	}
	if _, ok := s.pending(key); ok {
		return true
	}
	if _, ok := s.items.GetTTL(key); ok { // unlike Get, this does not count as an access
		return true
	}
	return s.isWorth(1, cost) && s.ghost.has(key)
}

// isWorth reports whether an entry of a cost that was asked for again so often is worth those
// that leave for it; s.mu is held.
func (s *Store[V]) isWorth(asked int, cost int64) bool {
	mean := s.bytes.Load() / max(s.entries.Load(), 1)
	return asked > 0 && cost <= mean<<asked
}

// admit gives an entry, which is counted, to ristretto; s.mu is held.
func (s *Store[V]) admit(e *cache.Entry[V], cost int64) {
	if _, ok := s.pending(e.Key); ok {
		// ristretto would reject a new entry while another of its key is to be applied.
		s.items.Del(e.Key)
	}
	s.note(e.Key, e)
	if !s.items.Set(e.Key, e, cost) {
		s.dropped(e)
	}
}

// endProbation admits or drops the oldest candidates until the others fit; s.mu is held.
func (s *Store[V]) endProbation() {
	for {
		e, asked := s.probation.next()
		switch {
		case e == nil:
			return
		case s.isWorth(asked, s.cost(e)):
			s.admit(e, s.cost(e))
		default:
			s.ghost.add(e.Key)
			s.evictions.Add(1)
			s.dropped(e)
		}
	}
}

// getCandidate returns the entry of a key that ristretto did not have. It looks in the
// order in which an entry moves, so that it finds one that has moved meanwhile.
func (s *Store[V]) getCandidate(key string) *cache.Entry[V] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if e := s.probation.get(key); e != nil {
		return e
	}
	if e, ok := s.pending(key); ok {
		return e
	}
	if _, ok := s.items.GetTTL(key); !ok { // most misses count as one access
		return nil
	}
	if e, ok := s.items.Get(key); ok && e.Key == key {
		return e
	}
	return nil
}

// heldWithCandidates returns what held returns, and the entries on probation. These are
// read first: one that moves in between is a pending write.
func (s *Store[V]) heldWithCandidates() map[string]*cache.Entry[V] {
	s.mu.RLock()
	candidates := s.probation.entries()
	s.mu.RUnlock()
	held := s.held()
	for _, e := range candidates {
		if _, ok := held[e.Key]; !ok {
			held[e.Key] = e
		}
	}
	return held
}
