package valkey

import "github.com/urnd/urnd/cache"

// counts are the live counters of Stats.
type counts struct {
	hits, misses, waits, failures, writes, dropped, full, foreign, purged, unknown, unsuitable, everything cache.Counter
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

// Stats are the counters of a level since it was made, and its state.
type Stats struct {
	Hits, Misses uint64 // loads that were spared, and those that were not although the server was asked
	Waits        uint64 // questions again while another instance held the lease
	Failures     uint64 // of questions, too slow answers among them
	Writes       uint64 // entries that were stored
	Dropped      uint64 // entries that were not, as the queue was full or the server did not answer
	Full         uint64 // entries that the server refused, as it has no room
	Foreign      uint64 // entries that no instance has written so, which were deleted
	Purged       uint64 // entries that were not used since their load began before a purge
	Unknown      uint64 // entries that were not used since the log had not been read up to its end
	Unsuitable   uint64 // entries that were not used since they were about to expire
	Everything   uint64 // times that all in memory was purged or made stale, as purges may have been missed
	Used         bool   // the server is asked: the breaker is closed
}

// Stats returns the current counters, read one after another.
func (l *Level) Stats() Stats {
	c := &l.counts
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Waits: c.waits.Load(), Failures: c.failures.Load(), Writes: c.writes.Load(),
		Dropped: c.dropped.Load(), Full: c.full.Load(), Foreign: c.foreign.Load(), Purged: c.purged.Load(), Unknown: c.unknown.Load(),
		Unsuitable: c.unsuitable.Load(), Everything: c.everything.Load(), Used: l.isOpen.Load(),
	}
}
