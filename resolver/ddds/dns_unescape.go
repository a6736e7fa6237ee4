package ddds

import "strings"

// unescape returns the bytes of a character-string. The library represents the strings of NAPTR records in the
// syntax of master files, even when they come from the wire: a backslash is `\\`, a byte that is not printable
// ASCII is `\DDD`.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if char, ok := decimal(s[i+1:]); ok {
			b.WriteByte(char)
			i += 3
			continue
		}
		i++
		b.WriteByte(s[i])
	}
	return b.String()
}

// decimal parses the three digits of `\DDD`.
func decimal(s string) (byte, bool) {
	if len(s) < 3 {
		return 0, false
	}
	n := 0
	for i := range 3 {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return byte(n), n < 256
}
