package httpcache

import (
	"net/http"
	"strings"
)

// maxLines bounds the lines of the fields of a stored response: each costs time whenever it is sent.
const maxLines = 1000

// hasManyLines reports whether a header has more lines than are stored.
func hasManyLines(header http.Header) bool {
	n := 0
	for _, lines := range header {
		n += max(len(lines), 1)
	}
	return n > maxLines
}

// compacted returns a copy of a header in memory of its own. What a reader returns shares that of the whole head,
// which would stay with it: of fields that are not stored, too.
func compacted(header http.Header) http.Header {
	octets, count := 0, 0
	for name, lines := range header {
		octets += len(name)
		for _, line := range lines {
			octets += len(line)
		}
		count += len(lines)
	}
	var text strings.Builder
	text.Grow(octets) // it does not move from here on
	cloned := func(s string) string {
		start := text.Len()
		text.WriteString(s)
		return text.String()[start:]
	}
	out, values := make(http.Header, len(header)), make([]string, 0, count)
	for name, lines := range header {
		start := len(values)
		for _, line := range lines {
			values = append(values, cloned(line))
		}
		out[cloned(name)] = values[start:len(values):len(values)]
	}
	return out
}
