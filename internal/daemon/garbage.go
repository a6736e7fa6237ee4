package daemon

import (
	"runtime/debug"
	"runtime/metrics"
)

const (
	// leastGarbage is how much garbage the heap may have between two collections, in octets, and leastGarbagePercent how much at least
	// of what is in use: caches that are full make most of a heap, and would be doubled by garbage.
	leastGarbage        = 64 << 20
	leastGarbagePercent = 25
	// mostGarbagePercent is what Go allows without a setting.
	mostGarbagePercent = 100
)

// garbagePercent returns how much garbage a heap may have of which so many octets are in use, in percent of these: what GOGC means.
func garbagePercent(live uint64) int {
	percent := 100 * leastGarbage / max(live, leastGarbage)
	return min(max(int(percent), leastGarbagePercent), mostGarbagePercent) //nolint:gosec // at most 100
}

// garbage sets how much there may be between two collections, by what is in use. It begins with what Go allows without a setting.
type garbage struct{ percent int }

func newGarbage() *garbage { return &garbage{mostGarbagePercent} }

// bound sets it anew where it has changed.
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

// end sets what Go allows without a setting.
func (g *garbage) end() { g.set(mostGarbagePercent) }
