package httpcache

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
)

// maxLines bounds the lines of the fields of a stored response: each costs time whenever it is sent.
const maxLines = 1000

// hasManyLines reports whether a response has more lines than are stored.
func hasManyLines(fields httpmessage.Fields) bool { return len(fields) > maxLines }

// compacted returns a copy of fields in memory of its own. What a reader returns shares that of the whole head,
// which would stay with it: of fields that are not stored, too. Each field is a line of one text, in the order of their names: see linesOf.
func compacted(fields httpmessage.Fields) httpmessage.Fields {
	octets := 0
	var room [32]int // for most
	order := room[:0]
	for i, f := range fields {
		order = append(order, i)
		octets += len(f.Name) + len(separator) + len(f.Value) + len(lineEnd)
	}
	slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(fields[i].Name, fields[j].Name) })
	var text strings.Builder
	text.Grow(octets) // it does not move from here on
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

// linesOf returns the lines from one field of a header that was compacted to another one that is not before it in the text, with their ends.
func linesOf(first, last httpmessage.Field) string {
	if first.Name == "" || last.Name == "" { // a text of none may be anywhere
		return first.Name + separator + first.Value + lineEnd
	}
	start := unsafe.StringData(first.Name) //nolint:gosec // it is that of a text which is not empty
	octets := len(last.Name) + len(separator) + len(last.Value) + len(lineEnd)
	octets += int(uintptr(unsafe.Pointer(unsafe.StringData(last.Name))) - uintptr(unsafe.Pointer(start))) //nolint:gosec // both are of one text
	return unsafe.String(start, octets)                                                                   //nolint:gosec // likewise
}
