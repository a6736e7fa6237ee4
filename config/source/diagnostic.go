package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a position in a file. Lines and columns start at 1; 0 is unknown.
type Position struct {
	Line, Column int
}

// Diagnostic is an error in a configuration.
type Diagnostic struct {
	File     string // "" if not from a file
	Position        // in the file
	Path     string // dotted path of the setting: "namespaces.0.targets.1.template"
	Message  string
}

// Where formats a file with a position as far as it is known: "urnd.yaml:12:5".
func Where(file string, at Position) string {
	switch {
	case at.Line == 0:
		return file
	case at.Column == 0:
		return fmt.Sprintf("%s:%d", file, at.Line)
	}
	return fmt.Sprintf("%s:%d:%d", file, at.Line, at.Column)
}

// String returns the diagnostic on one line: position, setting, message.
func (f Diagnostic) String() string {
	var words []string
	if f.File != "" {
		words = append(words, Where(f.File, f.Position))
	}
	if f.Path != "" {
		words = append(words, f.Path)
	}
	return strings.Join(append(words, f.Message), ": ")
}

// Diagnostics is an error with all diagnostics, not only the first.
type Diagnostics []Diagnostic

func (f Diagnostics) Error() string {
	lines := make([]string, len(f))
	for i, failure := range f {
		lines[i] = failure.String()
	}
	return strings.Join(lines, "\n")
}

// Add adds a diagnostic without position.
func (f *Diagnostics) Add(path, format string, args ...any) {
	*f = append(*f, Diagnostic{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Locator finds where settings are written.
type Locator interface {
	// WhereIs returns the file, or another source, of the setting that a diagnostic is about, and the position in it.
	WhereIs(f Diagnostic) (file string, at Position)
}

// Locate adds the file and the position to each diagnostic without them, and sorts the diagnostics by line.
func (f Diagnostics) Locate(l Locator) {
	for i := range f {
		if f[i].File == "" || f[i].Line == 0 {
			if file, at := l.WhereIs(f[i]); file != "" {
				f[i].File, f[i].Position = file, at
			}
		}
	}
	slices.SortStableFunc(f, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
}
