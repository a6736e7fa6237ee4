package httpcache

import (
	"cmp"
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// useInterval is the time in which one use counts as much as many, so that a burst does not make a response
	// look popular. useIntervals is how many intervals are recorded: somewhat more than an hour.
	useInterval  = 2 * time.Minute
	useIntervals = 32
	// mostUses is the maximum count of uses in an interval: above it, a hit writes no shared memory.
	mostUses = 255
)

// uses records the intervals in which a stored response was used, not counting the request that it was fetched
// for. The zero value and nil have none. It is safe for concurrent use.
type uses struct {
	// state is the number of the last interval with a use, since 1970, above a bit for that interval and each
	// before it.
	state atomic.Uint64
	// recent has the number of uses in the last interval with a use, and in the upper bits that of the one before.
	recent atomic.Uint32
}

// intervalOf returns the number of the interval that contains now.
func intervalOf(now time.Time) uint32 {
	return uint32(now.Unix() / int64(useInterval/time.Second)) //nolint:gosec // fits for 16,000 years
}

// add records a use.
func (u *uses) add(interval uint32) {
	if u == nil {
		return
	}
	before := u.state.Load()
	if last := uint32(before >> useIntervals); before != 0 && interval <= last { // also if the clock was set back
		if u.recent.Load()&recentMask < mostUses {
			u.recent.Add(1)
		}
		return
	}
	if u.state.CompareAndSwap(before, uint64(interval)<<useIntervals|uint64(history(before, interval)|1)) {
		u.recent.Store(u.recent.Load()<<recentBits | 1)
	} // otherwise another request has just added a use
}

const (
	recentBits = 16
	recentMask = 1<<recentBits - 1
)

// inherit adds the uses of the response that this one replaces.
func (u *uses) inherit(other *uses) {
	if u == nil || other == nil || u == other {
		return
	}
	for {
		before, more := u.state.Load(), other.state.Load()
		last := max(uint32(before>>useIntervals), uint32(more>>useIntervals))
		after := uint64(last)<<useIntervals | uint64(history(before, last)|history(more, last))
		if u.state.CompareAndSwap(before, after) {
			break
		}
	}
	u.recent.Store(max(u.recent.Load(), other.recent.Load()))
}

// history returns a bit for each interval with a use up to interval, which has the lowest bit.
func history(state uint64, interval uint32) uint32 {
	last := uint32(state >> useIntervals)
	if state == 0 || interval <= last {
		return uint32(state) //nolint:gosec // the lower half
	}
	return uint32(state) << (interval - last) //nolint:gosec // the lower half; a shift by 32 or more gives 0
}

// usage is a comparable summary of uses.
type usage struct {
	intervals int    // number of intervals with a use
	recent    uint32 // number of uses in the last two of them
	which     uint32 // bits of these intervals, the earliest the highest
}

// until returns the usage up to an interval.
func (u *uses) until(interval uint32) usage {
	if u == nil {
		return usage{}
	}
	which, recent := history(u.state.Load(), interval), u.recent.Load()
	return usage{bits.OnesCount32(which), recent&recentMask + recent>>recentBits, which}
}

// compare returns a positive number if u is greater: used in more intervals; if equal, more often in the last
// two of them; if equal, for longer.
func (u usage) compare(other usage) int {
	return cmp.Or(
		cmp.Compare(u.intervals, other.intervals), cmp.Compare(u.recent, other.recent),
		cmp.Compare(u.which, other.which),
	)
}
