package bulk

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

var (
	// ErrDoubtful is wrapped by the reasons why a name is doubtful that is imported.
	ErrDoubtful = errors.New("a warning")
	// ErrLost is wrapped by the reasons of what of an entry of a foreign format cannot be carried over.
	ErrLost = errors.New("not carried over")
)

// refusal returns why a line is rejected, with a code by which pages find its text. The line itself is of no class; conflict is for a conflict.
func refusal(code, format string, args ...any) *registry.Error {
	return &registry.Error{Code: code, Reason: fmt.Errorf(format, args...)}
}

// conflict returns a registry.ErrConflict of a line.
func conflict(code, format string, args ...any) *registry.Error {
	is := refusal(code, format, args...)
	is.Class = registry.ErrConflict
	return is
}

// Report says what an import has done, or would do. Where it was continued, the numbers are
// those of all of it.
type Report struct {
	Lines int64 `json:"lines"` // lines of input with a name
	// Names are versions of names and prefixes: one each, but for input with history.
	Names     int64 `json:"names"`
	New       int64 `json:"new"` // names that there were not
	Changed   int64 `json:"changed"`
	Unchanged int64 `json:"unchanged"`
	Rejected  int64 `json:"rejected"`       // lines
	Lost      int64 `json:"lost,omitempty"` // what of imported entries of foreign formats could not be carried over
	// Unmapped are the fields of a foreign format that Lost is about, the most frequent first.
	Unmapped  []UnmappedField `json:"unmapped,omitempty"`
	Doubtful  int64           `json:"doubtful,omitempty"` // lines that were imported, with a name that is doubtful
	Ignored   []string        `json:"ignored,omitempty"`  // columns that were left out
	Started   time.Time       `json:"started"`            // the time of the versions that it made
	Continued bool            `json:"continued,omitempty"`
}

// UnmappedField is a field of a foreign format that has no place in a registry, and how many times the input has it.
type UnmappedField struct {
	Field string `json:"field"`
	Count int64  `json:"count"`
}

// maxUnmapped bounds the fields of a report; a foreign format may have any number of them.
const maxUnmapped = 500

// unmappedFields counts fields.
type unmappedFields map[string]int64

func (u unmappedFields) add(names []string) {
	for _, name := range names {
		const longest = 100
		if name = strings.ToValidUTF8(name[:min(len(name), longest)], "?"); u[name] == 0 && len(u) >= maxUnmapped {
			name = "..."
		}
		u[name]++
	}
}

// sorted returns the fields, the most frequent first.
func (u unmappedFields) sorted() []UnmappedField {
	all := make([]UnmappedField, 0, len(u))
	for name, count := range u {
		all = append(all, UnmappedField{name, count})
	}
	slices.SortFunc(all, func(a, b UnmappedField) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Field, b.Field))
	})
	return all
}

// Stage is what an import is doing.
type Stage uint8

// The stages.
const (
	Reading Stage = iota // reading, checking and sorting
	Writing              // writing into the store
)

// Progress says how far an import is.
type Progress struct {
	Stage Stage
	Bytes int64 // read of the input as it came, which may be compressed
	Lines int64 // read
	// Done and Total are units of the writing: a name, or one version of one.
	Done, Total int64
	Rejected    int64
}

// Rejection is a line that was not imported.
type Rejection struct {
	Line   int64  // 1 is the first line of the input
	Input  string // the line, or the name where the error was found later
	Reason error
	// Lost is of an entry of a foreign format that was imported, without what the reason says.
	Lost   bool
	fields []string // of the foreign format, of Lost
	// Doubtful is of a line that was imported, whose name is doubtful: its check digit is wrong, and its namespace is lenient.
	Doubtful bool
}
