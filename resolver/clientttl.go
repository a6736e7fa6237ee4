package resolver

import "time"

// ClientTTL is how long clients may cache an answer of the registry, if a setting overrides it: urnd itself
// invalidates an answer as soon as its name changes, which clients cannot. The zero value means the TTL of the
// answer.
type ClientTTL struct {
	Lifetime time.Duration
	// Shared is the lifetime in caches in front of urnd that are notified of changes; 0 means the lifetime for
	// clients.
	Shared time.Duration
	// Bounded means that the answer itself expires soon, because a target starts or ceases to be valid. The
	// lifetimes are then at most its TTL.
	Bounded bool
}

// ClientLifetime returns the lifetime for clients of an answer with a TTL. A TTL that is not positive (stale, or for
// one request only) is returned unchanged.
func (c ClientTTL) ClientLifetime(ttl time.Duration) time.Duration {
	switch {
	case c.Lifetime == 0 || ttl <= 0:
		return ttl
	case c.Bounded:
		return min(c.Lifetime, ttl)
	default:
		return c.Lifetime
	}
}

// SharedLifetime returns the lifetime for caches that are notified of changes; 0 means the lifetime for clients.
func (c ClientTTL) SharedLifetime(ttl time.Duration) time.Duration {
	switch {
	case ttl <= 0:
		return 0
	case c.Bounded:
		return min(c.Shared, ttl)
	default:
		return c.Shared
	}
}

// Lifetime returns how long clients may cache the answer.
func (a Answer) Lifetime() time.Duration {
	record := a.Record()
	if record == nil {
		return a.TTL
	}
	return record.ClientTTL.ClientLifetime(a.TTL)
}

// Lifetime returns how long clients may cache the answer.
func (n *Negative) Lifetime() time.Duration { return n.ClientTTL.ClientLifetime(n.TTL) }

// SharedLifetime returns how long caches that are notified of changes may store the answer; 0 means the
// lifetime for clients.
func (a Answer) SharedLifetime() time.Duration {
	record := a.Record()
	if record == nil {
		return 0
	}
	return record.ClientTTL.SharedLifetime(a.TTL)
}

// SharedLifetime returns how long caches that are notified of changes may store the answer; 0 means the
// lifetime for clients.
func (n *Negative) SharedLifetime() time.Duration { return n.ClientTTL.SharedLifetime(n.TTL) }
