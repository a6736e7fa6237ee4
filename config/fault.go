package config

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one error in a configuration.
type Fault struct {
	File    string // "" if it is not from a file
	Line    int    // of the file; 0 if not known
	Path    string // dotted: "namespaces.0.targets.1.template"
	Message string
}

// String returns the fault as a line: where, what, why.
func (f Fault) String() string {
	var words []string
	switch {
	case f.Line > 0:
		words = append(words, fmt.Sprintf("%s:%d", f.File, f.Line))
	case f.File != "":
		words = append(words, f.File)
	}
	if f.Path != "" {
		words = append(words, f.Path)
	}
	return strings.Join(append(words, f.Message), ": ")
}

// Faults is the error of Load and Validate: all faults, not only the first.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

func (f *Faults) add(path, format string, args ...any) {
	*f = append(*f, Fault{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Locate adds the file and the line to each fault that has none.
func (f Faults) Locate(origins Origins) {
	for i := range f {
		if f[i].File != "" && f[i].Line > 0 {
			continue
		}
		if o := origins.ofFault(f[i]); o.Kind == FromFile {
			f[i].File, f[i].Line = o.Name, o.Line
		} else if o.Kind == FromEnvironment {
			f[i].File = o.Name
		}
	}
	slices.SortStableFunc(f, func(a, b Fault) int { return a.Line - b.Line })
}
