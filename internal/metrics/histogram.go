package metrics

import "time"

// Histogram counts durations in buckets. The zero value is empty.
type Histogram struct {
	bounds []time.Duration // upper bounds of all buckets but the last, which is unbounded; ascending
	counts []uint64        // by bucket: one more than bounds
}

// Count returns the number of durations.
func (h Histogram) Count() (n uint64) {
	for _, some := range h.counts {
		n += some
	}
	return n
}

// Quantile estimates the duration below which a fraction part (0 to 1) of all durations lies, like
// histogram_quantile of Prometheus: durations are assumed to be evenly distributed in their bucket. If the
// quantile lies in the last bucket, beyond is true and the estimate is the greatest bound. ok is false for an
// empty histogram.
func (h Histogram) Quantile(part float64) (estimate time.Duration, beyond, ok bool) {
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

// Plus returns the sum of two histograms with the same bounds.
func (h Histogram) Plus(other Histogram) Histogram {
	return h.with(other, func(a, b uint64) uint64 { return a + b })
}

// Since returns the durations since an earlier state with the same bounds. If the earlier state has more
// durations, the counters were reset, and all durations are returned.
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
