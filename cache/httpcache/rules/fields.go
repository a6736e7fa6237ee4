package rules

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// maxFewNames is how many names are compared one by one: more than programs send.
const maxFewNames = 32

// nameSet is a set of names of fields. Few of them are compared one by one; of many, which an origin may send to make
// that slow, there is a map.
type nameSet struct {
	few  []string
	many map[string]bool // as net/http spells them
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
	return slices.ContainsFunc(s.few, f.Is)
}

// Without returns a copy of fields without those of some names.
func Without(fields httpmessage.Fields, names ...string) httpmessage.Fields {
	set := newNameSet(names)
	return fields.Filter(func(f httpmessage.Field) bool { return !set.has(f) })
}

// Only returns a copy of the fields of some names.
func Only(fields httpmessage.Fields, names ...string) httpmessage.Fields {
	set := newNameSet(names)
	return fields.Filter(set.has)
}

// maxLines bounds the lines of the fields of a stored response: each costs time whenever it is sent.
const maxLines = 1000

// manyLines reports whether a response has more lines than are stored.
func manyLines(fields httpmessage.Fields) bool { return len(fields) > maxLines }

// Compact returns a copy of fields in memory of its own. What a parser returns shares that of the whole head, which
// would stay with it: of fields that are not stored, too.
func Compact(fields httpmessage.Fields) httpmessage.Fields {
	size := 0
	for _, f := range fields {
		size += len(f.Name) + len(f.Value)
	}
	var text strings.Builder
	text.Grow(size) // it does not move from here on
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
