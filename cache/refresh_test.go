package cache_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
)

// A Get in the last tenth of the lifetime starts one reload, and returns the old value until it ends.
func TestRefreshAhead(t *testing.T) {
	var now clock
	c := newCache(t, &now, func(c *cache.Config[string]) { c.RefreshAhead = true })
	var loads atomic.Int32
	release, loaded := make(chan struct{}), make(chan struct{}, 10)
	load := func(context.Context) (string, time.Duration, error) {
		defer func() { loaded <- struct{}{} }()
		if loads.Add(1) > 1 {
			<-release
			return "new", 100 * time.Second, nil
		}
		return "old", 100 * time.Second, nil
	}
	get := func(want string, ttl time.Duration) {
		t.Helper()
		if got, err := c.Get(t.Context(), "key", load); err != nil || got.Value != want || got.TTL != ttl {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	get("old", 100*time.Second)
	<-loaded
	now.advance(90 * time.Second)
	get("old", 10*time.Second)
	if n := loads.Load(); n != 1 {
		t.Errorf("loaded %d times before the last tenth", n)
	}
	now.advance(time.Second)
	get("old", 9*time.Second)
	get("old", 9*time.Second)
	close(release)
	<-loaded
	// The value is stored shortly after the load returns.
	for got := "old"; got != "new"; {
		result, err := c.Get(t.Context(), "key", load)
		if err != nil {
			t.Fatal(err)
		}
		got = result.Value
	}
	if n := loads.Load(); n != 2 {
		t.Errorf("loaded %d times", n)
	}
}
