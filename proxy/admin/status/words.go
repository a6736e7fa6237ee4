package status

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/pages"
)

// Word is a message identifier of the pages.
type Word string

// Roles of servers.
const (
	IsRegistry Word = "state.is_registry"
	IsShared   Word = "state.is_shared"
	IsDNS      Word = "state.is_dns"
	IsTHTTP    Word = "state.is_thttp"
	IsSLP      Word = "state.is_slp"
	IsOrigin   Word = "state.is_origin"
	IsSite     Word = "state.is_site"
	IsDead     Word = "state.is_dead" // all unhealthy targets of the registry together
	isGateway  Word = "state.is_gateway"
)

// Reasons of failures.
const (
	WhyDead          Word = "state.why_dead"
	WhySilent        Word = "state.why_silent"
	WhyUnconnectable Word = "state.why_unconnectable"
	WhyUnanswered    Word = "state.why_unanswered"
)

// Kinds of stores and their states. HoldsAlone has the value Caches, HoldsDamaged Faults and Damaged,
// HoldsSaved Time.
const (
	StoreRegistry Word = "state.store_registry"
	StoreShared   Word = "state.store_shared"
	StoreDisk     Word = "state.store_disk"
	StoreSaved    Word = "state.store_saved"
	StoreLog      Word = "state.store_log"
	HoldsAnswers  Word = "state.holds_answers"
	HoldsFailing  Word = "state.holds_failing"
	HoldsAlone    Word = "state.holds_alone"
	HoldsUsed     Word = "state.holds_used"
	HoldsDamaged  Word = "state.holds_damaged"
	HoldsUnsaved  Word = "state.holds_unsaved"
	HoldsSaved    Word = "state.holds_saved"
)

// Roles of machines.
const (
	DoesAnswer Word = "state.does_answer"
	DoesShare  Word = "state.does_share"
	DoesAlone  Word = "state.does_alone" // sharing is enabled, but no other instance is known
	DoesCheck  Word = "state.does_check"
)

// say returns a message in the language of the page, "" for "".
func (r report) say(w Word, values ...any) pages.Content {
	if w == "" {
		return ""
	}
	return r.in.T(string(w), values...)
}

// Quantiles that are shown.
const (
	median = .5
	most   = .95
)

// nothing is shown for an undefined figure.
const nothing = "–"

// number returns a number with grouped digits.
func (r report) number(n uint64) string { return r.in.Number(int64(min(n, 1<<62))) }

// share returns a ratio in percent. The counters are not read atomically: part may exceed all.
func (r report) share(part, all uint64) string {
	if all == 0 {
		return nothing
	}
	const percent = 100
	return r.in.Decimal(percent*min(float64(part)/float64(all), 1), 1) + " %"
}

// size formats a number of bytes.
func size(in pages.Writer, bytes int64) string {
	n, units := float64(max(bytes, 0)), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	const unit = 1024
	i := 0
	for ; n >= unit && i < len(units)-1; i++ {
		n /= unit
	}
	return in.Decimal(n, min(i, 1)) + " " + units[i]
}

// quantile returns an estimate of a quantile, with two significant digits.
func (r report) quantile(h metrics.Histogram, part float64) string {
	d, beyond, ok := h.Quantile(part)
	switch {
	case !ok:
		return nothing
	case beyond:
		return r.in.Text("state.over", "Duration", r.duration(d))
	default:
		return r.duration(d)
	}
}

// duration formats a duration with two significant digits, in the largest unit in which it is at least 1.
func (r report) duration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{" s", time.Second}, {" ms", time.Millisecond}, {" µs", time.Microsecond}} {
		if d < unit.of {
			continue
		}
		n, digits := float64(d)/float64(unit.of), 0
		if n < 9.95 { // otherwise it has two integer digits
			digits = 1
		}
		return r.in.Decimal(n, digits) + unit.name
	}
	return r.in.Text("state.under", "Duration", "1 µs")
}

// outcomes returns counts by their names in metrics, the most frequent first.
func (r report) outcomes(counts map[string]uint64) pages.Content {
	words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for i, word := range words {
		words[i] = string(pages.Code(word)) + " " + r.number(counts[word])
	}
	return pages.Content(strings.Join(words, ", "))
}

// uptime formats a duration in its largest unit, rounded down; it changes at most once a minute.
func (r report) uptime(d time.Duration) string {
	switch {
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 2*day:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	default:
		return r.in.Text("state.days", "Count", int(d/day))
	}
}
