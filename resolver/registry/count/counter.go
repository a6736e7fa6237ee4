package count

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Counter counts resolutions by name and day in memory, and writes the counts to a store in batches. It is
// safe for concurrent use. If the process is killed, the counts since the last batch are lost.
type Counter struct {
	config CounterConfig
	seed   maphash.Seed
	shards [countShards]countShard

	// Used by Run only: the counts that are not written yet, by name and day, and their size in bytes.
	pending map[dayOf]registry.Tally
	size    int
	failing bool
}

// CounterConfig configures a Counter. All fields must be set.
type CounterConfig struct {
	Store registry.Store
	Now   func() time.Time
	// Every is the interval at which counts are written.
	Every time.Duration
	// MaxBytes is the approximate memory limit of the counts of one interval, in bytes. Counts that could not be
	// written may take four times as much. Resolutions beyond the limit are counted as OtherNames.
	MaxBytes int
	After    func(time.Duration) <-chan time.Time
	// State is called with an error when writing counts starts to fail, and with nil when it works again.
	State func(err error)
}

const (
	countShards   = 64
	countOverhead = 100 // approximate bytes of a count besides its name
	// countsBatch is the number of counts in a transaction. It is small, because a transaction blocks all
	// other writers.
	countsBatch = 200
	lastCounts  = 10 * time.Second // timeout of the last write
)

// dayOf is a name on a day.
type dayOf struct{ name, day string }

// size returns the approximate size of a count, in bytes.
func (d dayOf) size() int { return len(d.name) + len(d.day) + countOverhead }

// countShard is the counts of a part of the names.
type countShard struct {
	mu    sync.Mutex
	names map[string]*registry.Tally
	bytes int
	other registry.Tally
	_     [64]byte // padding against false sharing of cache lines
}

// NewCounter returns a Counter. It starts no goroutine.
func NewCounter(config CounterConfig) *Counter {
	c := &Counter{config: config, seed: maphash.MakeSeed(), pending: make(map[dayOf]registry.Tally)}
	for i := range c.shards {
		c.shards[i].names = make(map[string]*registry.Tally)
	}
	return c
}

// Add counts one resolution of a canonical name or prefix. It never waits for the store.
func (c *Counter) Add(name string, bot bool) {
	s := &c.shards[maphash.String(c.seed, name)%countShards]
	s.mu.Lock()
	t := s.names[name]
	if t == nil {
		t = s.insert(name, c.config.MaxBytes/countShards)
	}
	if bot {
		t.Bots++
	} else {
		t.People++
	}
	s.mu.Unlock()
}

// insert returns the tally of a new name, or that of OtherNames if the memory limit is reached.
func (s *countShard) insert(name string, room int) *registry.Tally {
	n := len(name) + countOverhead
	if s.bytes+n > room {
		return &s.other
	}
	s.bytes += n
	t := new(registry.Tally)
	s.names[strings.Clone(name)] = t // name may be a substring of a larger string
	return t
}

// Run writes counts until ctx ends, and then the last ones, for at most lastCounts.
func (c *Counter) Run(ctx context.Context) {
	for {
		now := c.config.Now().UTC()
		day := now.Format(dayForm)
		midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCounts)
			defer cancel()
			c.collect(day)
			if err := c.flush(last); err != nil {
				c.config.State(fmt.Errorf("dropping the latest counts of %d names: %w", len(c.pending), err))
			}
			return
		case <-c.config.After(min(c.config.Every, midnight.Sub(now))):
			c.collect(day)
			c.state(ctx, c.flush(ctx))
		}
	}
}

// state reports a change of whether counts can be written.
func (c *Counter) state(ctx context.Context, err error) {
	if failing := err != nil; failing != c.failing && ctx.Err() == nil {
		c.failing = failing
		c.config.State(err)
	}
}

// collect moves the counts of a day from the shards to pending.
func (c *Counter) collect(day string) {
	for i := range c.shards {
		names, other := c.shards[i].take()
		for name, t := range names {
			c.add(name, day, *t)
		}
		if other != (registry.Tally{}) {
			c.add(OtherNames, day, other)
		}
	}
}

// take empties a shard, and returns its counts, which the caller owns.
func (s *countShard) take() (names map[string]*registry.Tally, other registry.Tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.names) > 0 { // reuse an empty map
		names, s.names = s.names, make(map[string]*registry.Tally)
	}
	other, s.other, s.bytes = s.other, registry.Tally{}, 0
	return names, other
}

// add adds to the pending counts.
func (c *Counter) add(name, day string, t registry.Tally) {
	key := dayOf{name, day}
	before, ok := c.pending[key]
	if !ok && c.size+key.size() > 4*c.config.MaxBytes && name != OtherNames {
		c.add(OtherNames, day, t)
		return
	}
	if !ok {
		c.size += key.size()
	}
	c.pending[key] = before.Plus(t)
}

// flush writes the pending counts in the order of names. Counts that could not be written stay pending.
func (c *Counter) flush(ctx context.Context) error {
	keys := slices.SortedFunc(maps.Keys(c.pending), func(a, b dayOf) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.day, b.day))
	})
	for batch := range slices.Chunk(keys, countsBatch) {
		counts := make([]registry.ResolutionCount, len(batch), len(batch)+1)
		for i, key := range batch {
			counts[i] = registry.ResolutionCount{
				Name:  key.name,
				Count: registry.Count{Period: key.day, Tally: c.pending[key]},
			}
		}
		err := c.config.Store.Bulk(ctx, func(tx registry.WriteTx) error { return add(tx, counts, c.config.Now()) })
		if err != nil {
			return fmt.Errorf("writing resolution counts: %w", err)
		}
		for _, key := range batch {
			delete(c.pending, key)
			c.size -= key.size()
		}
	}
	return nil
}
