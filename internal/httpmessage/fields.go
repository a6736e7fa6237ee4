// Package httpmessage has HTTP messages as values: what a request and a response are on the way between a client, the cache and
// an origin, whatever protocol brought them. The lines of their fields keep the order and the spelling in which they came:
// order has a meaning among lines of one name (RFC 9110 section 5.3), and no proxy may change the rest.
package httpmessage

import (
	"net/textproto"
	"slices"
	"strings"
	"unsafe"

	"github.com/urnd/urnd/uri"
)

// Field is one field line: RFC 9110 section 5.
type Field struct{ Name, Value string }

// Is reports whether the field has a name, without regard to the case of ASCII letters.
func (f Field) Is(name string) bool {
	return len(f.Name) == len(name) && (f.Name == name || uri.EqualFold(f.Name, name))
}

// Canonical returns the name as net/http spells it: "Content-Type".
func (f Field) Canonical() string { return textproto.CanonicalMIMEHeaderKey(f.Name) }

// Fields are the field lines of a message, in their order. Names are compared without regard to case. nil has none, and is ready
// to be used.
//
// It is a slice. Add, Set and Del change it, so that one which others have, too, is not changed by them: Clone it before.
// To read it is safe for concurrent use.
type Fields []Field

// FieldsOf returns the fields of pairs of a name and a value. A last name without a value has "".
func FieldsOf(pairs ...string) Fields {
	f := make(Fields, 0, (len(pairs)+1)/2)
	for pair := range slices.Chunk(pairs, 2) {
		field := Field{Name: pair[0]}
		if len(pair) == 2 {
			field.Value = pair[1]
		}
		f = append(f, field)
	}
	return f
}

// index returns the place of the first line of a field, -1 for none.
func (f Fields) index(name string) int {
	for i := range f {
		if f[i].Is(name) {
			return i
		}
	}
	return -1
}

// Has reports whether there is a line of a field.
func (f Fields) Has(name string) bool { return f.index(name) >= 0 }

// Value returns the value of the first line of a field, "" for none.
func (f Fields) Value(name string) string {
	if i := f.index(name); i >= 0 {
		return f[i].Value
	}
	return ""
}

// Lines returns the values of the lines of a field, nil for none. They may be the memory of the fields, and must not be changed.
func (f Fields) Lines(name string) []string {
	first := f.index(name)
	if first < 0 {
		return nil
	}
	lines := one(&f[first].Value) // most fields have one line, and take no memory so
	for i := first + 1; i < len(f); i++ {
		if f[i].Is(name) {
			lines = append(lines, f[i].Value)
		}
	}
	return lines
}

// one returns a text as a slice of its own memory. What is appended to it is a copy.
func one(text *string) []string {
	return unsafe.Slice(text, 1) //nolint:gosec // one string is an array of one
}

// List returns the value of a field as a whole, "" for none: its lines are one list (RFC 9110 section 5.3).
func (f Fields) List(name string) string { return strings.Join(f.Lines(name), ", ") }

// Add adds a line behind the others.
func (f *Fields) Add(name, value string) { *f = append(*f, Field{name, value}) }

// Set makes a field have one line, with this spelling of its name: in place of the first one that it has, or behind the others.
func (f *Fields) Set(name, value string) {
	i := f.index(name)
	if i < 0 {
		f.Add(name, value)
		return
	}
	(*f)[i] = Field{name, value}
	rest := slices.DeleteFunc((*f)[i+1:], func(other Field) bool { return other.Is(name) })
	*f = (*f)[:i+1+len(rest)]
}

// Del removes all lines of a field.
func (f *Fields) Del(name string) {
	*f = slices.DeleteFunc(*f, func(other Field) bool { return other.Is(name) })
}

// room is for how many more lines a copy has memory: who copies fields mostly adds some, such as Via.
const room = 4

// Clone returns a copy, which may be changed.
func (f Fields) Clone() Fields { return append(make(Fields, 0, len(f)+room), f...) }

// Filter returns a copy, which may be changed, of the lines that are to be kept.
func (f Fields) Filter(keep func(Field) bool) Fields {
	kept := make(Fields, 0, len(f)+room)
	for _, field := range f {
		if keep(field) {
			kept = append(kept, field)
		}
	}
	return kept
}
