package cache

// Stats are the counters of a cache since it was created.
type Stats struct {
	Hits, Negative, Stale, Misses, Collapsed, Failures uint64
}

// counts are the live counters of Stats. The zero value is ready to use.
type counts struct {
	hits, negative, stale, misses, collapsed, failures Counter
}

// outcome counts one result of Get. An error that is not stored is a failure.
func (c *counts) outcome(status Status, err error, stored bool) {
	switch {
	case err != nil && stored && status == Hit:
		c.negative.Add(1)
	case err != nil && !stored:
		c.failures.Add(1)
	case status == Hit:
		c.hits.Add(1)
	case status == Stale:
		c.stale.Add(1)
	case status == Collapsed:
		c.collapsed.Add(1)
	default:
		c.misses.Add(1)
	}
}

// Stats returns the current counters. They are read one by one, so they are not a consistent snapshot.
func (c *Cache[V]) Stats() Stats {
	return Stats{
		Hits: c.counts.hits.Load(), Negative: c.counts.negative.Load(), Stale: c.counts.stale.Load(),
		Misses: c.counts.misses.Load(), Collapsed: c.counts.collapsed.Load(), Failures: c.counts.failures.Load(),
	}
}
