package cache

import (
	"sync"
	"sync/atomic"
)

// Counter is an event counter split over up to 16 cells, one per processor if possible, because the cache line
// of a single number written by all processors would move between them at each event. The zero value is ready
// to use. A Counter is safe for concurrent use, and must not be copied.
type Counter struct {
	cells [16]cell
	used  atomic.Uint32 // number of cells assigned
	near  sync.Pool     // of *cell; a processor usually gets back the cell that it put
}

// cell fills a cache line.
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

// Load returns the number of events. Concurrent events may be missing.
func (c *Counter) Load() (sum uint64) {
	for i := range c.cells {
		sum += c.cells[i].n.Load()
	}
	return sum
}
