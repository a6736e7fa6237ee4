package httpcache

import "github.com/urnd/urnd/cache"

// Counts are how requests were answered, since the cache was made.
type Counts struct {
	Hits, Stale, Validated, Collapsed, Misses, Failures uint64
}

type counts struct{ hits, stale, validated, collapsed, misses, failures cache.Counter }

func (c *counts) add(a *Answer, err error) {
	switch {
	case err != nil:
		c.failures.Add(1)
	case a.Outcome.Hit() && a.Outcome.Stale:
		c.stale.Add(1)
	case a.Outcome.Hit():
		c.hits.Add(1)
	case a.Outcome.OriginStatus == 304:
		c.validated.Add(1)
	case a.Outcome.Collapsed:
		c.collapsed.Add(1)
	default:
		c.misses.Add(1)
	}
}

// Counts returns the present counts.
func (c *Cache) Counts() Counts {
	n := &c.counts
	return Counts{n.hits.Load(), n.stale.Load(), n.validated.Load(), n.collapsed.Load(), n.misses.Load(), n.failures.Load()}
}
