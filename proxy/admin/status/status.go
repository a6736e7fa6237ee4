// Package status makes the tables of the page that shows operators the state of urnd.
package status

import (
	"crypto/x509"
	"slices"
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/pages"
)

// Sources are what the state of urnd is read from. All fields must be set, and safe for concurrent use.
type Sources struct {
	Version string // of urnd
	Now     func() time.Time
	// Health returns why the daemon is not ready, and what is wrong although it is.
	Health func() (unready, degraded []string)
	// Certificate returns that of urnd, nil where there is none.
	Certificate func() *x509.Certificate
	Forms       func() []metrics.Form
	Systems     func() []metrics.System
	Caches      func() []metrics.Cache
	Limits      func() []metrics.Limit
	Failing     func() []Failing
	Stores      func() []Store
	Faults      func() []Fault // the last one first
	Trend       *Trend
}

// State returns the state, for people. All counts are since the start of urnd.
func (s Sources) State() pages.State {
	state := pages.State{Version: s.Version, Figures: s.figures(), Tables: []pages.Table{
		{ID: "failing", Heading: "Failing now", Columns: []string{"server", "is", "reason", "asked again"}, Rows: s.failing()},
		{ID: "faults", Heading: "Recent faults", Columns: faultColumns(), Rows: s.lastFaults()},
		{
			ID: "requests", Heading: "Requests since the start", Rows: s.requests(),
			Columns: []string{"form", "all", "2xx", "3xx", "4xx", "5xx", "disconnected", "median", "95 % within"},
		},
		{
			ID: "caches", Heading: "Caches", Rows: s.caches(),
			Columns: []string{"cache", "lookups", "answered from it", "entries", "memory", "evicted"},
		},
		{
			ID: "systems", Heading: "Systems that urnd asks, the slowest first", Rows: s.systems(),
			Columns: []string{"system", "asked", "failed", "median", "95 % within", "outcomes"},
		},
		{ID: "stores", Heading: "Stores", Columns: []string{"store", "place", "state", "size", "at most", "free there"}, Rows: s.stores()},
		{ID: "certificate", Heading: "Certificate", Columns: []string{"property", "value"}, Rows: s.certificate()},
		{ID: "limits", Heading: "Limits", Columns: []string{"limit", "in use", "at most"}, Rows: s.limits()},
	}}
	state.Severity, state.Verdict, state.Reasons = s.verdict()
	return state
}

// verdict says in a sentence how urnd fares, and why.
func (s Sources) verdict() (severity pages.Severity, sentence string, reasons []string) {
	unready, degraded := s.Health()
	reasons = append(unready, degraded...)
	const mostReasons = 12
	if len(reasons) > mostReasons {
		reasons = append(reasons[:mostReasons:mostReasons], "and "+strconv.Itoa(len(reasons)-mostReasons)+" more: see /readyz")
	}
	for i := range reasons {
		reasons[i] = cut(reasons[i])
	}
	switch {
	case len(unready) > 0:
		return pages.Critical, "urnd is not ready", reasons
	case len(degraded) > 0:
		return pages.Warning, "urnd is ready, but something is wrong", reasons
	default:
		return pages.OK, "urnd is ready, and nothing is known to be wrong", nil
	}
}

func (s Sources) requests() (rows []pages.Row) {
	for _, f := range s.Forms() {
		all := uint64(0)
		for _, n := range f.Classes {
			all += n
		}
		rows = append(rows, cells(
			f.Name, number(all), number(f.Classes[1]+f.Classes[2]), number(f.Classes[3]), number(f.Classes[4]), number(f.Classes[5]),
			number(f.Classes[0]), quantile(f.Duration, median), quantile(f.Duration, most),
		))
	}
	return orNone(rows, "there was none yet")
}

func (s Sources) caches() (rows []pages.Row) {
	for _, c := range s.Caches() {
		all, found := lookupsOf(c)
		rows = append(rows, cells(c.Name, number(all), share(found, all), number(uint64(max(c.Entries, 0))), size(c.Bytes), number(c.Evictions)))
	}
	slices.SortFunc(rows, func(a, b pages.Row) int { return slices.Compare(a.Cells, b.Cells) })
	return orNone(rows, "there is none")
}

// mostSystems bounds the systems on the page: there may be many DNS servers.
const mostSystems = 20

func (s Sources) systems() (rows []pages.Row) {
	all := s.Systems()
	slices.SortStableFunc(all, func(a, b metrics.System) int {
		slow, _, _ := a.Duration.Quantile(most)
		slower, _, _ := b.Duration.Quantile(most)
		return int(min(max(slower-slow, -1), 1))
	})
	for _, system := range all[:min(len(all), mostSystems)] {
		row := cells(
			system.Kind+" "+system.Name, number(system.Duration.Count()), share(system.Failures(), system.Duration.Count()),
			quantile(system.Duration, median), quantile(system.Duration, most), outcomes(system.Outcomes),
		)
		const few, some, many = 5, .05, .5
		switch part, _ := partOf(system.Failures(), system.Duration.Count()); {
		case system.Failures() < few:
		case part >= many:
			row.Severity = pages.Critical
		case part >= some:
			row.Severity = pages.Warning
		}
		rows = append(rows, row)
	}
	return orNone(rows, "none was asked yet")
}

func (s Sources) limits() (rows []pages.Row) {
	for _, l := range s.Limits() {
		row := cells(l.Name, strconv.Itoa(l.Used), strconv.Itoa(l.Max))
		if l.Max > 0 && l.Used >= l.Max {
			row.Severity = pages.Critical
		}
		rows = append(rows, row)
	}
	return orNone(rows, "there is none")
}

func cells(texts ...string) pages.Row { return pages.Row{Cells: texts} }

// orNone returns rows, or one that says that there is none.
func orNone(rows []pages.Row, none string) []pages.Row {
	if len(rows) == 0 {
		return []pages.Row{cells(none)}
	}
	return rows
}

// within returns the rows that have room in a number of octets, and a last one that says how many others there are.
func within(rows []pages.Row, octets int, more string) []pages.Row {
	for i := range rows {
		if octets -= rows[i].Size(); octets < 0 {
			return append(rows[:i:i], cells("and "+strconv.Itoa(len(rows)-i)+" more"+more))
		}
	}
	return rows
}
