package config

import (
	"reflect"
	"strings"
)

// Value is a setting with its value in a configuration.
type Value struct {
	Setting
	Value     any    // as files have it: texts, numbers, booleans, lists and maps
	Text      string // the same on one line
	IsDefault bool
	Origin    Origin
	// Credential is the credential of systemd (LoadCredential) that the value names, "" for none.
	Credential string
}

// Source returns the origin in words.
func (v Value) Source() string {
	if v.Credential != "" {
		return v.Origin.String() + ", credential " + v.Credential
	}
	return v.Origin.String()
}

// Values returns all settings of a configuration with their origins, without sections, in the order of the file. It shows no
// secret: those are in files.
func (c Config) Values(origins Origins) []Value {
	in, defaults := leaves(c), leaves(Default())
	var all []Value
	for _, s := range Settings() {
		value, ok := in[s.Path]
		if !ok { // a section
			continue
		}
		v := Value{Setting: s, Origin: origins.Of(s.Path), IsDefault: isSame(value, defaults[s.Path])}
		tables := withTables(value)
		v.Value, v.Text = Plain(tables), scalar(tables)
		if text, ok := value.(string); ok {
			if name, ok := strings.CutPrefix(text, CredentialPrefix); ok {
				v.Credential = name
			}
		}
		all = append(all, v)
	}
	return all
}

// isSame reports whether two values of a setting are written in the same way: an empty list is none.
func isSame(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() == reflect.Slice && y.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a, b)
}
