package route

import "strings"

// AppendNameURL appends the URL at which the server at base resolves a canonical name: for a name that is a
// web address, the name itself. base is an absolute URL without a slash at its end, or "" for a path. Clients
// split Link fields at commas and semicolons (RFC 8288 section 3): a name with one of them is percent-encoded
// as a whole, as isEncoded recognizes.
func AppendNameURL(dst []byte, base, name string) []byte {
	plain := isPlain(name)
	if !plain || !isAbsoluteWeb(name) {
		dst = append(append(dst, base...), '/')
	}
	return appendName(dst, name, plain)
}

// AppendServiceURL appends the URL of a THTTP service, such as "2C", for a canonical name at the server at
// base. format is that of the response, "" for the one that the client accepts.
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

// isPlain reports whether a name has no byte at which clients split a Link field.
func isPlain(name string) bool {
	return strings.IndexByte(name, ',') < 0 && strings.IndexByte(name, ';') < 0
}

// appendName appends a name, percent-encoded as a whole if it is not plain: see isEncoded.
func appendName(dst []byte, name string, plain bool) []byte {
	if plain {
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
