package resolver

import "time"

// ClientTTL is how long clients may use an answer of the registry of the site, where a setting says so: urnd itself forgets an answer
// as soon as its name has changed, and clients cannot. The zero value is the TTL of the answer.
type ClientTTL struct {
	Lifetime time.Duration
	// Shared is how long caches in front of urnd may use it that are told of changes; 0 is as long as clients.
	Shared time.Duration
	// Bounded says that the answer ends by itself soon, as a target begins or ends to be valid: it is used until then at most.
	Bounded bool
}

// Of returns the lifetime for clients of an answer with a TTL; that is of answers which are stale, or for one request.
func (c ClientTTL) Of(ttl time.Duration) time.Duration {
	switch {
	case c.Lifetime == 0 || ttl <= 0:
		return ttl
	case c.Bounded:
		return min(c.Lifetime, ttl)
	default:
		return c.Lifetime
	}
}

// SharedOf returns the lifetime for caches that are told of changes, of an answer with a TTL; 0 where it is that of clients.
func (c ClientTTL) SharedOf(ttl time.Duration) time.Duration {
	switch {
	case ttl <= 0:
		return 0
	case c.Bounded:
		return min(c.Shared, ttl)
	default:
		return c.Shared
	}
}

// Lifetime returns how long clients may use the answer.
func (a Answer) Lifetime() time.Duration {
	record := a.Record()
	if record == nil {
		return a.TTL
	}
	return record.Clients.Of(a.TTL)
}

// Lifetime returns how long clients may use the answer.
func (n *Negative) Lifetime() time.Duration { return n.Clients.Of(n.TTL) }

// SharedLifetime returns how long caches may use the answer that are told of changes; 0 is as long as clients.
func (a Answer) SharedLifetime() time.Duration {
	record := a.Record()
	if record == nil {
		return 0
	}
	return record.Clients.SharedOf(a.TTL)
}

// SharedLifetime returns how long caches may use the answer that are told of changes; 0 is as long as clients.
func (n *Negative) SharedLifetime() time.Duration { return n.Clients.SharedOf(n.TTL) }
