package httpcache

import (
	"math/bits"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestUses: an interval with uses counts once, as long as it is recorded.
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
		if got := u.until(test.until); got.intervals != test.want || bits.OnesCount32(got.which) != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	var none *uses
	none.add(at)
	if got := none.until(at); got != (usage{}) {
		t.Errorf("none: %+v", got)
	}
}

// TestInheritedUses: a response inherits the uses of the one that it replaces.
func TestInheritedUses(t *testing.T) {
	var before, after uses
	for i := range uint32(5) {
		before.add(100 + 2*i)
	}
	after.add(109)
	after.inherit(&before)
	after.inherit(&after)
	after.inherit(nil)
	if got := after.until(109); got.intervals != 6 {
		t.Errorf("%+v", got)
	}
	var fresh uses
	fresh.inherit(&before)
	if got := fresh.until(108); got != before.until(108) {
		t.Errorf("%+v", got)
	}
}

// TestUsesAtATime: concurrent uses count once per interval.
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
	if got := u.until(intervalOf(time.Unix(1_795_000_000, 0)) + 9); got.intervals == 0 || got.intervals > 10 ||
		got.recent > 2*(mostUses+4) {
		t.Errorf("%+v", got)
	}
}

// TestUsagesAreCompared: the number of intervals has precedence over the number of uses, and that over age.
func TestUsagesAreCompared(t *testing.T) {
	usageOf := func(intervals ...uint32) usage {
		var u uses
		for _, interval := range intervals {
			u.add(interval)
		}
		return u.until(10)
	}
	many := slices.Repeat([]uint32{10}, 3*mostUses)
	for _, test := range []struct {
		name          string
		less, greater usage
	}{
		{"none and one", usageOf(), usageOf(1)},
		{"intervals", usageOf(many...), usageOf(1, 2)},
		{"uses of the last interval", usageOf(1, 10, 10), usageOf(1, 10, 10, 10)},
		{"uses of the one before", usageOf(1, 2, 10), usageOf(1, 2, 2, 10)},
		{"age", usageOf(2, 10), usageOf(1, 10)},
	} {
		if test.less.compare(test.greater) >= 0 || test.greater.compare(test.less) <= 0 ||
			test.less.compare(test.less) != 0 {
			t.Errorf("%s: %+v, %+v", test.name, test.less, test.greater)
		}
	}
	if got := usageOf(many...); got.recent != mostUses {
		t.Errorf("%d uses", got.recent)
	}
}
