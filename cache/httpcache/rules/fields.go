package rules

import (
	"net/http"
	"slices"
	"strings"
	"unsafe"

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
// would stay with it: of fields that are not stored, too. Each field is a line of one text, in the order of their
// names: see LinesOf.
func Compact(fields httpmessage.Fields) httpmessage.Fields {
	size := 0
	var scratch [32]int // for most
	order := scratch[:0]
	for i, f := range fields {
		order = append(order, i)
		size += len(f.Name) + len(separator) + len(f.Value) + len(lineEnd)
	}
	slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(fields[i].Name, fields[j].Name) })
	var text strings.Builder
	text.Grow(size) // it does not move from here on
	cloned := func(s, end string) string {
		start := text.Len()
		text.WriteString(s)
		text.WriteString(end)
		return text.String()[start : start+len(s)]
	}
	out := make(httpmessage.Fields, len(fields))
	for _, i := range order {
		out[i] = httpmessage.Field{Name: cloned(fields[i].Name, separator), Value: cloned(fields[i].Value, lineEnd)}
	}
	return out
}

const separator, lineEnd = ": ", "\r\n"

// LinesOf returns the lines from one field of a header that was compacted to another one that is not before it in the
// text, with their ends.
func LinesOf(first, last httpmessage.Field) string {
	if first.Name == "" || last.Name == "" { // a text of none may be anywhere
		return first.Name + separator + first.Value + lineEnd
	}
	start, end := unsafe.StringData(first.Name), unsafe.StringData(last.Name)  //nolint:gosec // of one text
	size := int(uintptr(unsafe.Pointer(end)) - uintptr(unsafe.Pointer(start))) //nolint:gosec // of one text
	size += len(last.Name) + len(separator) + len(last.Value) + len(lineEnd)
	return unsafe.String(start, size) //nolint:gosec // within the text
}
