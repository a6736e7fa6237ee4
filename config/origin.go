package config

import (
	"fmt"
	"strconv"
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
	Name            string // of the file or of the variable
	source.Position        // in the file
}

// String returns a text about the origin.
func (o Origin) String() string {
	switch o.Kind {
	case FromFile:
		return "file " + source.Where(o.Name, o.Position)
	case FromEnvironment:
		return "environment " + o.Name
	case FromFlag:
		return "flag"
	default:
		return "default"
	}
}

// Origins are the origins of all settings, by path.
type Origins struct {
	settings map[string]Origin
	file     *source.File      // nil for none
	sizes    map[string]string // suggestions for sizes without unit, by path
}

// Of returns the origin of a setting.
func (o Origins) Of(path string) Origin { return o.settings[path] }

// of returns the origin of a path, which may be within a setting, or unknown.
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

// ofFailure returns the origin of the value that an error is about. If that is a default, it returns the origin
// of the first setting in the message that is not a default: a value that is missing, or too small for another
// setting, has no line of its own.
func (o Origins) ofFailure(f Diagnostic) Origin {
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

// WhereIs returns the location of the value that an error is about: a file and a position, or the name of a
// variable.
func (o Origins) WhereIs(f Diagnostic) (name string, at source.Position) {
	origin := o.ofFailure(f)
	return origin.Name, origin.Position
}

// isOutsidePath reports whether a character cannot be part of a setting path.
func isOutsidePath(c rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_.", c)
}

// Locate adds the file and line to an error that has the path of a setting at its start or after a colon, such
// as errors of files that a configuration names. An error that has a location stays unchanged.
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
		if origin := o.of(path); origin.Kind == FromFile || origin.Kind == FromEnvironment {
			return fmt.Errorf("%s: %w", source.Where(origin.Name, origin.Position), err)
		}
	}
	return err
}

// isLocation reports whether a part of an error is a location added by Locate.
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

// sizesWithoutUnit returns suggestions for sizes without unit, by path: few people who write 64 mean bytes.
func sizesWithoutUnit(get func(path string) any) map[string]string {
	sizes := make(map[string]string)
	for path, byDefault := range leaves(Default()) {
		if _, ok := byDefault.(Size); !ok {
			continue
		}
		value := get(path)
		text := fmt.Sprint(value)
		_, isDefault := value.(Size)
		if n, err := strconv.ParseUint(text, 10, 62); err == nil && n > 0 && !isDefault {
			sizes[path] = fmt.Sprintf("%s has no unit: write %s", text, withUnit(Size(n)))
		}
	}
	return sizes
}

// withUnit returns how to write a number of bytes; for a small number it also suggests MiB.
func withUnit(n Size) string {
	const fewMeanBytes = 64 << 10
	if n < fewMeanBytes {
		return fmt.Sprintf("%dMiB, or %s, its other meaning", n, show(n))
	}
	return show(n) + ", its other meaning"
}

// Warnings returns warnings about values that are valid, but probably not intended.
func (o Origins) Warnings(c Config) Diagnostics {
	f := c.Warnings()
	for _, s := range Settings() {
		if size := o.sizes[s.Path]; size != "" {
			f.Add(s.Path, "%s", size)
		}
	}
	o.warnOfEmpty(&f)
	if o.settings["access.cors"].Kind != FromDefault {
		warnOfAllOrigins(&f, c.Access)
	}
	return f
}

// explain adds the suggestion for a size without unit to errors about it, as the likely cause.
func explain(f Diagnostics, sizes map[string]string) {
	for i := range f {
		if size := sizes[f[i].Path]; size != "" {
			f[i].Message = size + ": " + f[i].Message
		}
	}
}

// warnOfEmpty warns of settings without a value, which have their default; in a rule an empty condition matches
// all.
func (o Origins) warnOfEmpty(f *Diagnostics) {
	if o.file == nil {
		return
	}
	const same = "has no value, which is the same as a missing setting"
	for _, path := range o.file.Empty {
		setting, isSetting := o.settings[path]
		rule, isRule := strings.CutPrefix(path, "proxy.rules.")
		_, condition, _ := strings.Cut(rule, ".")
		message := ""
		switch {
		case isSetting && setting.Kind != FromDefault, !strings.Contains(path, "."):
			// The environment sets it; or a section without settings.
		case isSetting:
			message = ": write one, or delete the line for the default"
		case isRule:
			message = ": the rule matches all " + condition + ": write some, or delete the line"
		default:
			message = ": write one, or delete the line"
		}
		if message != "" {
			*f = append(*f, Diagnostic{
				File: o.file.Name, Position: o.file.At(path), Path: path,
				Message: same + message,
			})
		}
	}
}
