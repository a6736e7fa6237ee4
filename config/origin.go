package config

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/config/source"
)

// Kind is the kind of source of a value.
type Kind uint8

// The kinds, in rising precedence.
const (
	FromDefault Kind = iota
	FromFile
	FromEnvironment
	FromFlag
)

// String returns the kind in one word.
func (k Kind) String() string { return [...]string{"default", "file", "environment", "flag"}[k] }

// Origin is the source of a value.
type Origin struct {
	Kind            Kind
	Name            string // of the file, of the variable
	source.Position        // in the file
}

// String returns the origin in words.
func (o Origin) String() string {
	switch {
	case o.Kind == FromFile:
		return "file " + source.Where(o.Name, o.Position)
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
	file     *source.File      // nil for none
	sizes    map[string]string // what to write for a size without unit, by its path
}

// Of returns the origin of a setting.
func (o Origins) Of(path string) Origin { return o.settings[path] }

// of returns the origin of a path that may be inside a setting, or unknown.
func (o Origins) of(path string) Origin {
	for setting, origin := range o.settings {
		if setting != path && !strings.HasPrefix(path, setting+".") {
			continue
		}
		if origin.Kind == FromFile {
			origin.Position = o.file.At(path)
		}
		return origin
	}
	if at := o.file.At(path); at.Line > 0 { // an unknown key
		return Origin{Kind: FromFile, Name: o.file.Name, Position: at}
	}
	return Origin{}
}

// ofFault returns the origin of what a fault is about. Where that is a default, it is the first setting in its message that
// is none: what is missing, or too small for another setting, has no line of its own.
func (o Origins) ofFault(f Fault) Origin {
	own := o.of(f.Path)
	if own.Kind != FromDefault {
		return own
	}
	for _, word := range strings.FieldsFunc(f.Message, isOutsidePath) {
		if named := o.of(strings.Trim(word, ".")); named.Kind != FromDefault {
			return named
		}
	}
	return own
}

// WhereIs returns where what a fault is about is written: a file and a position, or the name of a variable.
func (o Origins) WhereIs(f Fault) (name string, at source.Position) {
	origin := o.ofFault(f)
	return origin.Name, origin.Position
}

// isOutsidePath reports whether a character is in no path of a setting.
func isOutsidePath(c rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_.", c)
}

// Locate adds the file and line to an error that has the path of a setting at its beginning, or behind a colon, as those
// of files that a configuration names do. An error that has them already stays as it is.
func (o Origins) Locate(err error) error {
	if err == nil {
		return nil
	}
	for i, part := range strings.Split(err.Error(), ": ") {
		if o.isLocation(part) {
			return err
		}
		path, _, _ := strings.Cut(part, " ")
		if i > 0 && !strings.Contains(path, ".") {
			continue
		}
		switch origin := o.of(path); {
		case origin.Kind == FromFile, origin.Kind == FromEnvironment:
			return fmt.Errorf("%s: %w", source.Where(origin.Name, origin.Position), err)
		}
	}
	return err
}

// isLocation reports whether a part of an error is what Locate adds.
func (o Origins) isLocation(part string) bool {
	if o.file != nil && (part == o.file.Name || strings.HasPrefix(part, o.file.Name+":")) {
		return true
	}
	for _, origin := range o.settings {
		if origin.Kind == FromEnvironment && origin.Name == part {
			return true
		}
	}
	return false
}
