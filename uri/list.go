package uri

import "strings"

// ParseList parses a text/uri-list, RFC 2483 section 5: one URI per line, and
// comments after "#". Lines end in CRLF, LF or CR; white space around them is
// ignored. Lines that are not absolute URIs are skipped and counted in bad.
func ParseList(text string) (uris []URI, bad int) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.Trim(line, whiteSpace)
		if line == "" || line[0] == '#' {
			continue
		}
		u, err := Parse(line)
		if err != nil {
			bad++
			continue
		}
		uris = append(uris, u)
	}
	return uris, bad
}

// AppendList appends a text/uri-list about a URI, which comes first, as a comment
// (RFC 2483 section 5).
func AppendList(dst []byte, about URI, uris []string) []byte {
	dst = append(append(append(dst, "# "...), about.s...), "\r\n"...)
	for _, u := range uris {
		dst = append(append(dst, u...), "\r\n"...)
	}
	return dst
}
