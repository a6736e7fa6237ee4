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

func TestPurge(t *testing.T) {
	now := time.Unix(0, 0)
	c, store := newCacheAndStore(t, func() time.Time { return now }, nil)
	failing := errors.New("failing")
	load := func(value string, ttl time.Duration, err error) cache.LoadFunc[string] {
		return func(context.Context) (string, time.Duration, error) { return value, ttl, err }
	}
	for _, key := range []string{"urn:a:1", "urn:a:2", "urn:b:1"} {
		_, _ = c.Get(t.Context(), key, load(key, time.Minute, nil))
	}
	_, _ = c.Get(t.Context(), "urn:b:2", load("", time.Minute, failing))
	keys := func() string {
		var all []string
		store.Each(func(e *cache.Entry[string]) bool { all = append(all, e.Key); return true })
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	if got := keys(); got != "urn:a:1 urn:a:2 urn:b:1 urn:b:2" {
		t.Errorf("each: %s", got)
	}
	if e := c.Lookup("urn:b:2"); e == nil || !errors.Is(e.Err(), failing) || c.TTL(e) != time.Minute {
		t.Errorf("lookup: %+v", e)
	}
	in := func(prefix string) func(string) bool {
		return func(key string) bool { return strings.HasPrefix(key, prefix) }
	}
	if purged := c.PurgeAll(store, in("urn:a:"), false); len(purged) != 2 || keys() != "urn:b:1 urn:b:2" {
		t.Errorf("purged %q, left %s", purged, keys())
	}
	// A soft purge retains values as stale, and removes negative entries.
	if purged := c.PurgeAll(store, in("urn:b:"), true); len(purged) != 2 || keys() != "urn:b:1" {
		t.Errorf("purged %q softly, left %s", purged, keys())
	}
	if got, err := c.Get(t.Context(), "urn:b:1", load("", 0, failing)); err != nil || got.Status != cache.Stale ||
		got.Value != "urn:b:1" {
		t.Errorf("after a soft purge: %+v, %v", got, err)
	}
	c.Seed("urn:b:1", "other", time.Hour)
	c.Seed("urn:c:1", "seeded", time.Hour)
	c.Seed("urn:c:2", "past", 0)
	if got := keys(); got != "urn:b:1 urn:c:1" {
		t.Errorf("after seeds: %s", got)
	}
	if e := c.Lookup("urn:b:1"); e.Value != "urn:b:1" {
		t.Errorf("a seed replaced the entry: %+v", e)
	}
	for key, stored := range map[string]bool{"urn:c:1": true, "urn:c:2": false} {
		if c.Purge(key, false) != stored || c.Lookup(key) != nil {
			t.Errorf("purging %s: want %t", key, stored)
		}
	}
}
