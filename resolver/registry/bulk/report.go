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
	// ErrWarning is wrapped by warnings about imported names.
	ErrWarning = errors.New("a warning")
	// ErrUnmapped is wrapped by reports of unmapped fields of a foreign format.
	ErrUnmapped = errors.New("not imported")
)

// refusal returns the reason why a line is rejected, with the message code that user interfaces translate. It
// has no error class; see conflict for registry.ErrConflict.
func refusal(code, format string, args ...any) *registry.Error {
	return &registry.Error{Code: code, Reason: fmt.Errorf(format, args...)}
}

// conflict returns the reason of a rejected line with the class registry.ErrConflict.
func conflict(code, format string, args ...any) *registry.Error {
	is := refusal(code, format, args...)
	is.Class = registry.ErrConflict
	return is
}

// Report is the result of an import, or of a dry run. The counts of a continued import include its earlier
// runs.
type Report struct {
	Lines int64 `json:"lines"` // lines of input with a name
	// Names counts versions of names and prefixes: one each, unless the input has history.
	Names     int64 `json:"names"`
	New       int64 `json:"new"` // names that were not registered
	Changed   int64 `json:"changed"`
	Unchanged int64 `json:"unchanged"`
	Rejected  int64 `json:"rejected"` // lines
	// UnmappedCount counts unmapped-field reports for imported entries of foreign formats.
	UnmappedCount int64 `json:"unmapped_count,omitempty"`
	// Unmapped are the unmapped fields that UnmappedCount counts, the most frequent first.
	Unmapped  []UnmappedField `json:"unmapped,omitempty"`
	Warnings  int64           `json:"warnings,omitempty"` // imported lines with a warning
	Ignored   []string        `json:"ignored,omitempty"`  // names of ignored columns
	Started   time.Time       `json:"started"`            // the time of the versions that it made
	Continued bool            `json:"continued,omitempty"`
}

// UnmappedField is a field of a foreign format that a registry cannot store, with its number of occurrences.
type UnmappedField struct {
	Field string `json:"field"`
	Count int64  `json:"count"`
}

// maxUnmapped bounds the fields of a report; a foreign format may have any number of them.
const maxUnmapped = 500

// unmappedFields counts occurrences by field name.
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

// Stage is a stage of an import.
type Stage uint8

// The stages.
const (
	Reading Stage = iota // reading, checking and sorting
	Writing              // writing to the store
)

// Progress is the progress of an import.
type Progress struct {
	Stage Stage
	Bytes int64 // read, before decompression
	Lines int64 // read
	// Done and Total count lines in the second stage.
	Done, Total int64
	Rejected    int64
}

// Rejection is a line that was not imported, an unmapped field, or a warning.
type Rejection struct {
	Line   int64  // one-based
	Input  string // the line, or the name if the error was found in the second stage
	Reason error
	// Unmapped marks an unmapped field: the entry was imported without the field that the reason names.
	Unmapped bool
	fields   []string // names of the foreign fields, with Unmapped
	// Warning marks a warning: the line was imported, but the check digit of its name is wrong, and its
	// namespace is lenient.
	Warning bool
}
