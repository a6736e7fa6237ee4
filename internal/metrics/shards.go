package metrics

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// labels are the values of the labels of an event. The strings are constants: they are not copied.
type labels struct {
	first, second string
	code          int
}

// hash returns a number by which labels are found. The values are few short words, which their
// length and their ends tell apart.
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

// ranges is the number of ranges of durations: one below each bound of fast, and one above all.
const ranges = 20

// cell has the counts of the events with some labels, in one shard. It fills cache lines, which it
// shares with no other: 256 octets is a size class of the allocator.
type cell struct {
	labels labels
	next   *cell                 // of the same bucket
	sum    atomic.Int64          // nanoseconds
	counts [ranges]atomic.Uint64 // by duration
	_      [40]byte
}

// shard has the cells that one processor uses, in a hash table.
type shard struct {
	buckets [64]atomic.Pointer[cell]
}

// cell returns the cell of some labels. Cells are added and never removed.
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

// shards count events by their labels, and how long they took, for processors that count at the same
// time: each has a shard of its own where it can, since a counter that all write moves from cache to
// cache at each event. Events are counted without allocation once their labels are known. Shards are
// safe for concurrent use.
type shards struct {
	bounds [ranges - 1]time.Duration
	all    [16]shard
	used   atomic.Uint32 // shards that were given out
	near   sync.Pool     // of *shard: a processor gets the one that it has put there
}

func newShards() *shards {
	s := new(shards)
	for i, bound := range fast() {
		s.bounds[i] = time.Duration(math.Round(bound * float64(time.Second)))
	}
	return s
}

// add counts an event, which took so long.
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
		c.sum.Add(int64(took)) // it would overflow after 292 years of requests
	}
	s.near.Put(shard)
}

// total are the events with some labels.
type total struct {
	counts [ranges]uint64 // by duration
	sum    float64        // nanoseconds
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

// totals returns the events of all shards. They are read one after another, not as one consistent state.
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
