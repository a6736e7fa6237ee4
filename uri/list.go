package uri

import (
	"iter"
	"strings"
)

// ListLines returns the lines of a text/uri-list, RFC 2483 section 5, each with one URI. Comment lines, which
// start with "#", are left out. Lines end in CRLF, LF or CR; white space around them is ignored.
func ListLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
			line = strings.Trim(line, whiteSpace)
			if line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

// AppendList appends a text/uri-list (RFC 2483 section 5) to dst. It starts with the URI that it is about, as a
// comment.
func AppendList(dst []byte, about URI, uris []string) []byte {
	dst = append(append(append(dst, "# "...), about.s...), "\r\n"...)
	for _, u := range uris {
		dst = append(append(dst, u...), "\r\n"...)
	}
	return dst
}
