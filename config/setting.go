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

// Setting declares one leaf of the configuration, or a section: a row of settings.yaml. The defaults, the example file, the manual, the
// schema, the checks and what a reload keeps are all derived from these; the type of a leaf is that of its field in Config.
type Setting struct {
	// Path is the keys of its field, dotted: "dns.timeout"; without a dot it is a section, or "namespaces".
	// A field without declaration, or the reverse, fails the tests.
	Path string
	Doc  string // what it means, in sentences
	// Default has the type of the field of Config; nil is its zero value.
	Default any
	// Sample is an example in YAML, without indentation, shown as a comment.
	Sample string
	// Least and Most bound a number, a duration or a size, both included; nil is no
	// bound. They have the type of the value.
	Least, Most any
	// OneOf are the only allowed texts, for lists the only allowed elements.
	OneOf []string
	// Form describes the syntax of a text, or of each element of a list, without OneOf.
	Form string
	// Secret marks what may hold a secret by mistake: messages do not show its value.
	Secret bool
	// Invalidates is what a reload throws away that changes the setting. It holds for all settings of a
	// section that say nothing else; a setting must say it where its section does not.
	Invalidates Contents
	// Elements are the settings of a table, or of each table in a list; "*" in their paths stands for the
	// index. They are optional unless their Doc says otherwise.
	Elements []Setting
	// check makes further checks; nil makes none.
	check func(f *Faults, path string, value any)
}

// Elements returns the settings of tables in lists.
func Elements() []Setting {
	var all []Setting
	for _, s := range Settings() {
		all = append(all, s.elements()...)
	}
	return all
}

// elements returns the settings of the tables of s, and those of the tables in them.
func (s Setting) elements() []Setting {
	all := slices.Clone(s.Elements)
	for _, inner := range s.Elements {
		all = append(all, inner.elements()...)
	}
	return all
}

// IsSection reports whether s is a table of others.
func (s Setting) IsSection() bool { return !strings.Contains(s.Path, ".") && s.Path != "namespaces" }

// Bound says in words what values are allowed, and "" where all are.
func (s Setting) Bound() string {
	switch {
	case len(s.OneOf) > 0:
		return oneOf(s.OneOf)
	case s.Least != nil && s.Most != nil:
		return show(s.Least) + " to " + show(s.Most)
	default:
		return s.Form
	}
}

// oneOf lists words as a sentence does.
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// validate checks a value against the bounds and words of its setting.
func (s Setting) validate(f *Faults, value any) {
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

// validateElements checks the settings of the tables in a list against their declarations; those that are not set have none to keep.
func (s Setting) validateElements(f *Faults, value any) {
	tables, _ := value.([]any)
	if len(s.Elements) == 0 || len(tables) == 0 {
		return
	}
	fields := fieldNumbers(reflect.TypeOf(tables[0]))
	for i, table := range tables {
		s.validateTable(f, index(s.Path, i), reflect.ValueOf(table), fields)
	}
}

// validateTable checks a table at a path; fields are the numbers of its fields by their keys.
func (s Setting) validateTable(f *Faults, path string, table reflect.Value, fields map[string]int) {
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

// fieldNumbers returns the numbers of the fields of a struct by the keys of their settings.
func fieldNumbers(t reflect.Type) map[string]int {
	numbers := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		numbers[t.Field(i).Tag.Get("mapstructure")] = i
	}
	return numbers
}

func (s Setting) validateWords(f *Faults, value any) {
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
			f.Add(path, "%q is named twice", word)
		}
	}
}

// ordered returns a value that has bounds as a number.
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

// show prints a value as files write it.
func show(value any) string {
	switch v := value.(type) {
	case Size:
		text, _ := v.MarshalText() // it cannot fail
		return string(text)
	case time.Duration:
		return showDuration(v)
	}
	return fmt.Sprint(value)
}

// showDuration prints a duration without parts that are zero: "2h", not "2h0m0s".
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
