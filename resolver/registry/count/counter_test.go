package count_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/count"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// stores returns a function that opens another store on the same file.
func stores(t *testing.T) func() registry.Store {
	path := filepath.Join(t.TempDir(), "registry.db")
	return func() registry.Store {
		s, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
}

// unavailableStore is a store that can be made unavailable.
type unavailableStore struct {
	registry.Store
	unavailable atomic.Bool
}

func (s *unavailableStore) Bulk(ctx context.Context, f func(registry.WriteTx) error) error {
	if s.unavailable.Load() {
		return registry.ErrUnavailable
	}
	return s.Store.Bulk(ctx, f)
}

// testMaxBytes is the memory limit of counters, in bytes.
const testMaxBytes = 1 << 20

// testCounter is a running Counter with its own clock.
type testCounter struct {
	*count.Counter
	store *unavailableStore
	end   func()

	ticks chan time.Time
	waits chan time.Duration // each duration that it waits for

	mu     sync.Mutex
	now    time.Time
	states []error
}

func startCounter(t *testing.T, s registry.Store, now time.Time) *testCounter {
	c := &testCounter{
		store: &unavailableStore{Store: s}, now: now, ticks: make(chan time.Time),
		waits: make(chan time.Duration, 100),
	}
	c.Counter = count.NewCounter(count.CounterConfig{
		Store: c.store, Every: time.Minute, MaxBytes: testMaxBytes,
		Now: func() time.Time {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.now
		},
		After: func(d time.Duration) <-chan time.Time {
			c.waits <- d
			return c.ticks
		},
		State: func(err error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.states = append(c.states, err)
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	c.end = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(c.end)
	return c
}

// tick advances the clock by the duration that the counter waits for, until it waits again; it returns that
// duration.
func (c *testCounter) tick() time.Duration {
	d := <-c.waits
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.mu.Unlock()
	c.ticks <- time.Time{}
	next := <-c.waits
	c.waits <- next
	return d
}

// reported returns the reported states.
func (c *testCounter) reported() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states
}

// countsOf returns the counts of a name as text: "2031-05-01 1/0".
func countsOf(t *testing.T, s registry.Store, name string, from, to time.Time) string {
	t.Helper()
	var texts []string
	err := s.Read(t.Context(), func(tx registry.Tx) error {
		counts, err := count.Get(tx, name, from, to)
		for _, c := range counts {
			texts = append(texts, fmt.Sprintf("%s %d/%d", c.Period, c.People, c.Bots))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(texts, ", ")
}

func allOf(t *testing.T, s registry.Store, name string) string {
	t.Helper()
	return countsOf(t, s, name, time.Time{}, time.Time{})
}

func TestCounter(t *testing.T) {
	s := stores(t)()
	c := startCounter(t, s, time.Date(2031, 5, 1, 23, 58, 30, 0, time.UTC))
	c.Add("urn:a:1", false)
	c.Add("urn:a:1", true)
	c.Add("urn:a:1", false)
	c.Add("urn:a:12", true)
	if d := c.tick(); d != time.Minute {
		t.Errorf("it waited for %v", d)
	}
	if got := allOf(t, s, "urn:a:1"); got != "2031-05-01 2/1" {
		t.Errorf("counted %q", got)
	}
	c.Add("urn:a:1", false)
	if d := c.tick(); d != 30*time.Second {
		t.Errorf("before midnight it waited for %v", d)
	}
	c.Add("urn:a:1", false)
	c.end()
	if got := allOf(t, s, "urn:a:1"); got != "2031-05-01 3/1, 2031-05-02 1/0" {
		t.Errorf("counted %q", got)
	}
	if got := allOf(t, s, "urn:a:12"); got != "2031-05-01 0/1" {
		t.Errorf("counted %q", got)
	}
	if told := c.reported(); told != nil {
		t.Errorf("reported %v", told)
	}
}

// Resolutions counted while the store is unavailable are written later.
func TestCounterAway(t *testing.T) {
	s := stores(t)()
	c := startCounter(t, s, time.Date(2031, 5, 1, 23, 59, 0, 0, time.UTC))
	c.store.unavailable.Store(true)
	for range 3 {
		c.Add("urn:a:1", false)
		c.tick()
	}
	if told := c.reported(); len(told) != 1 || !errors.Is(told[0], registry.ErrUnavailable) {
		t.Errorf("reported %v", told)
	}
	c.store.unavailable.Store(false)
	c.tick()
	if got := allOf(t, s, "urn:a:1"); got != "2031-05-01 1/0, 2031-05-02 2/0" {
		t.Errorf("counted %q", got)
	}
	if told := c.reported(); len(told) != 2 || told[1] != nil {
		t.Errorf("reported %v", told)
	}
	c.store.unavailable.Store(true)
	c.Add("urn:a:1", false)
	c.end()
	if told := c.reported(); len(told) != 3 ||
		!strings.Contains(fmt.Sprint(told[2]), "dropping the latest counts of 1 names") {
		t.Errorf("reported %v", told)
	}
}

// No count is lost with concurrent callers and two instances.
func TestCounterConcurrent(t *testing.T) {
	const each, workers, names = 20_000, 4, 50
	open := stores(t)
	var counters []*testCounter
	for range 2 {
		counters = append(counters, startCounter(t, open(), time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)))
	}
	var running sync.WaitGroup
	for _, c := range counters {
		for range workers {
			running.Go(func() {
				for i := range each {
					c.Add("urn:a:"+strconv.Itoa(i%names), i%4 == 0)
				}
			})
		}
	}
	for range 3 {
		for _, c := range counters {
			c.tick()
		}
	}
	running.Wait()
	for _, c := range counters {
		c.end()
	}
	top, sum, err := count.Top(t.Context(), counters[0].store, time.Time{}, time.Time{}, 1000)
	if err != nil || len(top) != names ||
		sum != (registry.Tally{People: 2 * workers * each * 3 / 4, Bots: 2 * workers * each / 4}) {
		t.Errorf("%d names, %+v, %v", len(top), sum, err)
	}
}

// If too many names are resolved, the rest is counted as OtherNames.
func TestCounterBounded(t *testing.T) {
	s := stores(t)()
	c := startCounter(t, s, time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC))
	const names, length = 2000, testMaxBytes / 1000
	for i := range names {
		c.Add("urn:a:"+strings.Repeat("x", length)+strconv.Itoa(i), i%2 == 0)
	}
	c.tick()
	top, sum, err := count.Top(t.Context(), s, time.Time{}, time.Time{}, 1)
	if err != nil || sum != (registry.Tally{People: names / 2, Bots: names / 2}) {
		t.Errorf("all: %+v, %v", sum, err)
	}
	if len(top) != 1 || top[0].Name != count.OtherNames || top[0].People < 200 {
		t.Errorf("others: %+v", top)
	}
}

func BenchmarkCounterAdd(b *testing.B) {
	c := count.NewCounter(count.CounterConfig{MaxBytes: testMaxBytes})
	names := make([]string, 1000)
	for i := range names {
		names[i] = "urn:nbn:fi:lib-" + strconv.Itoa(i)
		c.Add(names[i], false)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			c.Add(names[i%len(names)], false)
		}
	})
}
