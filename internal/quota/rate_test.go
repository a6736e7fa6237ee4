package quota_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/quota"
)

// clock is a clock that a test sets.
type clock struct{ nanoseconds atomic.Int64 }

func (c *clock) now() time.Time      { return time.Unix(1_800_000_000, c.nanoseconds.Load()) }
func (c *clock) set(d time.Duration) { c.nanoseconds.Store(int64(d)) }

func TestRate(t *testing.T) {
	c := new(clock)
	r := quota.NewRate(2, 0, c.now)
	for i, tt := range []struct {
		at      time.Duration
		allowed bool
	}{
		{0, true},
		{0, true},
		{0, false},
		{499 * time.Millisecond, false},
		{500 * time.Millisecond, true},
		{500 * time.Millisecond, false},
		{999 * time.Millisecond, false},
		{time.Second, true},
		{time.Hour, true}, // unused requests do not accumulate
		{time.Hour, true},
		{time.Hour, false},
		{0, false}, // nor if the clock is set back
		{time.Hour + time.Second, true},
	} {
		c.set(tt.at)
		if r.Allow(address("192.0.2.1")) != tt.allowed {
			t.Errorf("%d, after %s: %v", i, tt.at, !tt.allowed)
		}
	}
	var none *quota.Rate
	for range 100 {
		if !none.Allow(address("192.0.2.1")) {
			t.Fatal("nil is a bound")
		}
	}
}

func TestRateConcurrently(t *testing.T) {
	for _, perSecond := range []int{1, 3, 7, 100, 999, 1000} {
		r := quota.NewRate(perSecond, 1, new(clock).now)
		var allowed atomic.Int64
		var clients sync.WaitGroup
		for range 8 {
			clients.Go(func() {
				for range perSecond {
					if r.Allow(address("203.0.113.1")) {
						allowed.Add(1)
					}
				}
			})
		}
		clients.Wait()
		if got := allowed.Load(); got != int64(perSecond) {
			t.Errorf("%d of %d are allowed", got, perSecond)
		}
	}
}
