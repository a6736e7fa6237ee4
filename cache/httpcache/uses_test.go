package httpcache

import (
	"math/bits"
	"sync"
	"testing"
	"time"
)

// TestUses: an interval with uses counts once, for as long as it is remembered.
func TestUses(t *testing.T) {
	const at = 1000
	for _, test := range []struct {
		name  string
		uses  []uint32
		until uint32
		want  int
	}{
		{"none", nil, at, 0},
		{"one", []uint32{at}, at, 1},
		{"many at a time", []uint32{at, at, at}, at, 1},
		{"two", []uint32{at, at + 1}, at + 1, 2},
		{"the last that is remembered", []uint32{at}, at + useIntervals - 1, 1},
		{"it is forgotten", []uint32{at}, at + useIntervals, 0},
		{"long ago", []uint32{at}, at + 1<<20, 0},
		{"one of two is forgotten", []uint32{at, at + 9}, at + useIntervals, 1},
		{"the clock is set back", []uint32{at, at - 5}, at - 5, 1},
		{"as the world began", []uint32{0, 0}, 0, 1},
	} {
		var u uses
		for _, interval := range test.uses {
			u.add(interval)
		}
		if got, which := u.until(test.until); got != test.want || bits.OnesCount32(which) != got {
			t.Errorf("%s: %d, %b", test.name, got, which)
		}
	}
	var none *uses
	none.add(at)
	if got, _ := none.until(at); got != 0 {
		t.Errorf("none: %d", got)
	}
}

// TestInheritedUses: what replaces a response has been used as that was.
func TestInheritedUses(t *testing.T) {
	var before, after uses
	for i := range uint32(5) {
		before.add(100 + 2*i)
	}
	after.add(109)
	after.inherit(&before)
	after.inherit(&after)
	after.inherit(nil)
	if got, _ := after.until(109); got != 6 {
		t.Errorf("%d intervals", got)
	}
	var fresh uses
	fresh.inherit(&before)
	if got, _ := fresh.until(108); got != 5 {
		t.Errorf("%d intervals", got)
	}
}

// TestUsesAtATime: concurrent uses are counted once an interval.
func TestUsesAtATime(t *testing.T) {
	var u uses
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range uint32(1000) {
				u.add(intervalOf(time.Unix(1_795_000_000, 0)) + i/100)
			}
		})
	}
	all.Wait()
	if got, _ := u.until(intervalOf(time.Unix(1_795_000_000, 0)) + 9); got == 0 || got > 10 {
		t.Errorf("%d intervals", got)
	}
}
