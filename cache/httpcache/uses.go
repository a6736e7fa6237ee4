package httpcache

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// useInterval is the time in which one use counts as much as many, and useIntervals is how many of them are
// remembered: somewhat more than an hour. So a hit mostly writes nothing that others read, and a burst of
// requests does not make a response look popular.
const (
	useInterval  = 2 * time.Minute
	useIntervals = 32
)

// uses are the intervals in which a stored response was used, besides the one request that it was fetched for. The
// zero value, and nil, are none. It is safe for concurrent use.
type uses struct {
	// state is the last interval with a use, counted since 1970, and below it a bit for that and each one before.
	state atomic.Uint64
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
		return
	}
	// Where it fails another request has just added its own.
	u.state.CompareAndSwap(before, uint64(interval)<<useIntervals|uint64(history(before, interval)|1))
}

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
			return
		}
	}
}

// history returns a bit for each interval with a use until one, that of the latest the lowest.
func history(state uint64, interval uint32) uint32 {
	last := uint32(state >> useIntervals)
	if state == 0 || interval <= last {
		return uint32(state) //nolint:gosec // the lower half
	}
	return uint32(state) << (interval - last) //nolint:gosec // likewise; a shift by 32 and more is 0
}

// until returns the intervals with a use until one: how many, and which.
func (u *uses) until(interval uint32) (count int, which uint32) {
	if u == nil {
		return 0, 0
	}
	which = history(u.state.Load(), interval)
	return bits.OnesCount32(which), which
}
