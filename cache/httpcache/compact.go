package httpcache

import (
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// maxLines bounds the lines of the fields of a stored response: each costs time whenever it is sent.
const maxLines = 1000

// hasManyLines reports whether a response has more lines than are stored.
func hasManyLines(fields httpmessage.Fields) bool { return len(fields) > maxLines }

// compacted returns a copy of fields in memory of its own. What a reader returns shares that of the whole head,
// which would stay with it: of fields that are not stored, too.
func compacted(fields httpmessage.Fields) httpmessage.Fields {
	octets := 0
	for _, f := range fields {
		octets += len(f.Name) + len(f.Value)
	}
	var text strings.Builder
	text.Grow(octets) // it does not move from here on
	cloned := func(s string) string {
		start := text.Len()
		text.WriteString(s)
		return text.String()[start:]
	}
	out := make(httpmessage.Fields, 0, len(fields))
	for _, f := range fields {
		out = append(out, httpmessage.Field{Name: cloned(f.Name), Value: cloned(f.Value)})
	}
	return out
}
