package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// warning is a rule: where it finds something that is valid, and probably not meant, it adds what, and what to write. A new one is a row of
// the table that it belongs to, in warn_*.go.
type warning func(f *Faults, c checked)

// checked is a configuration whose settings are looked at by their paths, too.
type checked struct {
	Config
	values, defaults map[string]any
}

// isChanged reports whether a setting has another value than by default.
func (c checked) isChanged(path string) bool {
	return !reflect.DeepEqual(c.values[path], c.defaults[path])
}

// Warnings returns what is valid, and probably not meant.
func (c Config) Warnings() Faults {
	var f Faults
	values, defaults := leaves(c), leaves(Default())
	tables := slices.Concat(proxyWarnings(), accessWarnings(), addressWarnings(), valueWarnings(), nameWarnings(), unusedWarnings(), serverWarnings())
	for _, warn := range tables {
		warn(&f, checked{c, values, defaults})
	}
	return f
}

// one is a rule about a setting.
func one(path, says string, holds func(c checked) bool) warning {
	return func(f *Faults, c checked) {
		if holds(c) {
			f.Add(path, "%s", says)
		}
	}
}

// endsBefore is a rule about a time that is more than that of another setting, in which it is spent.
func endsBefore(path, other string) warning {
	return func(f *Faults, c checked) {
		value, _ := c.values[path].(time.Duration)
		if most, _ := c.values[other].(time.Duration); value > most && c.isChanged(path) {
			f.Add(path, "%s is more than %s, %s, which ends before: write a longer one there, or a shorter one here", show(value), other, show(most))
		}
	}
}

// add adds what a rule says of an element, which it may show.
func add(f *Faults, path, says string, element any) {
	if strings.Contains(says, "%") {
		says = fmt.Sprintf(says, element)
	}
	f.Add(path, "%s", says)
}

// each is a rule about the elements of a list: says shows one.
func each[T any](path, says string, list func(c checked) []T, holds func(c checked, element T) bool) warning {
	return func(f *Faults, c checked) {
		for i, element := range list(c) {
			if holds(c, element) {
				add(f, index(path, i), says, element)
			}
		}
	}
}

// first is each, of which only the first element is named.
func first[T any](path, says string, list func(c checked) []T, holds func(c checked, element T) bool) warning {
	return func(f *Faults, c checked) {
		all := list(c)
		if i := slices.IndexFunc(all, func(element T) bool { return holds(c, element) }); i >= 0 {
			add(f, index(path, i), says, all[i])
		}
	}
}

// unused is a rule about settings that have an effect only together with others, where they are changed.
func unused(why string, holds func(c checked) bool, paths ...string) warning {
	return func(f *Faults, c checked) {
		if !holds(c) {
			return
		}
		for _, path := range paths {
			if c.isChanged(path) {
				f.Add(path, "is not used: %s", why)
			}
		}
	}
}
