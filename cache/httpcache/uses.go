package httpcache

import (
	"cmp"
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// useInterval is the time in which one use counts as much as many, and useIntervals is how many of them are
	// remembered: somewhat more than an hour. A burst of requests does not make a response look popular.
	useInterval  = 2 * time.Minute
	useIntervals = 32
	// mostUses is how many uses in an interval are told apart: a hit of what is in demand writes nothing that others
	// read.
	mostUses = 255
)

// uses are the intervals in which a stored response was used, besides the one request that it was fetched for. The
// zero value, and nil, are none. It is safe for concurrent use.
type uses struct {
	// state is the last interval with a use, counted since 1970, and below it a bit for that and each one before.
	state atomic.Uint64
	// recent is how many there were in the last interval with a use, and above it, in the one before.
	recent atomic.Uint32
}

// intervalOf returns the interval of a time.
func intervalOf(now time.Time) uint32 {
	return uint32(now.Unix() / int64(useInterval/time.Second)) //nolint:gosec // it fits for 16,000 years
}

// add adds a use.
func (u *uses) add(interval uint32) {
	if u == nil {
		return
	}
	before := u.state.Load()
	if last := uint32(before >> useIntervals); before != 0 && interval <= last { // also where the clock is set back
		if u.recent.Load()&recentMask < mostUses {
			u.recent.Add(1)
		}
		return
	}
	if u.state.CompareAndSwap(before, uint64(interval)<<useIntervals|uint64(history(before, interval)|1)) {
		u.recent.Store(u.recent.Load()<<recentBits | 1)
	} // else another request has just added its own
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

// history returns a bit for each interval with a use until one, that of the latest the lowest.
func history(state uint64, interval uint32) uint32 {
	last := uint32(state >> useIntervals)
	if state == 0 || interval <= last {
		return uint32(state) //nolint:gosec // the lower half
	}
	return uint32(state) << (interval - last) //nolint:gosec // likewise; a shift by 32 and more is 0
}

// usage is what is compared of uses.
type usage struct {
	intervals int    // with a use
	recent    uint32 // uses in the last two of them
	which     uint32 // they are, the earliest the highest bit
}

// until returns the uses until an interval.
func (u *uses) until(interval uint32) usage {
	if u == nil {
		return usage{}
	}
	which, recent := history(u.state.Load(), interval), u.recent.Load()
	return usage{bits.OnesCount32(which), recent&recentMask + recent>>recentBits, which}
}

// compare returns a positive number where a usage is greater: in more intervals, of equal ones with more uses in the
// last two of them, then for longer.
func (u usage) compare(other usage) int {
	return cmp.Or(
		cmp.Compare(u.intervals, other.intervals), cmp.Compare(u.recent, other.recent),
		cmp.Compare(u.which, other.which),
	)
}
