package resolver_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
)

func TestSlots(t *testing.T) {
	slots := make(resolver.Slots, 2)
	for i, free := range []bool{true, true, false, false} {
		if slots.Take() != free {
			t.Errorf("slot %d: %v", i, !free)
		}
	}
	slots.Leave()
	for i, free := range []bool{true, false} {
		if slots.Take() != free {
			t.Errorf("slot %d, after one is given back: %v", i, !free)
		}
	}
	var none resolver.Slots
	if none.Take() {
		t.Error("there is one of none")
	}
}

// Whatever comes of a question, its slot is given back; a panic is caught by the cache.
func TestLimit(t *testing.T) {
	down, busy := errors.New("down"), errors.New("busy")
	slots := make(resolver.Slots, 1)
	for name, tt := range map[string]struct {
		next resolver.Func
		err  error
	}{
		"an answer": {func(context.Context, resolver.Query) (resolver.Answer, error) { return located("http://1/", 1), nil }, nil},
		"a failure": {func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, down }, down},
		"a no": {func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{}, unsupported("r", 1)
		}, resolver.ErrUnsupported},
		"a panic": {func(context.Context, resolver.Query) (resolver.Answer, error) { panic(down) }, down},
	} {
		limit := resolver.Limit{Slots: slots, Next: tt.next, Busy: busy}
		ask := func() (answer resolver.Answer, err error) {
			defer func() {
				if p, ok := recover().(error); ok {
					err = p
				}
			}()
			return limit.Resolve(t.Context(), query(t, "urn:example:a"))
		}
		if answer, err := ask(); !errors.Is(err, tt.err) || err == nil && answer.Locations[0].URI != "http://1/" {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
		if !slots.Take() {
			t.Fatalf("%s keeps its slot", name)
		}
		if _, err := ask(); !errors.Is(err, busy) {
			t.Errorf("%s while busy: %v", name, err)
		}
		slots.Leave()
	}
}

func TestLimitAtOnce(t *testing.T) {
	const most = 3
	var running, answered, busy atomic.Int64
	var all sync.WaitGroup
	full, end := make(chan struct{}), make(chan struct{})
	limit := resolver.Limit{Slots: make(resolver.Slots, most), Next: resolver.Func(func(context.Context, resolver.Query) (resolver.Answer, error) {
		switch n := running.Add(1); {
		case n == most:
			close(full)
		case n > most:
			t.Errorf("%d are under way", n)
		}
		<-end
		return located("http://1/", 1), nil
	})}
	ask := func() {
		if _, err := limit.Resolve(t.Context(), query(t, "urn:example:a")); err == nil {
			answered.Add(1)
		} else if errors.Is(err, resolver.ErrBusy) {
			busy.Add(1)
		}
	}
	for range most {
		all.Go(ask)
	}
	<-full
	for range 10 * most { // none of them waits
		ask()
	}
	close(end)
	all.Wait()
	if answered.Load() != most || busy.Load() != 10*most {
		t.Errorf("%d are answered, %d refused", answered.Load(), busy.Load())
	}
}

// shed is a Limit behind Cached, with a clock of its own.
type shed struct {
	*resolver.Cached
	slots resolver.Slots
	now   time.Time
}

func newShed(t *testing.T, next resolver.Resolver) *shed {
	t.Helper()
	s := &shed{slots: make(resolver.Slots, 1), now: time.Unix(1_800_000_000, 0)}
	answers := newAnswers(t, func() time.Time { return s.now }, nil)
	s.Cached = resolver.NewCached(answers.Cache, resolver.Limit{Slots: s.slots, Next: next})
	return s
}

// The cache answers what it knows while all slots are taken, stale answers too, and does
// not remember that it was busy.
func TestLimitBehindTheCache(t *testing.T) {
	next := resolver.Func(func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		switch {
		case strings.HasSuffix(q.Key(), "no"):
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "r", TTL: time.Minute}
		default:
			return located("http://1/", time.Minute), nil
		}
	})
	s := newShed(t, next)
	for i, tt := range []struct {
		after time.Duration
		busy  bool
		name  string
		err   error
		cache resolver.CacheState
	}{
		{0, false, "urn:example:a", nil, resolver.CacheMiss},
		{0, false, "urn:example:no", resolver.ErrNotFound, resolver.CacheMiss},
		{time.Second, true, "urn:example:a", nil, resolver.CacheHit},
		{0, true, "urn:example:no", resolver.ErrNotFound, resolver.CacheHit},
		{0, true, "urn:example:b", resolver.ErrBusy, resolver.CacheMiss},
		{0, true, "urn:example:b", resolver.ErrBusy, resolver.CacheMiss},
		{0, false, "urn:example:b", nil, resolver.CacheMiss},
		{0, true, "urn:example:b", nil, resolver.CacheHit},
		{2 * time.Minute, true, "urn:example:a", nil, resolver.CacheStale},
		{0, true, "urn:example:a", nil, resolver.CacheStale},
		{0, true, "urn:example:no", resolver.ErrBusy, resolver.CacheMiss}, // a "no" is not served stale
		{0, false, "urn:example:b", nil, resolver.CacheMiss},
		{time.Minute, false, "urn:example:a", nil, resolver.CacheMiss},
		{0, true, "urn:example:a", nil, resolver.CacheHit},
		{2 * time.Hour, true, "urn:example:a", resolver.ErrBusy, resolver.CacheMiss}, // too old
		{0, false, "urn:example:a", nil, resolver.CacheMiss},
	} {
		s.now = s.now.Add(tt.after)
		if tt.busy && !s.slots.Take() {
			t.Fatalf("%d. a slot is kept", i)
		}
		answer, err := s.Resolve(t.Context(), query(t, tt.name))
		if !errors.Is(err, tt.err) || answer.Cache != tt.cache || err == nil && answer.Locations[0].URI != "http://1/" {
			t.Errorf("%d. %s: %+v, %v", i, tt.name, answer, err)
		}
		if tt.busy {
			s.slots.Leave()
		}
	}
}

// All who wait for one name take one slot.
func TestLimitOfOneName(t *testing.T) {
	asked, end := make(chan struct{}), make(chan struct{})
	s := newShed(t, resolver.Func(func(context.Context, resolver.Query) (resolver.Answer, error) {
		close(asked)
		<-end
		return located("http://1/", time.Minute), nil
	}))
	var all sync.WaitGroup
	ask := func() {
		if answer, err := s.Resolve(t.Context(), query(t, "urn:example:a")); err != nil || answer.Locations[0].URI != "http://1/" {
			t.Errorf("%+v, %v", answer, err)
		}
	}
	all.Go(ask)
	<-asked
	for range 10 {
		all.Go(ask)
	}
	if _, err := s.Resolve(t.Context(), query(t, "urn:example:b")); !errors.Is(err, resolver.ErrBusy) {
		t.Errorf("another name: %v", err)
	}
	close(end)
	all.Wait()
	if !s.slots.Take() {
		t.Error("a slot is kept")
	}
}

// Who gives up leaves no slot behind.
func TestLimitOfWhoLeaves(t *testing.T) {
	s := newShed(t, resolver.Func(func(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
		<-ctx.Done()
		return resolver.Answer{}, ctx.Err()
	}))
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Resolve(ctx, query(t, "urn:example:a")); err == nil {
			t.Error("an answer of nobody")
		}
	}
	testserver.Wait(t, "the slot is free", s.slots.Take)
}
