package valkey

import "github.com/urnd/urnd/cache"

// counts are the live counters of Stats.
type counts struct {
	hits, misses, waits, failures, writes, dropped, full, foreign, purged, unknown, unsuitable, fullPurges cache.Counter
}

func (c *counts) judged(is verdict) {
	switch is {
	case foreign:
		c.foreign.Add(1)
	case purged:
		c.purged.Add(1)
	case unknown:
		c.unknown.Add(1)
	case unsuitable:
		c.unsuitable.Add(1)
	case usable:
	}
}

// Stats are the counters of a level since it was created, and its state.
type Stats struct {
	Hits, Misses uint64 // loads avoided; loads run after a query
	Waits        uint64 // repeated queries while another instance held the lease
	Failures     uint64 // failed queries, including timeouts
	Writes       uint64 // entries stored
	Dropped      uint64 // entries not stored, because the queue was full or the server did not respond
	Full         uint64 // entries rejected by the server for lack of memory
	Foreign      uint64 // entries not written by an instance in this form, and deleted
	Purged       uint64 // entries not used because their load began before a purge
	Unknown      uint64 // entries not used because the log had not been read to its end
	Unsuitable   uint64 // entries not used because they were about to expire
	FullPurges   uint64 // times that the whole memory was purged or made stale, because purges may have been missed
	Used         bool   // the circuit breaker is closed: the server is queried
}

// Stats returns the current counters, read one after another.
func (l *Level) Stats() Stats {
	c := &l.counts
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Waits: c.waits.Load(), Failures: c.failures.Load(),
		Writes: c.writes.Load(), Dropped: c.dropped.Load(), Full: c.full.Load(), Foreign: c.foreign.Load(),
		Purged: c.purged.Load(), Unknown: c.unknown.Load(), Unsuitable: c.unsuitable.Load(),
		FullPurges: c.fullPurges.Load(),
		Used:       l.open.Load(),
	}
}
