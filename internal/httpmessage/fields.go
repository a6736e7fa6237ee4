// Package httpmessage defines the HTTP messages that urnd passes between clients, its cache and origins,
// independent of the protocol version (RFC 9110). The servers for HTTP/1 and HTTP/2 produce an Incoming and
// implement ResponseWriter; a Handler turns them into a Request to an origin and its Response. The package also
// contains header field values shared by these parts, such as Via, Date, media types and preconditions, and the
// table of known request fields.
//
// Field lines keep the order and spelling in which they were received: the order is significant among lines of
// one name (RFC 9110 section 5.3), and a proxy must not change the rest.
package httpmessage

import (
	"net/textproto"
	"slices"
	"strings"
	"unsafe"

	"github.com/urnd/urnd/uri"
)

// Field is a field line: RFC 9110 section 5.
type Field struct{ Name, Value string }

// HasName reports whether the field has this name, compared case-insensitively (ASCII only).
func (f Field) HasName(name string) bool {
	return len(f.Name) == len(name) && (f.Name == name || uri.EqualFold(f.Name, name))
}

// Canonical returns the name in the canonical form of net/http: "Content-Type".
func (f Field) Canonical() string { return textproto.CanonicalMIMEHeaderKey(f.Name) }

// Fields are the field lines of a message, in order. Names are compared case-insensitively. The nil value is
// empty and ready to use.
//
// Add, Set and Del modify the slice and possibly its backing array: Clone shared Fields first. Concurrent reads
// are safe.
type Fields []Field

// NewFields returns the fields of alternating names and values. A last name without a value gets the value "".
func NewFields(pairs ...string) Fields {
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

// index returns the index of the first line of a field, or -1.
func (f Fields) index(name string) int {
	for i := range f {
		if f[i].HasName(name) {
			return i
		}
	}
	return -1
}

// Has reports whether the field has at least one line.
func (f Fields) Has(name string) bool { return f.index(name) >= 0 }

// Get returns the value of the first line of a field, or "".
func (f Fields) Get(name string) string {
	if i := f.index(name); i >= 0 {
		return f[i].Value
	}
	return ""
}

// Values returns the values of all lines of a field, or nil. The result may share memory with f and must not be
// modified.
func (f Fields) Values(name string) []string {
	first := f.index(name)
	if first < 0 {
		return nil
	}
	lines := one(&f[first].Value) // no allocation for the common case of one line
	for i := first + 1; i < len(f); i++ {
		if f[i].HasName(name) {
			lines = append(lines, f[i].Value)
		}
	}
	return lines
}

// one returns text as a slice of length and capacity 1 without allocating. Appending to it copies.
func one(text *string) []string {
	return unsafe.Slice(text, 1) //nolint:gosec // one string is an array of one
}

// List returns the combined value of a field, or "": its lines joined with commas (RFC 9110 section 5.3).
func (f Fields) List(name string) string { return strings.Join(f.Values(name), ", ") }

// Add appends a line.
func (f *Fields) Add(name, value string) { *f = append(*f, Field{name, value}) }

// Set replaces all lines of a field by one, at the position of the first, or appends it. The name gets this
// spelling.
func (f *Fields) Set(name, value string) {
	i := f.index(name)
	if i < 0 {
		f.Add(name, value)
		return
	}
	(*f)[i] = Field{name, value}
	rest := slices.DeleteFunc((*f)[i+1:], func(other Field) bool { return other.HasName(name) })
	*f = (*f)[:i+1+len(rest)]
}

// Del removes all lines of a field.
func (f *Fields) Del(name string) {
	*f = slices.DeleteFunc(*f, func(other Field) bool { return other.HasName(name) })
}

// spareFields is the spare capacity of a copy: its user usually adds some lines, such as Via.
const spareFields = 4

// Clone returns an independent copy.
func (f Fields) Clone() Fields { return append(make(Fields, 0, len(f)+spareFields), f...) }

// Filter returns an independent copy of the lines for which keep returns true.
func (f Fields) Filter(keep func(Field) bool) Fields {
	kept := make(Fields, 0, len(f)+spareFields)
	for _, field := range f {
		if keep(field) {
			kept = append(kept, field)
		}
	}
	return kept
}
