package accesslog

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
)

// appendQuoted appends what is to stand in quotation marks, as Apache escapes it: octets that could
// end a field or a line, and those that are not ASCII, in hexadecimal.
func appendQuoted(b []byte, s string) []byte {
	done := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			b = append(b, s[done:i]...)
			b = append(b, '\\', 'x', lowerHex[c>>4], lowerHex[c&0xF])
			done = i + 1
		}
	}
	return append(b, s[done:]...)
}

// appendWord appends a field that ends at a space, as Squid does: spaces, control characters and
// octets that are not ASCII are percent-encoded.
func appendWord(b []byte, s string) []byte {
	done := 0
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' {
			b = append(b, s[done:i]...)
			b = append(b, '%', upperHex[c>>4], upperHex[c&0xF])
			done = i + 1
		}
	}
	return append(b, s[done:]...)
}
