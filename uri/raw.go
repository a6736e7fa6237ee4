package uri

import "strings"

// EncodeRaw returns an http or https URL with those bytes of its path and query percent-encoded that clients
// send raw although RFC 3986 section 2 does not allow them: printable ASCII such as "[", "|" or a quotation
// mark, non-ASCII bytes, and a percent sign that starts no percent-encoding. Control characters, spaces and the
// part after "#" are unchanged, and left to the parser to reject: they could end the component. Authorities,
// which identify the server, and all other texts are unchanged as well. A URL without such bytes is returned
// unchanged.
func EncodeRaw(s string) string {
	scheme := strings.IndexByte(s, ':')
	if scheme < 0 || !IsWebScheme(s[:scheme]) || !strings.HasPrefix(s[scheme:], "://") {
		return s
	}
	return encodeRaw(s, pathIndex(s, scheme+len("://")))
}

// EncodeRawName is EncodeRaw for a URN. It serves for suggestions, since a text with such bytes is no URN (RFC
// 8141 section 2.2). All other texts are returned unchanged.
func EncodeRawName(s string) string {
	if len(s) < len(urnPrefix) || !EqualFold(s[:len(urnPrefix)], urnPrefix) {
		return s
	}
	return encodeRaw(s, len(urnPrefix))
}

// ParseRaw is Parse of EncodeRaw: it parses the request target that a client sends.
func ParseRaw(s string) (URI, error) { return Parse(EncodeRaw(s)) }

// ParseRawReference is ParseReference for a Location header field of a server: the path and query of a relative
// reference may also have the bytes that EncodeRaw encodes.
func ParseRawReference(s string) (URI, error) {
	if scheme, err := parseScheme(s); err != nil || scheme > 0 {
		return ParseReference(EncodeRaw(s))
	}
	start := 0
	if strings.HasPrefix(s, "//") {
		start = pathIndex(s, len("//"))
	}
	return ParseReference(encodeRaw(s, start))
}

// PathAndQuery returns the path and the query, with its "?", of a text with an authority. Raw bytes are not
// encoded. Both may be empty.
func PathAndQuery(s string) string {
	_, rest, ok := strings.Cut(s, "//")
	if !ok {
		return ""
	}
	rest = rest[pathIndex(rest, 0):]
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// pathIndex returns the offset of the end of the authority that starts at start: RFC 3986 section 3.2.
func pathIndex(s string, start int) int {
	for start < len(s) && !endsAuthority(s, start) {
		start++
	}
	return start
}

// IsWebScheme reports whether a scheme is http or https, ignoring case.
func IsWebScheme(s string) bool { return EqualFold(s, "http") || EqualFold(s, "https") }

// IsWeb reports whether the scheme of a URI is http or https.
func (u URI) IsWeb() bool { return IsWebScheme(u.Scheme()) }

// encodeRaw encodes the raw bytes of s from offset i to its "#".
func encodeRaw(s string, i int) string {
	for i < len(s) && s[i] != '#' && !isRaw(s, i) {
		i++
	}
	if i == len(s) || s[i] == '#' {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + len(s)/2)
	out.WriteString(s[:i])
	for ; i < len(s) && s[i] != '#'; i++ {
		if isRaw(s, i) {
			out.Write([]byte{'%', upperHex[s[i]>>4], upperHex[s[i]&15]})
		} else {
			out.WriteByte(s[i])
		}
	}
	out.WriteString(s[i:])
	return out.String()
}

// isRaw reports whether EncodeRaw encodes the byte at i of a path or a query.
func isRaw(s string, i int) bool {
	b := s[i]
	if b == '%' {
		return !isTriple(s, i)
	}
	return !is(b, classQuery) && b > ' ' && b != 0x7f
}
