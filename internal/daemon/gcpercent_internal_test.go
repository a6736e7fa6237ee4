package daemon

import (
	"runtime/debug"
	"testing"
)

func TestGarbagePercent(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 100, 1 << 20: 100, 64 << 20: 100, 128 << 20: 50, 256 << 20: 25,
		1 << 40: 25,
	} {
		if got := computeGCPercent(live); got != want {
			t.Errorf("%d MiB: %d %%, want %d", live>>20, got, want)
		}
	}
}

// TestBoundGarbage checks that GOGC is set according to the live heap, and only if the value changes.
func TestBoundGarbage(t *testing.T) {
	was := debug.SetGCPercent(70)
	defer debug.SetGCPercent(was)
	g := newGCPercent()
	isSet := func(want int) {
		t.Helper()
		if now := debug.SetGCPercent(want); now != want {
			t.Errorf("%d %%, want %d", now, want)
		}
	}
	g.end()
	isSet(70)
	g.set(25)
	isSet(25)
	g.bound()
	isSet(g.percent)
	g.set(25)
	g.end()
	isSet(maxGCPercent)
}
