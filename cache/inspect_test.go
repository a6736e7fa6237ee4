package cache_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
)

// peek returns the entry of a key.
func peek(c *cache.Cache[string], key string) (found cache.Entry[string], ok bool) {
	c.Each(func(e cache.Entry[string]) bool {
		if e.Key == key {
			found, ok = e, true
		}
		return !ok
	})
	return found, ok
}

func TestInspect(t *testing.T) {
	now := time.Unix(0, 0)
	c, err := cache.New(cache.Config[string]{
		MaxBytes: 1 << 20, Size: func(s string) int { return len(s) }, Now: func() time.Time { return now }, StaleFor: time.Hour, RetryAfter: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	failing := errors.New("failing")
	load := func(value string, ttl time.Duration, err error) cache.Load[string] {
		return func(context.Context) (string, time.Duration, error) { return value, ttl, err }
	}
	for _, key := range []string{"urn:a:1", "urn:a:2", "urn:b:1"} {
		_, _ = c.Get(t.Context(), key, load(key, time.Minute, nil))
	}
	_, _ = c.Get(t.Context(), "urn:b:2", load("", time.Minute, failing))
	keys := func() string {
		var all []string
		c.Each(func(e cache.Entry[string]) bool { all = append(all, e.Key); return true })
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	if got := keys(); got != "urn:a:1 urn:a:2 urn:b:1 urn:b:2" {
		t.Errorf("each: %s", got)
	}
	if e, ok := peek(c, "urn:b:2"); !ok || !errors.Is(e.Err, failing) || e.TTL != time.Minute {
		t.Errorf("peek: %+v, %t", e, ok)
	}
	in := func(prefix string) func(string) bool {
		return func(key string) bool { return strings.HasPrefix(key, prefix) }
	}
	if n := c.Purge(in("urn:a:"), false); n != 2 || keys() != "urn:b:1 urn:b:2" {
		t.Errorf("purged %d, left %s", n, keys())
	}
	// Softly: what fails to load serves on, a "no" is gone.
	if n := c.Purge(in("urn:b:"), true); n != 2 || keys() != "urn:b:1" {
		t.Errorf("purged %d softly, left %s", n, keys())
	}
	if got, err := c.Get(t.Context(), "urn:b:1", load("", 0, failing)); err != nil || got.Status != cache.Stale || got.Value != "urn:b:1" {
		t.Errorf("after a soft purge: %+v, %v", got, err)
	}
	c.Seed("urn:b:1", "other", time.Hour)
	c.Seed("urn:c:1", "seeded", time.Hour)
	c.Seed("urn:c:2", "past", 0)
	if got := keys(); got != "urn:b:1 urn:c:1" {
		t.Errorf("after seeds: %s", got)
	}
	if e, _ := peek(c, "urn:b:1"); e.Value != "urn:b:1" {
		t.Errorf("a seed took the place of %+v", e)
	}
}
