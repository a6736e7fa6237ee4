// Package status makes the tables of the page that shows operators the state of urnd.
package status

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/pages"
)

// Sources are what the state of urnd is read from. All fields must be set, and safe for concurrent use.
type Sources struct {
	Now func() time.Time
	// Health returns why the daemon is not ready, and what is wrong although it is.
	Health func() (unready, degraded []string)
	// Registry returns whether the store of the registry can be asked; ok is false where there is none.
	Registry func() (available, ok bool)
	// Certificate returns when that of urnd expires; ok is false where there is none.
	Certificate func() (expires time.Time, ok bool)
	Forms       func() []metrics.Form
	FastPath    func() (fast, full uint64)
	Systems     func() []metrics.System
	Caches      func() []metrics.Cache
	Limits      func() []metrics.Limit
}

// Tables returns the state, for people. All counts are since the start of urnd.
func (s Sources) Tables() []pages.Table {
	return []pages.Table{
		{ID: "state", Heading: "State", Columns: []string{"part", "state"}, Rows: s.state()},
		{
			ID: "requests", Heading: "Requests", Rows: s.requests(),
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
		{ID: "limits", Heading: "Limits", Columns: []string{"limit", "in use", "at most"}, Rows: s.limits()},
	}
}

// state tells how the parts fare.
func (s Sources) state() [][]string {
	unready, degraded := s.Health()
	rows := [][]string{{"urnd", "ready"}}
	if len(unready) > 0 {
		rows[0][1] = "not ready: " + strings.Join(unready, "; ")
	}
	if len(degraded) > 0 {
		rows = append(rows, []string{"what is wrong", strings.Join(degraded, "; ")})
	} else {
		rows = append(rows, []string{"what is wrong", "nothing is known"})
	}
	switch available, ok := s.Registry(); {
	case !ok:
		rows = append(rows, []string{"registry", "there is none"})
	case available:
		rows = append(rows, []string{"registry", "its store answers"})
	default:
		rows = append(rows, []string{"registry", "its store cannot be asked"})
	}
	rows = append(rows, []string{"certificate", s.certificate()})
	fast, full := s.FastPath()
	return append(rows, []string{"fast path", share(fast, fast+full) + " of the requests that it has seen"})
}

// certificate tells when that of urnd expires.
func (s Sources) certificate() string {
	expires, ok := s.Certificate()
	if !ok {
		return "there is none"
	}
	at := expires.UTC().Format(time.RFC3339)
	left := expires.Sub(s.Now())
	if left < 0 {
		return "expired at " + at
	}
	const day = 24 * time.Hour
	return fmt.Sprintf("expires at %s, in %d days", at, left/day)
}

func (s Sources) requests() (rows [][]string) {
	for _, f := range s.Forms() {
		all := uint64(0)
		for _, n := range f.Classes {
			all += n
		}
		rows = append(rows, []string{
			f.Name, number(all), number(f.Classes[1] + f.Classes[2]), number(f.Classes[3]), number(f.Classes[4]), number(f.Classes[5]),
			number(f.Classes[0]), quantile(f.Duration, median), quantile(f.Duration, most),
		})
	}
	return orNone(rows, "there was none yet")
}

func (s Sources) caches() (rows [][]string) {
	for _, c := range s.Caches() {
		all := uint64(0)
		for _, n := range c.Lookups {
			all += n
		}
		found := c.Lookups["hit"] + c.Lookups["negative"] + c.Lookups["stale"]
		rows = append(rows, []string{
			c.Name, number(all), share(found, all), number(uint64(max(c.Entries, 0))), size(c.Bytes), number(c.Evictions),
		})
	}
	slices.SortFunc(rows, slices.Compare)
	return orNone(rows, "there is none")
}

// mostSystems bounds the systems on the page: there may be many DNS servers.
const mostSystems = 30

func (s Sources) systems() (rows [][]string) {
	all := s.Systems()
	slices.SortStableFunc(all, func(a, b metrics.System) int {
		slow, _, _ := a.Duration.Quantile(most)
		slower, _, _ := b.Duration.Quantile(most)
		return int(min(max(slower-slow, -1), 1))
	})
	for _, system := range all[:min(len(all), mostSystems)] {
		rows = append(rows, []string{
			system.Kind + " " + system.Name, number(system.Duration.Count()), share(system.Failures(), system.Duration.Count()),
			quantile(system.Duration, median), quantile(system.Duration, most), outcomes(system.Outcomes),
		})
	}
	return orNone(rows, "none was asked yet")
}

func (s Sources) limits() (rows [][]string) {
	for _, l := range s.Limits() {
		rows = append(rows, []string{l.Name, strconv.Itoa(l.Used), strconv.Itoa(l.Max)})
	}
	return orNone(rows, "there is none")
}

// orNone returns rows, or one that says that there is none.
func orNone(rows [][]string, none string) [][]string {
	if len(rows) == 0 {
		return [][]string{{none}}
	}
	return rows
}
