package metrics

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// labels are the label values of an event. The strings are constants and are not copied.
type labels struct {
	first, second string
	code          int
}

// hash returns a hash value for the table of cells. The values are few short words, which are distinguished by
// their length and their first and last byte.
func (l *labels) hash() uint {
	const factor = 31
	h := uint(l.code)
	for _, s := range [...]string{l.first, l.second} {
		h = h*factor + uint(len(s))
		if s != "" {
			h = (h*factor+uint(s[0]))*factor + uint(s[len(s)-1])
		}
	}
	return h
}

// ranges is the number of duration buckets: one for each bound of fast, and an unbounded one.
const ranges = 20

// cell counts the events with the same labels in one shard. It has a size of 256 bytes, a size class of the
// allocator, so that it does not share a cache line with another cell (false sharing).
type cell struct {
	labels labels
	next   *cell                 // next cell of the same bucket
	sum    atomic.Int64          // in nanoseconds
	counts [ranges]atomic.Uint64 // by duration
	_      [40]byte
}

// shard is a hash table of the cells used by one processor.
type shard struct {
	buckets [64]atomic.Pointer[cell]
}

// cell returns the cell with these labels. Cells are added and never removed.
func (s *shard) cell(l labels) *cell {
	bucket := &s.buckets[l.hash()%uint(len(s.buckets))]
	for {
		first := bucket.Load()
		for c := first; c != nil; c = c.next {
			if c.labels == l {
				return c
			}
		}
		added := &cell{labels: l, next: first}
		if bucket.CompareAndSwap(first, added) {
			return added
		}
	}
}

// shards counts events and their durations by labels. Processors use separate shards if possible, because a
// shared counter would move between their caches with each event. Counting does not allocate once the labels
// are known. It is safe for concurrent use.
type shards struct {
	bounds [ranges - 1]time.Duration
	all    [16]shard
	used   atomic.Uint32 // number of shards in use
	near   sync.Pool     // of *shard: a processor gets the shard that it returned last
}

func newShards() *shards {
	s := new(shards)
	for i, bound := range fast() {
		s.bounds[i] = time.Duration(math.Round(bound * float64(time.Second)))
	}
	return s
}

// add counts an event with its duration.
func (s *shards) add(l labels, took time.Duration) {
	shard, ok := s.near.Get().(*shard)
	if !ok {
		shard = &s.all[s.used.Add(1)%uint32(len(s.all))]
	}
	c := shard.cell(l)
	i := 0
	for i < len(s.bounds) && took > s.bounds[i] { // most are short
		i++
	}
	c.counts[i].Add(1)
	if took != 0 {
		c.sum.Add(int64(took)) // overflows after 292 years of requests
	}
	s.near.Put(shard)
}

// total is the sum of the events with the same labels.
type total struct {
	counts [ranges]uint64 // by duration
	sum    float64        // in nanoseconds
}

func (t *total) add(other *total) {
	for i, n := range other.counts {
		t.counts[i] += n
	}
	t.sum += other.sum
}

// count returns the number of events.
func (t *total) count() (n uint64) {
	for _, some := range t.counts {
		n += some
	}
	return n
}

// totals returns the events of all shards. They are read one after another, not atomically.
func (s *shards) totals() map[labels]*total {
	all := make(map[labels]*total)
	for i := range s.all {
		for j := range s.all[i].buckets {
			for c := s.all[i].buckets[j].Load(); c != nil; c = c.next {
				t := all[c.labels]
				if t == nil {
					t = new(total)
					all[c.labels] = t
				}
				t.add(c.total())
			}
		}
	}
	return all
}

func (c *cell) total() *total {
	t := &total{sum: float64(c.sum.Load())}
	for i := range c.counts {
		t.counts[i] = c.counts[i].Load()
	}
	return t
}
