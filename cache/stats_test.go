package cache_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
)

func TestStats(t *testing.T) {
	now := time.Unix(0, 0)
	c, err := cache.New(cache.Config[string]{
		MaxBytes: 1 << 20, Size: func(s string) int { return len(s) }, Now: func() time.Time { return now },
		StaleFor: time.Hour, RetryAfter: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	get := func(key string, ttl time.Duration, failure error) {
		_, _ = c.Get(t.Context(), key, func(context.Context) (string, time.Duration, error) { return "value", ttl, failure })
	}
	get("a", time.Minute, nil)                   // a miss
	get("a", time.Minute, nil)                   // a hit
	get("b", time.Minute, errors.New("no"))      // a miss, which is remembered
	get("b", time.Minute, nil)                   // a negative hit
	get("c", 0, errors.New("failing"))           // a failure
	get("d", cache.NoStore, nil)                 // a miss
	now = now.Add(time.Hour)                     // all are past
	get("a", 0, errors.New("failing"))           // stale
	get("a", time.Minute, errors.New("unasked")) // stale still: it rests
	s := c.Stats()
	if want := (cache.Stats{Hits: 1, Negative: 1, Stale: 2, Misses: 3, Failures: 1, Entries: 2, Bytes: s.Bytes}); s != want || s.Bytes < 500 {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

// What a cache says it holds is what it holds, whatever made room.
func TestStatsOfAFullCache(t *testing.T) {
	const size = 64 << 10
	c, err := cache.New(cache.Config[int]{MaxBytes: size, Size: func(int) int { return 0 }, Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		_, _ = c.Get(t.Context(), fmt.Sprint(i%1500), func(context.Context) (int, time.Duration, error) { return i, time.Hour, nil })
	}
	if s := c.Stats(); s.Bytes > size || s.Bytes < size/2 || s.Entries < 50 || s.Evictions == 0 {
		t.Errorf("full: %+v", s)
	}
	c.Close()
	if s := c.Stats(); s.Bytes != 0 || s.Entries != 0 {
		t.Errorf("closed: %+v", s)
	}
}
