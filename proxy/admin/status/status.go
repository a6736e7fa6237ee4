// Package status renders the pages for operators: the state of urnd, the configuration in force, and the
// contents of the caches, which it purges. Metrics, health, settings and log records enter; HTML pages leave,
// in the language of the reader and of limited size. They follow no RFC.
package status

import (
	"crypto/x509"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/pages"
)

// Sources are the sources of the state of urnd. All fields must be set, and safe for concurrent use.
type Sources struct {
	Version string // of urnd
	Started time.Time
	Now     func() time.Time
	// Health returns the reasons why the daemon is not ready, and those why it is degraded.
	Health func() (unready, degraded []string)
	// Warnings returns probable mistakes in the configuration in force.
	Warnings func() []string
	// Certificates returns the server certificates of urnd.
	Certificates func() []*x509.Certificate
	Forms        func() []metrics.Form
	Systems      func() []metrics.System
	Caches       func() []metrics.Cache
	Limits       func() []metrics.Limit
	Failing      func() []Failing
	// Servers returns the servers in the configuration. They fail if Failing contains them, by the same name.
	Servers func() []Server
	Stores  func() []Store
	Errors  func() []Record // the last one first
	// Registry returns the numbers of the registry, nil without a registry, or if it fails: Failing contains
	// it then.
	Registry  func() *Registry
	Instances func() []Instance
}

// Server is a server that urnd sends requests to.
type Server struct {
	Name string
	Role MessageID // its role
}

// Failing is a server that currently fails.
type Failing struct {
	Server
	Count  int       // number of targets; only for RoleDeadTargets, which has no Name
	Reason MessageID // "" if Detail has the reason
	Detail string    // in English, as in the log
	Until  time.Time // when it is retried; the zero value is at any time
	// Severity is Critical for a server that urnd depends on, and Warning for one of several.
	Severity Severity
}

// Record is a warning or an error of the log, with its repetitions.
type Record struct {
	Error               bool
	First, Last         time.Time
	Message, Attributes string
	Count               uint64
	// Others is the number of earlier records with the same message that are no longer listed.
	Others uint64
}

// Store is a place where urnd stores data.
type Store struct {
	Kind     MessageID
	Location string
	Content  MessageID
	Values   []any // of the message Content: pairs of a name and a string or number
	Severity Severity
	Size     int64 // bytes; negative if unknown
	Limit    int64 // limit in bytes; 0 for none
	Free     int64 // free bytes on its file system; negative if unknown
}

// Registry is the numbers of the registry.
type Registry struct {
	Changes                                                 int64 // number of the last version
	Active, Reserved, Withdrawn, Aliases, Targets, Prefixes int64
}

// Instance is an instance of urnd in the same cluster: it shares the cache level or the registry.
type Instance struct {
	Name  string // "" for instances that share a cache, which do not report theirs
	Role  MessageID
	Cache string    // only with InstanceShares and InstanceStandalone
	Until time.Time // the zero value is unknown
}

// State is the state of urnd for its page, in the language of the page. All counts are since the start of
// urnd.
type State struct {
	Version, Uptime string
	Severity        Severity
	Verdict         string          // one sentence
	Reasons         []pages.Content // reasons of the verdict
	Tables          []Table
}

// Severity is the urgency of a row.
type Severity string

// Severities; the zero value is neutral.
const (
	OK       Severity = "ok"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Table is a table of the page.
type Table struct {
	ID      string // of the HTML element
	Heading string
	Columns []string
	Rows    []Row
	None    string // text in place of rows
	More    int    // number of omitted rows
}

// Row is a row of a Table.
type Row struct {
	Severity Severity
	Cells    []pages.Content // one for each column; the first is the row header
}

// report renders the state in a language.
type report struct {
	Sources
	in pages.Writer
}

// State returns the state in the language of a writer. The size of the page is limited: the most urgent rows
// come first, and the records of the log get the remaining bytes.
func (s Sources) State(in pages.Writer) State {
	const limit, least = 17_000, 3000 // bytes of all tables, and of the records: the page is limited to 30 KB
	r := report{s, in}
	state := State{Version: s.Version, Uptime: r.uptime(s.Now().Sub(s.Started))}
	state.Severity, state.Verdict, state.Reasons = r.verdict()
	failing := s.Failing()
	before := []Table{r.warnings(), r.failing(failing)}
	after := []Table{
		r.requests(), r.caches(), r.known(failing), r.systems(), r.registry(), r.stores(), r.machines(),
		r.certificate(), r.limits(),
	}
	left := limit
	for _, t := range append(before[:len(before):len(before)], after...) {
		left -= t.size()
	}
	state.Tables = append(append(before, r.errors(max(left, least))), after...)
	return state
}

// verdict returns a sentence about the health of urnd, with reasons: those of /readyz, in English.
func (r report) verdict() (severity Severity, sentence string, reasons []pages.Content) {
	unready, degraded := r.Health()
	all := append(unready[:len(unready):len(unready)], degraded...)
	const mostReasons = 10
	for _, reason := range all[:min(len(all), mostReasons)] {
		reasons = append(reasons, r.in.InEnglish(cut(reason)))
	}
	if more := len(all) - mostReasons; more > 0 {
		reasons = append(reasons, r.in.T("state.more_reasons", "Count", more))
	}
	switch {
	case len(unready) > 0:
		return Critical, r.in.Text("state.not_ready"), reasons
	case len(degraded) > 0:
		return Warning, r.in.Text("state.degraded"), reasons
	default:
		return OK, r.in.Text("state.ready"), nil
	}
}

// within omits the last rows that do not fit in a number of bytes.
func (t Table) within(bytes int) Table {
	for i := range t.Rows {
		if bytes -= t.sizeOf(t.Rows[i]); bytes < 0 {
			t.More += len(t.Rows) - i
			t.Rows = t.Rows[:i]
			return t
		}
	}
	return t
}

// size estimates the bytes of the rows in HTML.
func (t Table) size() (n int) {
	for i := range t.Rows {
		n += t.sizeOf(t.Rows[i])
	}
	return n
}

// sizeOf estimates the bytes of a row in HTML, whose cells repeat the column names.
func (t Table) sizeOf(r Row) int {
	const around, ofRow = 24, 30
	n := ofRow
	for i, cell := range r.Cells {
		n += around + len(t.Columns[i]) + len(cell)
	}
	return n
}

// cells returns a row of texts.
func cells(texts ...string) Row {
	var r Row
	for _, text := range texts {
		r.Cells = append(r.Cells, pages.Escaped(text))
	}
	return r
}

// named returns the row with its first cell marked as code: an identifier of /metrics, which is not
// translated.
func (r Row) named() Row {
	r.Cells[0] = "<code>" + r.Cells[0] + "</code>"
	return r
}

// cut shortens a text of external origin.
func cut(text string) string {
	const mostText = 240 // bytes
	return plaintext.Shorten(text, mostText)
}

// foreign returns a cell with a text of external origin.
func foreign(text string) pages.Content { return pages.Bdi(cut(text)) }
