package memory

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
)

func loadLocation(context.Context) ([]location, time.Duration, error) {
	return []location{{"https://resolver.example.org/documents/by-name/a-1234567.html"}}, time.Hour, nil
}

func keysOf[V any](s *Store[V]) (keys []string) {
	s.Each(func(e *cache.Entry[V]) bool { keys = append(keys, e.Key); return true })
	return keys
}

// A working set larger than the probation is admitted, although the cache is full of other entries, and
// although no key is still on probation when it is requested again.
func TestLargeWorkingSetGetsIn(t *testing.T) {
	a := openAnswers(t, 2<<20)
	a.askAll(t, "f", 15_000)
	const set = 2500 // the cache holds 4,700 keys, the probation an eighth of them
	var hits []int
	for range 6 {
		hits = append(hits, a.askAll(t, "w", set))
	}
	if hits[5] < set*8/10 {
		t.Errorf("hits of %d in turn: %v", set, hits)
	}
}

// A set of entries that just fits stays complete: no capacity is reserved.
func TestWhatFitsStays(t *testing.T) {
	a := openAnswers(t, 2<<20)
	const set = 4650
	for range 3 {
		a.askAll(t, "w", set)
	}
	if hits := a.askAll(t, "w", set); hits != set {
		t.Errorf("%d of %d remain, %+v", hits, set, a.store.Stats())
	}
}

// openFull returns a full store with groups, and its keys.
func openFull(t *testing.T) (s *Store[string], keys []string) {
	t.Helper()
	s, err := New(Config[string]{
		MaxBytes: 1 << 16, Size: func(text string) int { return len(text) },
		GroupOf: func(string) string { return "group" },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for i := 0; s.Stats().Evictions == 0; i++ {
		s.Set(entry("full "+strconv.Itoa(i), "value"))
	}
	settled(t, s)
	return s, keysOf(s)
}

func onProbation(s *Store[string], key string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.probation.elements[key]
	return ok
}

// An entry on probation behaves like any other: it is returned, listed, counted, replaced and deleted.
func TestOnProbation(t *testing.T) {
	s, _ := openFull(t)
	s.Set(entry("new", "first"))
	if !onProbation(s, "new") {
		t.Fatal("it is not on probation")
	}
	before := s.Stats()
	s.Set(entry("new", "2"))
	if e := s.Get("new"); e == nil || e.Value != "2" || !onProbation(s, "new") {
		t.Errorf("replaced: %+v", e)
	}
	if got := s.Stats(); got.Entries != before.Entries || got.Bytes != before.Bytes-4 {
		t.Errorf("replaced: %+v, before %+v", got, before)
	}
	if got := s.Keys("group"); !slices.Contains(got, "new") || len(got) != int(before.Entries) {
		t.Errorf("keys of the group: %q", got)
	}
	if got := keysOf(s); !slices.Contains(got, "new") || len(got) != int(before.Entries) {
		t.Errorf("listed: %q", got)
	}
	s.Delete("new")
	if e := s.Get("new"); e != nil || slices.Contains(s.Keys("group"), "new") || slices.Contains(keysOf(s), "new") {
		t.Errorf("deleted: %+v", e)
	}
	s.Close()
	if got := s.Stats(); got.Entries != 0 || got.Bytes != 0 || len(s.Keys("group")) != 0 {
		t.Errorf("closed: %+v, %q", got, s.Keys("group"))
	}
}

// At the end of its probation an entry stays if it was requested again. Otherwise its fingerprint is stored,
// and the key is admitted at the next request.
func TestEndOfProbation(t *testing.T) {
	s, _ := openFull(t)
	s.Set(entry("once", "value"))
	s.Set(entry("again", "value"))
	s.Get("again")
	for i := 0; onProbation(s, "again"); i++ {
		s.Set(entry("other "+strconv.Itoa(i), "value"))
	}
	if s.Get("again") == nil || s.Get("once") != nil {
		t.Errorf("again: %v, once: %v", s.Get("again"), s.Get("once"))
	}
	s.Set(entry("once", "value"))
	if s.Get("once") == nil || onProbation(s, "once") {
		t.Error("a name that came back is on probation again")
	}
	settled(t, s)
	s.Delete("once")
	s.Delete("again")
	if s.Get("once") != nil || s.Get("again") != nil {
		t.Error("deleted entries are returned")
	}
}

// An entry that would fill the probation by itself skips it.
func TestLargeEntryIsNotOnProbation(t *testing.T) {
	s, _ := openFull(t)
	s.Set(entry("large", strings.Repeat("v", 1<<13)))
	if onProbation(s, "large") || s.Get("large") == nil {
		t.Error("it is on probation, or lost")
	}
}

// Get and Each find an entry exactly once while it moves.
func TestMovesAreAtomic(t *testing.T) {
	s, _ := openFull(t)
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			for i := range 2000 {
				key := strconv.Itoa(worker) + " " + strconv.Itoa(i)
				s.Set(entry(key, key))
				s.Get(key)
			}
		})
	}
	for range 50 {
		keys := keysOf(s)
		slices.Sort(keys)
		if n := len(keys); len(slices.Compact(keys)) != n {
			t.Fatalf("some of %d entries are listed twice", n)
		}
	}
	workers.Wait()
	settled(t, s)
	if got := s.Stats(); got.Bytes > 1<<16 || int(got.Entries) != len(keysOf(s)) ||
		int(got.Entries) != len(s.Keys("group")) {
		t.Errorf("%+v, and %d are listed, %d in the group", got, len(keysOf(s)), len(s.Keys("group")))
	}
}

// A read allocates nothing, even for an entry on probation.
func BenchmarkGetOnProbation(b *testing.B) {
	s, err := New(Config[string]{MaxBytes: 1 << 16, Size: func(text string) int { return len(text) }})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := 0; s.Stats().Evictions == 0; i++ {
		s.Set(entry(strconv.Itoa(i), "value"))
	}
	s.Set(entry("urn:ietf:rfc:2648", "value"))
	if _, ok := s.probation.elements["urn:ietf:rfc:2648"]; !ok {
		b.Fatal("it is not on probation")
	}
	settled(b, s)
	b.ReportAllocs()
	for b.Loop() {
		if s.Get("urn:ietf:rfc:2648") == nil {
			b.Fatal("the entry is gone")
		}
	}
}

// TestIsWorth checks that an entry needs one more request for each doubling of its size over the mean.
func TestIsWorth(t *testing.T) {
	var s Store[string]
	s.entries.Store(10)
	s.bytes.Store(10 * 1000)
	for _, tt := range []struct {
		requested int
		cost      int64
		want      bool
	}{
		{0, 1, false},
		{1, 1, true},
		{1, 2000, true},
		{1, 2001, false},
		{2, 4000, true},
		{2, 4001, false},
		{mostRequested, 1000 << mostRequested, true},
	} {
		if got := s.isWorth(tt.requested, tt.cost); got != tt.want {
			t.Errorf("%d bytes, asked for %d times: %t", tt.cost, tt.requested, got)
		}
	}
}
