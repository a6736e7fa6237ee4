package helper

import "strings"

// unsafeBytes are the bytes that Squid escapes in questions besides control characters and non-ASCII (RFC
// 1738 section 2.2). Others are not escaped: some programs do not decode, such as IPv6 addresses.
const unsafeBytes = " <>\"#%{}|\\^~[]`'"

const hexDigits = "0123456789abcdef"

// escape percent-encodes a value as a word of a question.
func escape(value string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(unsafeBytes, c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape decodes percent-encodings; malformed ones are unchanged.
func unescape(word string) string {
	if !strings.Contains(word, "%") {
		return word
	}
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		if word[i] == '%' && i+2 < len(word) {
			high, low := hexValue(word[i+1]), hexValue(word[i+2])
			if high >= 0 && low >= 0 {
				b.WriteByte(byte(high<<4 | low)) //nolint:gosec // both are below 16
				i += 2
				continue
			}
		}
		b.WriteByte(word[i])
	}
	return b.String()
}

func hexValue(c byte) int {
	if 'A' <= c && c <= 'F' {
		c += 'a' - 'A'
	}
	return strings.IndexByte(hexDigits, c)
}
