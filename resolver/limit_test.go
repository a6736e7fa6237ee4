package resolver_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
)

// The slot is released after every outcome, including a panic, which the cache recovers.
func TestLimit(t *testing.T) {
	down, busy := errors.New("down"), errors.New("busy")
	slots := make(quota.Semaphore, 1)
	for name, tt := range map[string]struct {
		next resolver.Func
		err  error
	}{
		"an answer": {func(context.Context, resolver.Query) (resolver.Answer, error) {
			return located("http://1/", 1), nil
		}, nil},
		"a failure": {
			func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, down },
			down,
		},
		"a negative answer": {func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{}, unsupported("r", 1)
		}, resolver.ErrUnsupported},
		"a panic": {func(context.Context, resolver.Query) (resolver.Answer, error) { panic(down) }, down},
	} {
		limit := resolver.Limit{Semaphore: slots, Next: tt.next, Busy: busy}
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
		if !slots.TryAcquire() {
			t.Fatalf("%s: the slot is not released", name)
		}
		if _, err := ask(); !errors.Is(err, busy) {
			t.Errorf("%s while busy: %v", name, err)
		}
		slots.Release()
	}
}

func TestLimitConcurrency(t *testing.T) {
	const most = 3
	var running, answered, busy atomic.Int64
	var callers sync.WaitGroup
	full, end := make(chan struct{}), make(chan struct{})
	limit := resolver.Limit{
		Semaphore: make(quota.Semaphore, most),
		Next: resolver.Func(func(context.Context, resolver.Query) (resolver.Answer, error) {
			switch n := running.Add(1); {
			case n == most:
				close(full)
			case n > most:
				t.Errorf("%d are running", n)
			}
			<-end
			return located("http://1/", 1), nil
		}),
	}
	ask := func() {
		if _, err := limit.Resolve(t.Context(), query(t, "urn:example:a")); err == nil {
			answered.Add(1)
		} else if errors.Is(err, resolver.ErrBusy) {
			busy.Add(1)
		}
	}
	for range most {
		callers.Go(ask)
	}
	<-full
	for range 10 * most { // none of them blocks
		ask()
	}
	close(end)
	callers.Wait()
	if answered.Load() != most || busy.Load() != 10*most {
		t.Errorf("%d were answered, %d refused", answered.Load(), busy.Load())
	}
}

// limitedCache is a Limit behind Cached, with its own clock.
type limitedCache struct {
	*resolver.Cached
	slots quota.Semaphore
	now   time.Time
}

func newLimitedCache(t *testing.T, next resolver.Resolver) *limitedCache {
	t.Helper()
	s := &limitedCache{slots: make(quota.Semaphore, 1), now: time.Unix(1_800_000_000, 0)}
	answers := newAnswers(t, func() time.Time { return s.now }, nil)
	s.Cached = resolver.NewCached(answers.Cache, resolver.Limit{Semaphore: s.slots, Next: next}, nil)
	return s
}

// While all slots are taken the cache returns its entries, stale ones included, and does not store ErrBusy.
func TestLimitBehindTheCache(t *testing.T) {
	next := resolver.Func(func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		switch {
		case strings.HasSuffix(q.Key(), "missing"):
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "r", TTL: time.Minute}
		default:
			return located("http://1/", time.Minute), nil
		}
	})
	s := newLimitedCache(t, next)
	for i, tt := range []struct {
		after time.Duration
		busy  bool
		name  string
		err   error
		cache resolver.CacheState
	}{
		{0, false, "urn:example:a", nil, resolver.CacheMiss},
		{0, false, "urn:example:missing", resolver.ErrNotFound, resolver.CacheMiss},
		{time.Second, true, "urn:example:a", nil, resolver.CacheHit},
		{0, true, "urn:example:missing", resolver.ErrNotFound, resolver.CacheHit},
		{0, true, "urn:example:b", resolver.ErrBusy, resolver.CacheMiss},
		{0, true, "urn:example:b", resolver.ErrBusy, resolver.CacheMiss},
		{0, false, "urn:example:b", nil, resolver.CacheMiss},
		{0, true, "urn:example:b", nil, resolver.CacheHit},
		{2 * time.Minute, true, "urn:example:a", nil, resolver.CacheStale},
		{0, true, "urn:example:a", nil, resolver.CacheStale},
		{0, true, "urn:example:missing", resolver.ErrBusy, resolver.CacheMiss}, // negative answers are never stale
		{0, false, "urn:example:b", nil, resolver.CacheMiss},
		{time.Minute, false, "urn:example:a", nil, resolver.CacheMiss},
		{0, true, "urn:example:a", nil, resolver.CacheHit},
		{2 * time.Hour, true, "urn:example:a", resolver.ErrBusy, resolver.CacheMiss}, // too old
		{0, false, "urn:example:a", nil, resolver.CacheMiss},
	} {
		s.now = s.now.Add(tt.after)
		if tt.busy && !s.slots.TryAcquire() {
			t.Fatalf("%d. a slot is not released", i)
		}
		answer, err := s.Resolve(t.Context(), query(t, tt.name))
		if !errors.Is(err, tt.err) || answer.Cache != tt.cache || err == nil && answer.Locations[0].URI != "http://1/" {
			t.Errorf("%d. %s: %+v, %v", i, tt.name, answer, err)
		}
		if tt.busy {
			s.slots.Release()
		}
	}
}

// All callers that wait for one name take one slot.
func TestLimitOfOneName(t *testing.T) {
	resolving, end := make(chan struct{}), make(chan struct{})
	s := newLimitedCache(t, resolver.Func(func(context.Context, resolver.Query) (resolver.Answer, error) {
		close(resolving)
		<-end
		return located("http://1/", time.Minute), nil
	}))
	var callers sync.WaitGroup
	ask := func() {
		if answer, err := s.Resolve(t.Context(), query(t, "urn:example:a")); err != nil ||
			answer.Locations[0].URI != "http://1/" {
			t.Errorf("%+v, %v", answer, err)
		}
	}
	callers.Go(ask)
	<-resolving
	for range 10 {
		callers.Go(ask)
	}
	if _, err := s.Resolve(t.Context(), query(t, "urn:example:b")); !errors.Is(err, resolver.ErrBusy) {
		t.Errorf("another name: %v", err)
	}
	close(end)
	callers.Wait()
	if !s.slots.TryAcquire() {
		t.Error("a slot is not released")
	}
}

// A cancelled query releases its slot.
func TestLimitReleasesOnCancel(t *testing.T) {
	s := newLimitedCache(t, resolver.Func(func(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
		<-ctx.Done()
		return resolver.Answer{}, ctx.Err()
	}))
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Resolve(ctx, query(t, "urn:example:a")); err == nil {
			t.Error("an answer despite the cancellation")
		}
	}
	testserver.Wait(t, "the slot is free", s.slots.TryAcquire)
}
