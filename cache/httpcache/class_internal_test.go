package httpcache

import (
	"strconv"
	"testing"
	"time"
)

// The kinds of requests that do not wait for each other are bounded, and those of the normal spelling stay.
func TestKindsAreBounded(t *testing.T) {
	now := time.Now()
	var e *Entry
	e = e.alone(kind{}, now, now.Add(time.Minute))
	for i := range 10 * maxKinds {
		before := e
		e = e.alone(kind{spelling: strconv.Itoa(i)}, now, now.Add(time.Hour+time.Duration(i)))
		if len(e.uncollapsed) > maxKinds || e.uncollapsed[kind{}].IsZero() || before.uncollapsed[kind{spelling: strconv.Itoa(i)}] != (time.Time{}) {
			t.Fatalf("%d: %d kinds", i, len(e.uncollapsed))
		}
	}
	if e = e.alone(kind{cookie: true}, now.Add(2*time.Hour), now.Add(3*time.Hour)); len(e.uncollapsed) != 1 {
		t.Errorf("%d kinds whose time has passed", len(e.uncollapsed)-1)
	}
}
