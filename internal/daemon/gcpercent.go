package daemon

import (
	"runtime/debug"
	"runtime/metrics"
)

const (
	// minHeapGrowth is the minimum garbage between two collections, in bytes, and minGCPercent the
	// minimum relative to the live heap. Full caches make up most of a heap, whose size GOGC=100 would double.
	minHeapGrowth = 64 << 20
	minGCPercent  = 25
	// maxGCPercent is the default of GOGC.
	maxGCPercent = 100
)

// computeGCPercent returns the value of GOGC for a heap of which live bytes are in use.
func computeGCPercent(live uint64) int {
	percent := 100 * minHeapGrowth / max(live, minHeapGrowth)
	return min(max(int(percent), minGCPercent), maxGCPercent) //nolint:gosec // at most 100
}

// gcPercent adjusts GOGC to the size of the live heap. It starts with the default.
type gcPercent struct{ percent int }

func newGCPercent() *gcPercent { return &gcPercent{maxGCPercent} }

// bound updates GOGC if the value for the current heap has changed.
func (g *gcPercent) bound() {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	g.set(computeGCPercent(sample[0].Value.Uint64()))
}

func (g *gcPercent) set(percent int) {
	if percent != g.percent {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
}

// end restores the default of GOGC.
func (g *gcPercent) end() { g.set(maxGCPercent) }
