package memory

import "github.com/urnd/urnd/cache"

// probationShare divides the capacity: 1/probationShare of it is for entries on probation.
const probationShare = 8

// Keys requested only once must not displace keys in use. ristretto alone does not prevent that: it counts an
// access for each lookup, so that a miss counts three times, and it halves all counts after some accesses,
// until a key in use has no higher count than a new key.
//
// So ristretto receives a new entry only while it fits without an eviction, or when its key is requested again:
// during its probation, or while the ghost has its fingerprint. The entry moves at the end of its probation,
// not at the request: a read moves nothing, and a set of entries that just fits stays complete (S3-FIFO does
// the same).
//
// ristretto ignores the size of an entry, which may displace several others. So an entry larger than the mean
// must be requested once more for each doubling of its size (isWorth).

// admits reports whether an entry goes to ristretto without probation; s.mu is held, and the entry is included
// in s.bytes.
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

// isWorth reports whether an entry of this cost, requested again so often, is worth the entries that it
// displaces; s.mu is held.
func (s *Store[V]) isWorth(requested int, cost int64) bool {
	mean := s.bytes.Load() / max(s.entries.Load(), 1)
	return requested > 0 && cost <= mean<<requested
}

// admit stores an entry, which is included in s.bytes, in ristretto; s.mu is held.
func (s *Store[V]) admit(e *cache.Entry[V], cost int64) {
	if _, ok := s.pending(e.Key); ok {
		// ristretto would reject a new entry while another write of its key is pending.
		s.items.Del(e.Key)
	}
	s.note(e.Key, e)
	if !s.items.Set(e.Key, e, cost) {
		s.dropped(e)
	}
}

// endProbation admits or evicts the oldest candidates until the probation fits its bound; s.mu is held.
func (s *Store[V]) endProbation() {
	for {
		e, requested := s.probation.next()
		switch {
		case e == nil:
			return
		case s.isWorth(requested, s.cost(e)):
			s.admit(e, s.cost(e))
		default:
			s.ghost.add(e.Key)
			s.evictions.Add(1)
			s.dropped(e)
		}
	}
}

// getCandidate returns the entry of a key that ristretto did not return. It looks in the order in which an
// entry moves, so that it finds an entry that moves concurrently.
func (s *Store[V]) getCandidate(key string) *cache.Entry[V] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if e := s.probation.get(key); e != nil {
		return e
	}
	if e, ok := s.pending(key); ok {
		return e
	}
	if _, ok := s.items.GetTTL(key); !ok { // without counting an access, so that most misses count as one access
		return nil
	}
	if e, ok := s.items.Get(key); ok && e.Key == key {
		return e
	}
	return nil
}

// heldWithCandidates returns the pending writes and the entries on probation. It reads the probation first: an
// entry that moves in between is a pending write.
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
