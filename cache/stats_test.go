package cache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
)

func TestStats(t *testing.T) {
	now := time.Unix(0, 0)
	c, _ := newCacheAndStore(t, func() time.Time { return now }, nil)
	get := func(key string, ttl time.Duration, failure error) {
		_, _ = c.Get(t.Context(), key,
			func(context.Context) (string, time.Duration, error) { return "value", ttl, failure })
	}
	get("a", time.Minute, nil)                      // a miss
	get("a", time.Minute, nil)                      // a hit
	get("b", time.Minute, errors.New("not found"))  // a miss, which is stored
	get("b", time.Minute, nil)                      // a negative hit
	get("c", 0, errors.New("failing"))              // a failure
	get("d", cache.NoStore, nil)                    // a miss
	now = now.Add(time.Hour)                        // all have expired
	get("a", 0, errors.New("failing"))              // stale
	get("a", time.Minute, errors.New("not loaded")) // still stale, in backoff
	s := c.Stats()
	if want := (cache.Stats{Hits: 1, Negative: 1, Stale: 2, Misses: 3, Failures: 1}); s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
}
