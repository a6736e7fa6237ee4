package httpcache

import (
	"strings"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
)

// maxLines bounds the lines of the fields of a stored response: each costs time whenever it is sent.
const maxLines = 1000

// hasManyLines reports whether a response has more lines than are stored.
func hasManyLines(fields httpmessage.Fields) bool { return len(fields) > maxLines }

// compacted returns a copy of fields in memory of its own. What a reader returns shares that of the whole head,
// which would stay with it: of fields that are not stored, too. Each field is a line of one text: see lineOf.
func compacted(fields httpmessage.Fields) httpmessage.Fields {
	octets := 0
	for _, f := range fields {
		octets += len(f.Name) + len(separator) + len(f.Value) + len(lineEnd)
	}
	var text strings.Builder
	text.Grow(octets) // it does not move from here on
	cloned := func(s, end string) string {
		start := text.Len()
		text.WriteString(s)
		text.WriteString(end)
		return text.String()[start : start+len(s)]
	}
	out := make(httpmessage.Fields, 0, len(fields))
	for _, f := range fields {
		out = append(out, httpmessage.Field{Name: cloned(f.Name, separator), Value: cloned(f.Value, lineEnd)})
	}
	return out
}

const separator, lineEnd = ": ", "\r\n"

// lineOf returns the line of a field of a header that was compacted, with its end.
func lineOf(f httpmessage.Field) string {
	if f.Name == "" || f.Value == "" { // the text of none may be elsewhere
		return f.Name + separator + f.Value + lineEnd
	}
	return unsafe.String(unsafe.StringData(f.Name), len(f.Name)+len(separator)+len(f.Value)+len(lineEnd)) //nolint:gosec // they are of one text
}
