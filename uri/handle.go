package uri

import "bytes"

// handleForm converts the path dst[start:] of a handle to its normal form. The case of the prefix is
// insignificant, as the Global Handle Registry does not distinguish it (RFC 3652 section 2.1.3). The case of
// the suffix is significant, except in DOIs.
func handleForm(dst []byte, start int) []byte {
	path := dst[start:]
	end := bytes.IndexByte(path, '/')
	if end < 0 || bytes.HasPrefix(path, []byte("10.")) {
		end = len(path)
	}
	lowerBytes(path[:end])
	return dst
}

// lowerBytes converts ASCII letters to lower case, except for those of percent-encodings.
func lowerBytes(text []byte) {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' {
			i += 2
			continue
		}
		text[i] = Lower(text[i])
	}
}
