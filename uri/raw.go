package uri

import "strings"

// EncodeRaw returns an http or https URL with those octets of its path and query percent-encoded that programs send as
// they are, although RFC 3986 section 2 has no place for them: printable ASCII such as "[", "|" or a quotation mark,
// octets beyond ASCII, and a percent sign that begins no triplet. Controls, spaces and what is behind "#" stay, for the
// parser to refuse: they could end what they are a part of. So do authorities, which say who is asked, and all other
// texts. A URL without such octets is returned as it is.
func EncodeRaw(s string) string {
	scheme := strings.IndexByte(s, ':')
	if scheme < 0 || !IsWebScheme(s[:scheme]) || !strings.HasPrefix(s[scheme:], "://") {
		return s
	}
	return encodeRaw(s, pathIndex(s, scheme+len("://")))
}

// EncodeRawName is EncodeRaw for a URN: the name that a text without percent-encoding probably means. It is for suggestions:
// a name with such octets is none (RFC 8141 section 2.2). All other texts are returned as they are.
func EncodeRawName(s string) string {
	if len(s) < len(urnPrefix) || !EqualFold(s[:len(urnPrefix)], urnPrefix) {
		return s
	}
	return encodeRaw(s, len(urnPrefix))
}

// ParseRaw is Parse of EncodeRaw: it parses what a client sends as the target of a request.
func ParseRaw(s string) (URI, error) { return Parse(EncodeRaw(s)) }

// ParseRawReference is ParseReference of what a server sends in Location: the path and query of a relative reference
// may have the octets of EncodeRaw, too.
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

// PathAndQuery returns the path and the query, with its "?", of a text with an authority, as they stand there: raw
// octets stay. Both may be empty.
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

// pathIndex returns the offset of the end of the authority that begins at start: RFC 3986 section 3.2.
func pathIndex(s string, start int) int {
	for start < len(s) && !endsAuthority(s, start) {
		start++
	}
	return start
}

// IsWebScheme reports whether a scheme, in any case, is one of HTTP.
func IsWebScheme(s string) bool { return EqualFold(s, "http") || EqualFold(s, "https") }

// IsWeb reports whether the scheme of a URI is one of HTTP.
func (u URI) IsWeb() bool { return IsWebScheme(u.Scheme()) }

// encodeRaw encodes s from offset i to its "#".
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

// isRaw reports whether the octet at i of a path or a query is one that EncodeRaw encodes.
func isRaw(s string, i int) bool {
	b := s[i]
	if b == '%' {
		return !isTriple(s, i)
	}
	return !is(b, classQuery) && b > ' ' && b != 0x7f
}
