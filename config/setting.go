package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// Setting declares a setting of the configuration, or a section: a row of settings.yaml. The defaults, the
// example file, the manual, the schema, the checks and the effect of a reload are derived from it. The type of
// a setting is that of its field in Config.
type Setting struct {
	// Path is the keys of its field, joined by dots: "dns.timeout". Without a dot it is a section, or
	// "namespaces". Tests require exactly one declaration per field.
	Path string
	Doc  string // meaning, in sentences
	// Default has the type of the field in Config; nil is the zero value.
	Default any
	// Sample is an example in YAML, without indentation, shown as a comment.
	Sample string
	// Least and Most are the inclusive limits of a number, a duration or a size; nil is no limit. They have the
	// type of the value.
	Least, Most any
	// OneOf lists the only allowed texts, or the only allowed elements of a list.
	OneOf []string
	// Form describes the syntax of a text, or of each element of a list, if OneOf is empty.
	Form string
	// Secret marks a setting that may hold a secret by mistake: messages do not show its value.
	Secret bool
	// Invalidates is the contents that a reload drops when the setting changes. That of a section applies to
	// its settings without their own; a setting must have its own if its section has none.
	Invalidates Contents
	// Elements are the settings of a table, or of each table in a list, in whose paths "*" stands for the
	// index. They are optional unless Doc says otherwise.
	Elements []Setting
	// check makes further checks; nil for none.
	check func(f *Diagnostics, path string, value any)
}

// Elements returns the settings of tables in lists.
func Elements() []Setting {
	var all []Setting
	for _, s := range Settings() {
		all = append(all, s.elements()...)
	}
	return all
}

// elements returns the settings of the tables of s, and of tables within them.
func (s Setting) elements() []Setting {
	all := slices.Clone(s.Elements)
	for _, inner := range s.Elements {
		all = append(all, inner.elements()...)
	}
	return all
}

// IsSection reports whether s is a section.
func (s Setting) IsSection() bool { return !strings.Contains(s.Path, ".") && s.Path != "namespaces" }

// DescribeBounds returns a text about the allowed values, "" if all are allowed.
func (s Setting) DescribeBounds() string {
	switch {
	case len(s.OneOf) > 0:
		return oneOf(s.OneOf)
	case s.Least != nil && s.Most != nil:
		return show(s.Least) + " to " + show(s.Most)
	default:
		return s.Form
	}
}

// oneOf joins words by commas and "or".
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// validate checks a value against the limits and allowed words of its setting.
func (s Setting) validate(f *Diagnostics, value any) {
	if n, ok := ordered(value); ok && s.Least != nil {
		least, _ := ordered(s.Least)
		most, _ := ordered(s.Most)
		if n < least || n > most {
			f.Add(s.Path, "%s is not between %s and %s", show(value), show(s.Least), show(s.Most))
		}
	}
	if len(s.OneOf) > 0 {
		s.validateWords(f, value)
	}
	if s.check != nil {
		s.check(f, s.Path, value)
	}
}

// validateElements checks the settings of the tables in a list against their declarations. Settings that are
// not set are skipped.
func (s Setting) validateElements(f *Diagnostics, value any) {
	tables, _ := value.([]any)
	if len(s.Elements) == 0 || len(tables) == 0 {
		return
	}
	fields := fieldNumbers(reflect.TypeOf(tables[0]))
	for i, table := range tables {
		s.validateTable(f, index(s.Path, i), reflect.ValueOf(table), fields)
	}
}

// validateTable checks the table at a path; fields maps keys to field indexes.
func (s Setting) validateTable(f *Diagnostics, path string, table reflect.Value, fields map[string]int) {
	for _, e := range s.Elements {
		key := e.Path[strings.LastIndexByte(e.Path, '.')+1:]
		e.Path = path + "." + key
		value := table.Field(fields[key])
		switch isTables := value.Kind() == reflect.Slice && isSection(value.Type().Elem()); {
		case value.IsZero():
		case isTables:
			inner := fieldNumbers(value.Type().Elem())
			for i := range value.Len() {
				e.validateTable(f, index(e.Path, i), value.Index(i), inner)
			}
		case isSection(value.Type()):
			e.validateTable(f, e.Path, value, fieldNumbers(value.Type()))
		case len(e.OneOf) > 0 || e.check != nil || e.Least != nil:
			e.validate(f, value.Interface())
		}
	}
}

// fieldNumbers maps the keys of settings to the field indexes of a struct.
func fieldNumbers(t reflect.Type) map[string]int {
	numbers := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		numbers[t.Field(i).Tag.Get("mapstructure")] = i
	}
	return numbers
}

func (s Setting) validateWords(f *Diagnostics, value any) {
	list, isList := value.([]string)
	if !isList {
		list = []string{show(value)}
	}
	for i, word := range list {
		path := s.Path
		if isList {
			path = index(path, i)
		}
		if !slices.Contains(s.OneOf, word) {
			f.Add(path, "%q is not %s%s", word, oneOf(s.OneOf), didYouMean(word, s.OneOf))
		} else if isList && slices.Index(list, word) != i {
			f.Add(path, "%q is listed twice", word)
		}
	}
}

// ordered returns a value that can have limits as a number.
func ordered(value any) (int64, bool) {
	switch v := value.(type) {
	case int:
		return int64(v), true
	case time.Duration:
		return int64(v), true
	case Size:
		return int64(v), true
	}
	return 0, false
}

// show formats a value as in files.
func show(value any) string {
	switch v := value.(type) {
	case Size:
		text, _ := v.MarshalText() // never fails
		return string(text)
	case time.Duration:
		return showDuration(v)
	}
	return fmt.Sprint(value)
}

// showDuration formats a duration without zero parts: "2h", not "2h0m0s".
func showDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
