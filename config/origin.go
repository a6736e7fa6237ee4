package config

import (
	"fmt"
	"strings"
)

// Kind says what a value came from.
type Kind uint8

// The kinds, the last one goes before all others.
const (
	FromDefault Kind = iota
	FromFile
	FromEnvironment
	FromFlag
)

// Origin is where a value came from.
type Origin struct {
	Kind Kind
	Name string // of the file, of the variable
	Line int    // of the file; 0 where it is not known
}

// String returns the origin in words.
func (o Origin) String() string {
	switch {
	case o.Kind == FromFile && o.Line > 0:
		return fmt.Sprintf("file %s:%d", o.Name, o.Line)
	case o.Kind == FromFile:
		return "file " + o.Name
	case o.Kind == FromEnvironment:
		return "environment " + o.Name
	case o.Kind == FromFlag:
		return "flag"
	default:
		return "default"
	}
}

// Origins are those of all settings, by dotted path.
type Origins struct {
	settings map[string]Origin
	file     string
	lines    lines
}

// Of returns the origin of a setting.
func (o Origins) Of(path string) Origin { return o.settings[path] }

// of returns the origin of a path that may lie within a setting, or be none.
func (o Origins) of(path string) Origin {
	for setting, origin := range o.settings {
		if setting != path && !strings.HasPrefix(path, setting+".") {
			continue
		}
		if origin.Kind == FromFile {
			origin.Line = o.lines.line(path)
		}
		return origin
	}
	if line := o.lines.line(path); line > 0 { // an unknown key
		return Origin{Kind: FromFile, Name: o.file, Line: line}
	}
	return Origin{}
}
