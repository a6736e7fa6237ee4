package uri

import "bytes"

// handleForm makes the path dst[start:] of a handle that of all equivalent ones: the case of its prefix does not count, as the Global
// Handle Registry does not distinguish it (RFC 3652 section 2.1.3), and the case of what follows does, but in DOIs.
func handleForm(dst []byte, start int) []byte {
	path := dst[start:]
	end := bytes.IndexByte(path, '/')
	if end < 0 || bytes.HasPrefix(path, []byte("10.")) {
		end = len(path)
	}
	lowerOctets(path[:end])
	return dst
}

// lowerOctets makes the letters of ASCII lower case, but those of percent-encodings.
func lowerOctets(text []byte) {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' {
			i += 2
			continue
		}
		text[i] = Lower(text[i])
	}
}
