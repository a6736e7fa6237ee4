package status

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/metrics"
)

// The quantiles that are shown.
const (
	median = .5
	most   = .95
)

// nothing stands for a figure that cannot be made.
const nothing = "–"

// number returns a number with its digits in groups.
func number(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// share returns how much of all a part is, in percent. The counts were read one after another: the part may be more than all.
func share(part, all uint64) string {
	if all == 0 {
		return nothing
	}
	const percent = 100
	return strconv.FormatFloat(percent*min(float64(part)/float64(all), 1), 'f', 1, 64) + " %"
}

// size returns a number of bytes.
func size(bytes int64) string {
	n, units := float64(max(bytes, 0)), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	const unit = 1024
	i := 0
	for ; n >= unit && i < len(units)-1; i++ {
		n /= unit
	}
	if i == 0 {
		return strconv.FormatFloat(n, 'f', 0, 64) + " B"
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " " + units[i]
}

// quantile returns an estimate of a quantile, with two digits.
func quantile(h metrics.Histogram, part float64) string {
	d, isBeyond, ok := h.Quantile(part)
	switch {
	case !ok:
		return nothing
	case isBeyond:
		return "over " + duration(d)
	default:
		return duration(d)
	}
}

// duration returns a duration in the unit in which it is at least 1, with two digits.
func duration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{" s", time.Second}, {" ms", time.Millisecond}, {" µs", time.Microsecond}} {
		if d < unit.of {
			continue
		}
		n, digits := float64(d)/float64(unit.of), 0
		if n < 9.95 { // else it is shown with two digits before the point
			digits = 1
		}
		return strconv.FormatFloat(n, 'f', digits, 64) + unit.name
	}
	return "under 1 µs"
}

// outcomes returns counts by their words, the most frequent first.
func outcomes(counts map[string]uint64) string {
	words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return int(min(max(float64(counts[b])-float64(counts[a]), -1), 1))
		}
		return strings.Compare(a, b)
	})
	for i, word := range words {
		words[i] = fmt.Sprintf("%s %s", word, number(counts[word]))
	}
	return strings.Join(words, ", ")
}

// uptime returns a duration in whole units, the greatest one: it changes once a minute.
func uptime(d time.Duration) string {
	switch {
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 2*day:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	default:
		return strconv.Itoa(int(d/day)) + " days"
	}
}
