// Package status makes the pages for operators: the state of urnd, the configuration in force, and what is cached.
package status

import (
	"crypto/x509"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/plaintext"
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
	// Certificate returns that of urnd, nil where there is none.
	Certificate func() *x509.Certificate
	Forms       func() []metrics.Form
	Systems     func() []metrics.System
	Caches      func() []metrics.Cache
	Limits      func() []metrics.Limit
	Failing     func() []Failing
	Stores      func() []Store
	Errors      func() []Record // the last one first
	// Registry returns what the registry has, nil where there is none, or it cannot be asked: Failing says so.
	Registry func() *Registry
	Machines func() []Machine
}

// Failing is a server that fails now.
type Failing struct {
	Server string
	Is     string    // what it is for urnd, such as "DNS server"
	Why    string    // "" where it is not known
	Until  time.Time // when it is asked again; the zero value is at any time
	// Severity is Critical for what urnd needs, and Warning for one of many.
	Severity Severity
}

// MostFailing bounds the servers on the page, of each kind.
const MostFailing = 20

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
	Name, Place string
	State       string
	Severity    Severity
	Size        int64 // bytes; negative where it is not known
	Most        int64 // bytes that it may have; 0 for no bound
	Free        int64 // bytes on the file system of the place; negative where that is not known
}

// Registry is what the registry has.
type Registry struct {
	Changes                                                 int64 // the number of the last version
	Active, Reserved, Withdrawn, Aliases, Targets, Prefixes int64
}

// Machine is one of those that run urnd together: by the shared level of caches, or a registry.
type Machine struct {
	Name, Does string
	Until      time.Time // the zero value is not known
}

// State is the state of urnd on its page. All counts are since the start of urnd.
type State struct {
	Version, Uptime string
	Severity        Severity
	Verdict         string   // in one sentence
	Reasons         []string // for it
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
	Cells    []string // one for each column; the first one names it
}

// State returns the state, for people. The page has room for what is most urgent, and for as many records of the log as there is room left.
func (s Sources) State() State {
	const room, least = 18_000, 3000 // bytes of all tables, and of the records: the page has at most 30 KB
	state := State{Version: s.Version, Uptime: uptime(s.Now().Sub(s.Started))}
	state.Severity, state.Verdict, state.Reasons = s.verdict()
	before := []Table{s.warnings(), s.failing()}
	after := []Table{s.requests(), s.caches(), s.systems(), s.registry(), s.stores(), s.machines(), s.certificate(), s.limits()}
	left := room
	for _, t := range append(before[:len(before):len(before)], after...) {
		left -= t.size()
	}
	state.Tables = append(append(before, s.errors(max(left, least))), after...)
	return state
}

// verdict says in a sentence how urnd fares, and why.
func (s Sources) verdict() (severity Severity, sentence string, reasons []string) {
	unready, degraded := s.Health()
	reasons = append(unready, degraded...)
	const mostReasons = 12
	if more := len(reasons) - mostReasons; more > 0 {
		reasons = append(reasons[:mostReasons:mostReasons], "and "+number(uint64(more))+" more: see /readyz")
	}
	for i := range reasons {
		reasons[i] = cut(reasons[i])
	}
	switch {
	case len(unready) > 0:
		return Critical, "urnd is not ready", reasons
	case len(degraded) > 0:
		return Warning, "urnd is ready, but something is wrong", reasons
	default:
		return OK, "urnd is ready, and nothing is known to be wrong", nil
	}
}

// within leaves out the last rows, where there is no room for them in a number of bytes.
func (t Table) within(bytes int) Table {
	for i := range t.Rows {
		if bytes -= t.Rows[i].size(); bytes < 0 {
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
		n += t.Rows[i].size()
	}
	return n
}

func (r Row) size() int {
	const around, ofRow = 50, 30
	n := ofRow
	for _, text := range r.Cells {
		n += around + escapedLength(text)
	}
	return n
}

func cells(texts ...string) Row { return Row{Cells: texts} }

// cut shortens a text that others have written.
func cut(text string) string {
	const mostText = 240 // bytes
	return plaintext.Shorten(text, mostText)
}
