package rules

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// maxFewNames is up to how many names a nameSet compares one by one: more than usual programs send.
const maxFewNames = 32

// nameSet is a set of field names. Few names are compared one by one. Many, which an origin may send to make that slow,
// are in a map.
type nameSet struct {
	few  []string
	many map[string]bool // in the canonical form of net/http
}

func newNameSet(names []string) nameSet {
	if len(names) <= maxFewNames {
		return nameSet{few: names}
	}
	set := nameSet{many: make(map[string]bool, len(names))}
	for _, name := range names {
		set.many[http.CanonicalHeaderKey(name)] = true
	}
	return set
}

// has reports whether the name of a field is in the set.
func (s nameSet) has(f httpmessage.Field) bool {
	if s.many != nil {
		return s.many[f.Canonical()]
	}
	return slices.ContainsFunc(s.few, f.HasName)
}

// Without returns a copy of fields without the fields with these names.
func Without(fields httpmessage.Fields, names ...string) httpmessage.Fields {
	set := newNameSet(names)
	return fields.Filter(func(f httpmessage.Field) bool { return !set.has(f) })
}

// Only returns a copy of the fields with these names.
func Only(fields httpmessage.Fields, names ...string) httpmessage.Fields {
	set := newNameSet(names)
	return fields.Filter(set.has)
}

// maxLines limits the field lines of a stored response, because each line costs time whenever it is sent.
const maxLines = 1000

// manyLines reports whether a response has too many field lines to be stored.
func manyLines(fields httpmessage.Fields) bool { return len(fields) > maxLines }

// Compact returns a copy of fields in their own memory. The strings of a parser share the memory of the whole
// head, and would retain it, including the fields that are not stored.
func Compact(fields httpmessage.Fields) httpmessage.Fields {
	size := 0
	for _, f := range fields {
		size += len(f.Name) + len(f.Value)
	}
	var text strings.Builder
	text.Grow(size) // it does not reallocate from here on
	copied := func(s string) string {
		start := text.Len()
		text.WriteString(s)
		return text.String()[start:]
	}
	out := make(httpmessage.Fields, len(fields))
	for i, f := range fields {
		out[i] = httpmessage.Field{Name: copied(f.Name), Value: copied(f.Value)}
	}
	return out
}
