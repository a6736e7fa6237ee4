package config

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong in a configuration.
type Fault struct {
	Path    string // dotted: "namespaces.0.targets.1.template"
	Message string
}

func (f Fault) String() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// Faults is the error of Load and Validate: everything that is wrong, not only
// the first.
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
