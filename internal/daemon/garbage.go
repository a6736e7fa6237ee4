package daemon

import (
	"runtime/debug"
	"runtime/metrics"
)

const (
	// leastGarbage is the minimum garbage between two collections, in bytes, and leastGarbagePercent the
	// minimum relative to the live heap. Full caches make up most of a heap, whose size GOGC=100 would double.
	leastGarbage        = 64 << 20
	leastGarbagePercent = 25
	// mostGarbagePercent is the default of GOGC.
	mostGarbagePercent = 100
)

// garbagePercent returns the value of GOGC for a heap of which live bytes are in use.
func garbagePercent(live uint64) int {
	percent := 100 * leastGarbage / max(live, leastGarbage)
	return min(max(int(percent), leastGarbagePercent), mostGarbagePercent) //nolint:gosec // at most 100
}

// garbage adjusts GOGC to the size of the live heap. It starts with the default.
type garbage struct{ percent int }

func newGarbage() *garbage { return &garbage{mostGarbagePercent} }

// bound updates GOGC if the value for the current heap has changed.
func (g *garbage) bound() {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	g.set(garbagePercent(sample[0].Value.Uint64()))
}

func (g *garbage) set(percent int) {
	if percent != g.percent {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
}

// end restores the default of GOGC.
func (g *garbage) end() { g.set(mostGarbagePercent) }
