package listen

import "golang.org/x/net/http2/hpack"

// A request by HTTP/2 that may be answered at once is written as octets of HTTP/1.1 for the FastPath, and its response is read so:
// that costs less than the rest by far, and what is a plain request is said in one place.

// pseudoFields are those of a request that is plain: RFC 9113 section 8.3.1.
type pseudoFields struct{ method, scheme, authority, path string }

// appendRequest appends a request that may be plain, and reports whether it is one and has the method HEAD.
func appendRequest(dst []byte, fields []hpack.HeaderField) (octets []byte, isHead, ok bool) {
	var p pseudoFields
	count := 0
	for count < len(fields) && fields[count].IsPseudo() {
		if !p.set(fields[count]) {
			return dst, false, false
		}
		count++
	}
	isHead = p.method == "HEAD"
	if !isHead && p.method != "GET" || p.scheme != "https" && p.scheme != "http" || p.authority == "" || p.path == "" || p.path[0] != '/' {
		return dst, false, false
	}
	dst = append(append(append(append(dst, p.method...), ' '), p.path...), " HTTP/1.1\r\nHost: "...)
	dst = append(append(dst, p.authority...), "\r\n"...)
	for _, f := range fields[count:] {
		if !isPlainField(f) {
			return dst, false, false
		}
		dst = append(append(append(append(dst, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
	return append(dst, "\r\n"...), isHead, true
}

// set takes a field, and returns false where it is none of those, or comes again.
func (p *pseudoFields) set(f hpack.HeaderField) bool {
	var to *string
	switch f.Name {
	case ":method":
		to = &p.method
	case ":scheme":
		to = &p.scheme
	case ":authority":
		to = &p.authority
	case ":path":
		to = &p.path
	default:
		return false
	}
	if *to != "" || !isVisible(f.Value, '!') {
		return false
	}
	*to = f.Value
	return true
}

// isPlainField reports whether a field is the same by HTTP/1.1.
func isPlainField(f hpack.HeaderField) bool {
	switch f.Name {
	case "", "host", "connection", "proxy-connection": // RFC 9113 section 8.2.2
		return false
	}
	for i := range len(f.Name) {
		if c := f.Name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	v := f.Value
	return isVisible(v, ' ') && (v == "" || v[0] != ' ' && v[len(v)-1] != ' ')
}

// isVisible reports whether a text has only octets of ASCII from one on that are visible, or a space.
func isVisible(text string, from byte) bool {
	for i := range len(text) {
		if text[i] < from || text[i] > '~' {
			return false
		}
	}
	return true
}
