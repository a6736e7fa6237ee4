package cache

import (
	"context"
	"errors"
	"testing"
	"time"
)

// After a failed load no load is tried for RetryAfter, even while the value is fresh.
func TestRefreshBackoff(t *testing.T) {
	now := time.Unix(0, 0)
	c := New(Config[string]{
		Store: new(mapStore), Now: func() time.Time { return now },
		RefreshAhead: true, StaleFor: time.Hour, RetryAfter: time.Minute,
	})
	defer c.Close()
	loads := 0
	load := func(context.Context) (string, time.Duration, error) {
		if loads++; loads == 1 {
			return "v", 1000 * time.Second, nil
		}
		return "", 0, errors.New("source is down")
	}
	get := func(want int) {
		t.Helper()
		if got, err := c.Get(t.Context(), "key", load); err != nil || got.Value != "v" {
			t.Errorf("got %+v, %v", got, err)
		}
		c.running.Wait() // a refresh in the background
		if loads != want {
			t.Errorf("%d loads, want %d", loads, want)
		}
	}
	get(1)
	now = now.Add(910 * time.Second)
	get(2)
	for range 10 {
		get(2)
	}
	now = now.Add(time.Minute)
	get(3)
}
