package cache

import (
	"context"
	"testing"
	"time"
	"unsafe"
)

// setBack returns t as time.Now would return it after the system clock was set back: with another wall clock,
// and the same monotonic clock. Package time cannot create such a time.
func setBack(t time.Time, seconds uint64) time.Time {
	type layout struct { // of time.Time with a monotonic clock
		wall uint64 // 1 bit, 33 bits of seconds, 30 bits of nanoseconds
		_    int64
		_    *time.Location
	}
	(*layout)(unsafe.Pointer(&t)).wall -= seconds << 30
	return t
}

// The lifetime of an entry follows the monotonic clock; setting the system clock does not change it.
func TestSystemClockIsSet(t *testing.T) {
	const year = 365 * 24 * 3600
	start := time.Now()
	if moved := setBack(start, year); start.Unix()-moved.Unix() != year || moved.Sub(start) != 0 {
		t.Fatalf("the layout of time.Time has changed: %s, %s", start, moved)
	}
	for name, set := range map[string]func(time.Time) time.Time{
		"back":    func(at time.Time) time.Time { return setBack(at, year) },
		"forward": func(at time.Time) time.Time { return setBack(at, -year&(1<<34-1)) },
	} {
		at := start
		c := New(Config[string]{Store: new(mapStore), Now: func() time.Time { return at }})
		loads := 0
		get := func() Result[string] {
			result, err := c.Get(t.Context(), "key", func(context.Context) (string, time.Duration, error) {
				loads++
				return "value", time.Minute, nil
			})
			if err != nil {
				t.Error(err)
			}
			return result
		}
		get()
		at = set(start.Add(59 * time.Second))
		if got := get(); got.Status != Hit || got.TTL != time.Second || got.Age != 59*time.Second {
			t.Errorf("%s: while it is fresh: %+v", name, got)
		}
		at = set(start.Add(61 * time.Second))
		if got := get(); got.Status != Miss || loads != 2 {
			t.Errorf("%s: afterwards: %+v, %d loads", name, got, loads)
		}
		c.Close()
	}
}
