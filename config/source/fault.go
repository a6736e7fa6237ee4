package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a file. Lines and columns begin with 1; 0 is one that is not known.
type Position struct {
	Line, Column int
}

// Fault is one error in a configuration.
type Fault struct {
	File     string // "" if it is not from a file
	Position        // in the file
	Path     string // dotted: "namespaces.0.targets.1.template"
	Message  string
}

// Where returns a file with a position in it, as far as that is known: "urnd.yaml:12:5".
func Where(file string, at Position) string {
	switch {
	case at.Line == 0:
		return file
	case at.Column == 0:
		return fmt.Sprintf("%s:%d", file, at.Line)
	}
	return fmt.Sprintf("%s:%d:%d", file, at.Line, at.Column)
}

// String returns the fault as a line: where, what, why.
func (f Fault) String() string {
	var words []string
	if f.File != "" {
		words = append(words, Where(f.File, f.Position))
	}
	if f.Path != "" {
		words = append(words, f.Path)
	}
	return strings.Join(append(words, f.Message), ": ")
}

// Faults is an error: all faults, not only the first.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// Add adds a fault without position.
func (f *Faults) Add(path, format string, args ...any) {
	*f = append(*f, Fault{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Locator knows where settings are written.
type Locator interface {
	// WhereIs returns the file, or another source, of what a fault is about, and the position there.
	WhereIs(f Fault) (file string, at Position)
}

// Locate adds the file and the position to each fault that has none, and sorts them by these.
func (f Faults) Locate(l Locator) {
	for i := range f {
		if f[i].File == "" || f[i].Line == 0 {
			if file, at := l.WhereIs(f[i]); file != "" {
				f[i].File, f[i].Position = file, at
			}
		}
	}
	slices.SortStableFunc(f, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
}
