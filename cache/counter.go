package cache

import (
	"sync"
	"sync/atomic"
)

// Counter counts events on many processors: each has a cell of its own where it can, since a number
// that all write moves from cache to cache at each event. The zero value is ready. A Counter is safe
// for concurrent use, and must not be copied.
type Counter struct {
	cells [16]cell
	used  atomic.Uint32 // cells that were given out
	near  sync.Pool     // of *cell: a processor gets the one that it has put there
}

// cell has a cache line of its own.
type cell struct {
	n atomic.Uint64
	_ [56]byte
}

// Add counts n events. It does not allocate.
func (c *Counter) Add(n uint64) {
	own, ok := c.near.Get().(*cell)
	if !ok {
		own = &c.cells[c.used.Add(1)%uint32(len(c.cells))]
	}
	own.n.Add(n)
	c.near.Put(own)
}

// Load returns the number of events. Those that are counted meanwhile may be missing.
func (c *Counter) Load() (sum uint64) {
	for i := range c.cells {
		sum += c.cells[i].n.Load()
	}
	return sum
}
