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

// MessageID is a message identifier of the pages.
type MessageID string

// Roles of servers.
const (
	RoleRegistry    MessageID = "state.is_registry"
	RoleSharedCache MessageID = "state.is_shared"
	RoleDNS         MessageID = "state.is_dns"
	RoleTHTTP       MessageID = "state.is_thttp"
	RoleSLP         MessageID = "state.is_slp"
	RoleOrigin      MessageID = "state.is_origin"
	RoleSite        MessageID = "state.is_site"
	RoleDeadTargets MessageID = "state.is_dead" // all unhealthy targets of the registry together
	roleGateway     MessageID = "state.is_gateway"
)

// Reasons of failures.
const (
	ReasonDead          MessageID = "state.why_dead"
	ReasonSilent        MessageID = "state.why_silent"
	ReasonUnconnectable MessageID = "state.why_unconnectable"
	ReasonUnanswered    MessageID = "state.why_unanswered"
)

// Kinds of stores and their states. ContentStandalone has the value Caches, ContentDamaged Failures and Damaged,
// ContentSaved Time.
const (
	StoreRegistry     MessageID = "state.store_registry"
	StoreShared       MessageID = "state.store_shared"
	StoreDisk         MessageID = "state.store_disk"
	StoreSaved        MessageID = "state.store_saved"
	StoreLog          MessageID = "state.store_log"
	ContentAnswers    MessageID = "state.holds_answers"
	ContentFailing    MessageID = "state.holds_failing"
	ContentStandalone MessageID = "state.holds_alone"
	ContentUsed       MessageID = "state.holds_used"
	ContentDamaged    MessageID = "state.holds_damaged"
	ContentUnsaved    MessageID = "state.holds_unsaved"
	ContentSaved      MessageID = "state.holds_saved"
)

// Roles of machines.
const (
	InstanceAnswers    MessageID = "state.does_answer"
	InstanceShares     MessageID = "state.does_share"
	InstanceStandalone MessageID = "state.does_alone" // sharing is enabled, but no other instance is known
	InstanceChecks     MessageID = "state.does_check"
)

// say returns a message in the language of the page, "" for "".
func (r report) say(w MessageID, values ...any) pages.Content {
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
