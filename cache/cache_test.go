package cache_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
)

var errSource = errors.New("source is down")

// clock is a clock that a test advances.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

func newCache(t testing.TB, c *clock, change func(*cache.Config[string])) *cache.Cache[string] {
	t.Helper()
	made, _ := newCacheAndStore(t, c.now, change)
	return made
}

// newCacheAndStore returns a cache and its store.
func newCacheAndStore(
	t testing.TB, now func() time.Time, change func(*cache.Config[string]),
) (*cache.Cache[string], *memory.Store[string]) {
	t.Helper()
	store, err := memory.New(memory.Config[string]{MaxBytes: 1 << 20, Size: func(s string) int { return len(s) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	config := cache.Config[string]{Store: store, Now: now, StaleFor: time.Hour, RetryAfter: time.Minute}
	if change != nil {
		change(&config)
	}
	made := cache.New(config)
	t.Cleanup(made.Close)
	return made, store
}

// source is a load that counts its calls.
type source struct {
	value string
	ttl   time.Duration
	err   error
	calls int
}

func (s *source) load(context.Context) (string, time.Duration, error) {
	s.calls++
	return s.value, s.ttl, s.err
}

func expect(t *testing.T, c *cache.Cache[string], s *source, want cache.Result[string], wantErr error, calls int) {
	t.Helper()
	got, err := c.Get(t.Context(), "key", s.load)
	if got != want || !errors.Is(err, wantErr) || s.calls != calls {
		t.Errorf("got %+v, %v after %d loads; want %+v, %v after %d", got, err, s.calls, want, wantErr, calls)
	}
}

func TestExpiry(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	s := &source{value: "v", ttl: 10 * time.Second}
	expect(t, c, s, cache.Result[string]{Value: "v", Status: cache.Miss, TTL: 10 * time.Second}, nil, 1)
	now.advance(9 * time.Second)
	expect(t, c, s, cache.Result[string]{Value: "v", Status: cache.Hit, TTL: time.Second, Age: 9 * time.Second}, nil, 1)
	now.advance(time.Second)
	s.value = "w"
	expect(t, c, s, cache.Result[string]{Value: "w", Status: cache.Miss, TTL: 10 * time.Second}, nil, 2)
}

func TestZeroTTLIsNotStored(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	s := &source{value: "v"}
	expect(t, c, s, cache.Result[string]{Value: "v"}, nil, 1)
	expect(t, c, s, cache.Result[string]{Value: "v"}, nil, 2)
}

// An outcome that must not be stored replaces the stored entry, which must not be returned when the source
// fails later.
func TestNoStore(t *testing.T) {
	for _, err := range []error{nil, errSource} {
		var now clock
		c := newCache(t, &now, nil)
		s := &source{value: "v", ttl: 10 * time.Second}
		expect(t, c, s, cache.Result[string]{Value: "v", TTL: 10 * time.Second}, nil, 1)
		now.advance(10 * time.Second)
		s.ttl, s.err = cache.NoStore, err
		expect(t, c, s, cache.Result[string]{Value: "v"}, err, 2)
		s.ttl, s.err = 0, errSource
		expect(t, c, s, cache.Result[string]{}, errSource, 3)
	}
}

func TestNegativeEntry(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	s := &source{err: errSource, ttl: 5 * time.Second}
	expect(t, c, s, cache.Result[string]{Status: cache.Miss, TTL: 5 * time.Second}, errSource, 1)
	expect(t, c, s, cache.Result[string]{Status: cache.Hit, TTL: 5 * time.Second}, errSource, 1)
	now.advance(5 * time.Second)
	s.ttl = 0
	expect(t, c, s, cache.Result[string]{}, errSource, 2)
	expect(t, c, s, cache.Result[string]{}, errSource, 3)
}

// RFC 8767 sections 4 and 5: a stale value is returned when the source fails, with a backoff between loads, but
// not after StaleFor.
func TestStale(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	s := &source{value: "v", ttl: 10 * time.Second}
	expect(t, c, s, cache.Result[string]{Value: "v", TTL: 10 * time.Second}, nil, 1)
	now.advance(15 * time.Second)
	s.ttl, s.err = 0, errSource
	expect(t, c, s, cache.Result[string]{Value: "v", Status: cache.Stale, TTL: -5 * time.Second, Age: 15 * time.Second},
		nil, 2)
	expect(t, c, s, cache.Result[string]{Value: "v", Status: cache.Stale, TTL: -5 * time.Second, Age: 15 * time.Second},
		nil, 2)
	now.advance(time.Minute)
	expect(t, c, s, cache.Result[string]{
		Value: "v", Status: cache.Stale, TTL: -65 * time.Second,
		Age: 75 * time.Second,
	}, nil, 3)
	now.advance(time.Hour)
	expect(t, c, s, cache.Result[string]{}, errSource, 4)
	s.ttl, s.err = 10*time.Second, nil
	expect(t, c, s, cache.Result[string]{Value: "v", TTL: 10 * time.Second}, nil, 5)
}

func TestConcurrentCallersShareOneLoad(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	var calls, misses atomic.Int32
	release := make(chan struct{})
	load := func(context.Context) (string, time.Duration, error) {
		calls.Add(1)
		<-release
		return "v", time.Hour, nil
	}
	var started, done sync.WaitGroup
	for range 1000 {
		started.Add(1)
		done.Go(func() {
			started.Done()
			got, err := c.Get(t.Context(), "key", load)
			if err != nil || got.Value != "v" {
				t.Errorf("got %+v, %v", got, err)
			}
			if got.Status == cache.Miss {
				misses.Add(1)
			}
		})
	}
	started.Wait()
	close(release)
	done.Wait()
	if calls.Load() != 1 || misses.Load() != 1 {
		t.Errorf("%d loads and %d misses, want 1 and 1", calls.Load(), misses.Load())
	}
}

// A load continues without its first caller while others wait, and is cancelled when the last caller leaves.
func TestLoadOutlivesItsFirstCaller(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	loading, release := make(chan struct{}), make(chan struct{})
	load := func(ctx context.Context) (string, time.Duration, error) {
		close(loading)
		select {
		case <-release:
			return "v", time.Hour, nil
		case <-ctx.Done():
			return "", 0, ctx.Err()
		}
	}
	firstCtx, leave := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := c.Get(firstCtx, "key", load)
		first <- err
	}()
	<-loading
	second := make(chan error, 1)
	secondCtx := &signalling{Context: t.Context(), waiting: make(chan struct{})}
	go func() {
		got, err := c.Get(secondCtx, "key", load)
		if got.Value != "v" || got.Status != cache.Collapsed {
			err = errors.Join(err, errors.New("the second caller did not get the value of the first one's load"))
		}
		second <- err
	}()
	<-secondCtx.waiting // the second caller waits
	leave()
	close(release)
	if err := <-second; err != nil {
		t.Error(err)
	}
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("first caller: %v", err)
	}
}

// signalling is a context that signals the first call of Done.
type signalling struct {
	context.Context
	once    sync.Once
	waiting chan struct{}
}

func (s *signalling) Done() <-chan struct{} {
	s.once.Do(func() { close(s.waiting) })
	return s.Context.Done()
}

func TestLoadEndsWithItsLastWaiter(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	loading, cancelled := make(chan struct{}), make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-loading
		leave()
	}()
	_, err := c.Get(ctx, "key", func(ctx context.Context) (string, time.Duration, error) {
		close(loading)
		<-ctx.Done()
		close(cancelled)
		return "", 0, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-cancelled
	s := &source{value: "v", ttl: time.Hour}
	expect(t, c, s, cache.Result[string]{Value: "v", TTL: time.Hour}, nil, 1)
}

func TestLoadTimeout(t *testing.T) {
	var now clock
	c := newCache(t, &now, func(config *cache.Config[string]) { config.LoadTimeout = time.Millisecond })
	_, err := c.Get(t.Context(), "key", func(ctx context.Context) (string, time.Duration, error) {
		<-ctx.Done()
		return "", 0, ctx.Err()
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestPanicFailsOneLoad(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	_, err := c.Get(t.Context(), "key", func(context.Context) (string, time.Duration, error) { panic("boom") })
	if err == nil {
		t.Fatal("no error")
	}
	s := &source{value: "v", ttl: time.Hour}
	expect(t, c, s, cache.Result[string]{Value: "v", TTL: time.Hour}, nil, 1)
}

func TestClosed(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	loading := make(chan struct{})
	got := make(chan error, 1)
	go func() {
		_, err := c.Get(context.Background(), "key", func(ctx context.Context) (string, time.Duration, error) {
			close(loading)
			<-ctx.Done()
			return "", 0, ctx.Err()
		})
		got <- err
	}()
	<-loading
	c.Close()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller of a cancelled load got %v", err)
	}
	if _, err := c.Get(t.Context(), "other", (&source{}).load); !errors.Is(err, cache.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A cancelled load does not count as a failure of the source.
func TestCancelledLoadStartsNoBackoff(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	s := &source{value: "v", ttl: 10 * time.Second}
	expect(t, c, s, cache.Result[string]{Value: "v", TTL: 10 * time.Second}, nil, 1)
	now.advance(15 * time.Second)
	loading := make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-loading
		leave()
	}()
	ended := make(chan struct{})
	_, err := c.Get(ctx, "key", func(ctx context.Context) (string, time.Duration, error) {
		defer close(ended)
		close(loading)
		<-ctx.Done()
		return "", 0, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-ended
	expect(t, c, s, cache.Result[string]{Value: "v", TTL: 10 * time.Second}, nil, 2)
}

// Renew does not join a load that Get started, whose outcome may come from another cache.
func TestRenewStartsItsOwnLoad(t *testing.T) {
	var now clock
	c := newCache(t, &now, nil)
	started, finish := make(chan struct{}), make(chan struct{})
	old := make(chan cache.Result[string], 1)
	go func() {
		result, _ := c.Get(context.Background(), "key", func(context.Context) (string, time.Duration, error) {
			close(started)
			<-finish
			return "old", time.Hour, nil
		})
		old <- result
	}()
	<-started
	result, err := c.Renew(t.Context(), "key",
		func(context.Context) (string, time.Duration, error) { return "new", time.Hour, nil })
	if result.Value != "new" || err != nil {
		t.Errorf("renewed: %+v, %v", result, err)
	}
	close(finish)
	if result := <-old; result.Value != "old" {
		t.Errorf("the other caller: %+v", result)
	}
	if result, ok, err := c.Hit("key"); !ok || result.Value != "new" || err != nil {
		t.Errorf("stored: %+v, %v", result, err)
	}
}
