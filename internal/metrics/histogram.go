package metrics

import "time"

// Histogram are durations by ranges. The zero value has none.
type Histogram struct {
	bounds []time.Duration // the upper ones of all ranges but the last, which has none, in rising order
	counts []uint64        // by range: one more than bounds
}

// Count returns the number of durations.
func (h Histogram) Count() (n uint64) {
	for _, some := range h.counts {
		n += some
	}
	return n
}

// Quantile returns an estimate of the duration below which a part of all is, from 0 to 1, as histogram_quantile of Prometheus
// makes it: durations lie evenly within their range. It is the greatest bound, and isBeyond, where it lies in the last range, and
// not ok where there is no duration.
func (h Histogram) Quantile(part float64) (estimate time.Duration, isBeyond, ok bool) {
	all := h.Count()
	if all == 0 {
		return 0, false, false
	}
	rank, below, lower := part*float64(all), 0.0, time.Duration(0)
	for i, upper := range h.bounds {
		within := float64(h.counts[i])
		if within > 0 && below+within >= rank {
			return lower + time.Duration(float64(upper-lower)*max(rank-below, 0)/within), false, true
		}
		below, lower = below+within, upper
	}
	return lower, true, true
}

// Plus returns the durations of both. They must be of the same family.
func (h Histogram) Plus(other Histogram) Histogram {
	return h.with(other, func(a, b uint64) uint64 { return a + b })
}

// Since returns the durations that have come since an earlier state of the same family, all where that is of more: they were
// counted anew.
func (h Histogram) Since(before Histogram) Histogram {
	if h.Count() < before.Count() {
		return h
	}
	return h.with(before, func(now, then uint64) uint64 { return now - min(then, now) })
}

func (h Histogram) with(other Histogram, combined func(a, b uint64) uint64) Histogram {
	switch {
	case len(other.counts) == 0:
		return h
	case len(h.counts) == 0:
		h.counts = make([]uint64, len(other.counts))
		h.bounds = other.bounds
	}
	made := Histogram{h.bounds, make([]uint64, len(h.counts))}
	for i := range made.counts {
		made.counts[i] = combined(h.counts[i], other.counts[i])
	}
	return made
}
