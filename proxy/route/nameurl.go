package route

import "strings"

// AppendNameURL appends the URL by which the server at base answers for a canonical name: that of a name of the web is the name itself. base
// is an absolute URL without a slash at its end, or "" for a path. Clients split Link fields at commas and semicolons (RFC 8288 section 3), so
// that a URL has none: the name is percent-encoded as a whole then, as paths may have it.
func AppendNameURL(dst []byte, base, name string) []byte {
	isPlain := isPlain(name)
	if !isPlain || !isAbsoluteWeb(name) {
		dst = append(append(dst, base...), '/')
	}
	return appendName(dst, name, isPlain)
}

// AppendServiceURL appends the URL by which the server at base answers a question about a canonical name by a service of THTTP,
// such as "2C", in a format, "" for the one that the client accepts.
func AppendServiceURL(dst []byte, base, service, format, name string) []byte {
	class := byte('L')
	if strings.HasPrefix(name, "urn:") {
		class = 'N'
	}
	dst = append(append(append(append(dst, base...), PathTHTTP...), class), service...)
	if format != "" {
		dst = append(append(dst, '.'), format...)
	}
	return appendName(append(dst, '?'), name, isPlain(name))
}

// isPlain reports whether a name has no octet at which clients split a Link field.
func isPlain(name string) bool {
	return strings.IndexByte(name, ',') < 0 && strings.IndexByte(name, ';') < 0
}

// appendName appends a name, percent-encoded as a whole where it is not plain: see isEncoded.
func appendName(dst []byte, name string, isPlain bool) []byte {
	if isPlain {
		return append(dst, name...)
	}
	const hex = "0123456789ABCDEF"
	hasScheme := false
	for i := range len(name) {
		c := name[i]
		switch {
		case c == ':' && !hasScheme:
			hasScheme = true
		case c != ',' && c != ';' && c != '%' && c != '?' && c != '#':
			dst = append(dst, c)
			continue
		}
		dst = append(dst, '%', hex[c>>4], hex[c&15])
	}
	return dst
}
