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
	Name            string // of the file, of the variable
	source.Position        // in the file
}

// String returns the origin in words.
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
		if origin := o.of(path); origin.Kind == FromFile || origin.Kind == FromEnvironment {
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

// sizesWithoutUnit returns, by path, what to write for sizes without unit: octets are meant by few who write 64.
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

// withUnit returns how a number of octets is written, and what a small one means to many.
func withUnit(n Size) string {
	const fewMeanOctets = 64 << 10
	if n < fewMeanOctets {
		return fmt.Sprintf("%dMiB, or %s, which it is taken for", n, show(n))
	}
	return show(n) + ", which it is taken for"
}

// Warnings returns what is valid in a configuration, and probably not meant.
func (o Origins) Warnings(c Config) Faults {
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

// explain says of sizes that have no unit what to write, where that is why they are wrong.
func explain(f Faults, sizes map[string]string) {
	for i := range f {
		if size := sizes[f[i].Path]; size != "" {
			f[i].Message = size + ": " + f[i].Message
		}
	}
}

// warnOfEmpty warns of settings that are written without a value: their default holds, and of a rule all.
func (o Origins) warnOfEmpty(f *Faults) {
	if o.file == nil {
		return
	}
	const same = "has no value, as if it were not written"
	for _, path := range o.file.Empty {
		setting, isSetting := o.settings[path]
		rule, isRule := strings.CutPrefix(path, "proxy.rules.")
		_, condition, _ := strings.Cut(rule, ".")
		message := ""
		switch {
		case isSetting && setting.Kind != FromDefault, !strings.Contains(path, "."): // the environment has it; a section without settings
		case isSetting:
			message = ": write one, or delete the line for the default"
		case isRule:
			message = ": the rule is about all " + condition + ": write some, or delete the line"
		default:
			message = ": write one, or delete the line"
		}
		if message != "" {
			*f = append(*f, Fault{File: o.file.Name, Position: o.file.At(path), Path: path, Message: same + message})
		}
	}
}
