// Package status makes the pages for operators: the state of urnd, the configuration in force, and what is cached.
package status

import (
	"crypto/x509"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/pages"
)

// Sources are what the state of urnd is read from. All fields must be set, and safe for concurrent use.
type Sources struct {
	Version string // of urnd
	Started time.Time
	Now     func() time.Time
	// Health returns why the daemon is not ready, and what is wrong although it is.
	Health func() (unready, degraded []string)
	// Warnings returns what is probably not meant in the configuration in force.
	Warnings func() []string
	// Certificates returns those of urnd.
	Certificates func() []*x509.Certificate
	Forms        func() []metrics.Form
	Systems      func() []metrics.System
	Caches       func() []metrics.Cache
	Limits       func() []metrics.Limit
	Failing      func() []Failing
	// Known returns the servers that the configuration names, which fail where Failing has them by the same name.
	Known  func() []Server
	Stores func() []Store
	Errors func() []Record // the last one first
	// Registry returns what the registry has, nil where there is none, or it cannot be asked: Failing says so.
	Registry func() *Registry
	Machines func() []Machine
}

// Server is one that urnd asks.
type Server struct {
	Name string
	Is   Word // what it is for urnd
}

// Failing is a server that fails now.
type Failing struct {
	Server
	Count  int       // of IsDead, which has no name
	Reason Word      // "" where Why has it
	Why    string    // in English, as the log has it
	Until  time.Time // when it is asked again; the zero value is at any time
	// Severity is Critical for what urnd needs, and Warning for one of many.
	Severity Severity
}

// Record is a warning or an error of the log, or several that are the same.
type Record struct {
	Error               bool
	First, Last         time.Time
	Message, Attributes string
	Count               uint64
	// Others are how many with the same message came before, and are not listed any more.
	Others uint64
}

// Store is where urnd stores something.
type Store struct {
	Is       Word
	Place    string
	Holds    Word
	Values   []any // of the message Holds: pairs of a name and a text or a number
	Severity Severity
	Size     int64 // bytes; negative where it is not known
	Most     int64 // bytes that it may have; 0 for no bound
	Free     int64 // bytes on the file system of the place; negative where that is not known
}

// Registry is what the registry has.
type Registry struct {
	Changes                                                 int64 // the number of the last version
	Active, Reserved, Withdrawn, Aliases, Targets, Prefixes int64
}

// Machine is one of those that run urnd together: by the shared level of caches, or a registry.
type Machine struct {
	Name  string // "" of those that share a cache, which do not tell theirs
	Does  Word
	Cache string    // of DoesShare and DoesAlone
	Until time.Time // the zero value is not known
}

// State is the state of urnd on its page, in the language of that. All counts are since the start of urnd.
type State struct {
	Version, Uptime string
	Severity        Severity
	Verdict         string          // in one sentence
	Reasons         []pages.Content // for it
	Tables          []Table
}

// Severity is how urgent it is to look at something.
type Severity string

// The severities: the zero value says nothing.
const (
	OK       Severity = "ok"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Table is one of the page.
type Table struct {
	ID      string // of the element
	Heading string
	Columns []string
	Rows    []Row
	None    string // what is said in place of no rows
	More    int    // rows that are left out
}

// Row is one of a Table.
type Row struct {
	Severity Severity
	Cells    []pages.Content // one for each column; the first one names it
}

// report makes the state in a language.
type report struct {
	Sources
	in pages.Writer
}

// State returns the state, for people who read what a writer writes. The page has room for what is most urgent, and for as many records of the log
// as there is room left.
func (s Sources) State(in pages.Writer) State {
	const room, least = 17_000, 3000 // bytes of all tables, and of the records: the page has at most 30 KB
	r := report{s, in}
	state := State{Version: s.Version, Uptime: r.uptime(s.Now().Sub(s.Started))}
	state.Severity, state.Verdict, state.Reasons = r.verdict()
	failing := s.Failing()
	before := []Table{r.warnings(), r.failing(failing)}
	after := []Table{
		r.requests(), r.caches(), r.known(failing), r.systems(), r.registry(), r.stores(), r.machines(), r.certificate(), r.limits(),
	}
	left := room
	for _, t := range append(before[:len(before):len(before)], after...) {
		left -= t.size()
	}
	state.Tables = append(append(before, r.errors(max(left, least))), after...)
	return state
}

// verdict says in a sentence how urnd fares, and why: in the words of /readyz, which are in English.
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

// within leaves out the last rows, where there is no room for them in a number of bytes.
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

// size returns about how many bytes the rows take in a page.
func (t Table) size() (n int) {
	for i := range t.Rows {
		n += t.sizeOf(t.Rows[i])
	}
	return n
}

// sizeOf returns about how many bytes a row takes in a page, whose cells repeat the names of their columns.
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

// named returns the row with its first cell as what programs and /metrics call it, in no language.
func (r Row) named() Row {
	r.Cells[0] = "<code>" + r.Cells[0] + "</code>"
	return r
}

// cut shortens a text that others have written.
func cut(text string) string {
	const mostText = 240 // bytes
	return plaintext.Shorten(text, mostText)
}

// foreign returns a text of others as a cell.
func foreign(text string) pages.Content { return pages.Bdi(cut(text)) }
