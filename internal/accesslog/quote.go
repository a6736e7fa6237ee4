package accesslog

import "strings"

// quoting appends a value that a client may have chosen, so that it cannot end a line.
type quoting func(b []byte, value []byte) []byte

// asIs appends what no client has chosen, such as numbers.
func asIs(b, value []byte) []byte { return append(b, value...) }

// apacheQuoted is the escaping of Apache (mod_log_config, "Format Notes"): a backslash before quotation marks and backslashes, white
// space as in C, and other bytes that are not printable in hexadecimal.
func apacheQuoted(b, value []byte) []byte {
	for _, c := range value {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= '\a' && c <= '\r':
			b = append(b, '\\', "abtnvfr"[c-'\a'])
		case c < ' ' || c > '~':
			b = append(b, '\\', 'x', lowerHex[c>>4], lowerHex[c&0xF])
		default:
			b = append(b, c)
		}
	}
	return b
}

// appendPercent percent-encodes the bytes that a function is true for.
func appendPercent(b, value []byte, hex string, encoded func(c byte) bool) []byte {
	for _, c := range value {
		if encoded(c) {
			b = append(b, '%', hex[c>>4], hex[c&0xF])
		} else {
			b = append(b, c)
		}
	}
	return b
}

func isControl(c byte) bool { return c < ' ' || c == 0x7F }

// isUnsafe reports whether a byte is unsafe in URLs (RFC 1738 section 2.2), but for the percent sign.
func isUnsafe(c byte) bool {
	switch c {
	case '<', '>', '"', '#', '{', '}', '|', '\\', '^', '~', '[', ']', '`':
		return true
	}
	return c <= ' ' || c > '~'
}

// The encodings of Squid's logformat. Where Squid would write control characters as they are, they are percent-encoded: no client
// begins a line.

// squidRaw is the encoding ' of Squid: as it is.
func squidRaw(b, value []byte) []byte { return appendPercent(b, value, upperHex, isControl) }

// squidWord is how method and URL are written: they end at a space (uri_whitespace encode).
func squidWord(b, value []byte) []byte {
	return appendPercent(b, value, upperHex, func(c byte) bool { return c <= ' ' || c > '~' })
}

// squidPassThrough is Squid's "pass-through URL encoding".
func squidPassThrough(b, value []byte) []byte { return appendPercent(b, value, upperHex, isUnsafe) }

// squidURL is the encoding # of Squid.
func squidURL(b, value []byte) []byte {
	return appendPercent(b, value, upperHex, func(c byte) bool { return c == '%' || isUnsafe(c) })
}

// squidBrackets is the encoding [ of Squid.
func squidBrackets(b, value []byte) []byte {
	return appendPercent(b, value, lowerHex, func(c byte) bool {
		return c == '%' || c == '[' || c == ']' || c == '\\' || c < ' ' || c > '~'
	})
}

// squidQuoted is the encoding " of Squid.
func squidQuoted(b, value []byte) []byte { return squidBackslashed(b, value, "\r\n\t", "rnt") }

// squidShell is the encoding / of Squid.
func squidShell(b, value []byte) []byte {
	for _, c := range value {
		if c == ' ' {
			b = squidBackslashed(append(b, '"'), value, "\r\n", "rn")
			return append(b, '"')
		}
	}
	return squidBackslashed(b, value, "\r\n", "rn")
}

// squidBackslashed writes a backslash before quotation marks and backslashes, and letters with one for some control characters.
func squidBackslashed(b, value []byte, controls, letters string) []byte {
	for i, c := range value {
		at := -1
		if isControl(c) {
			at = strings.IndexByte(controls, c)
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case at >= 0:
			b = append(b, '\\', letters[at])
		default:
			b = squidRaw(b, value[i:i+1])
		}
	}
	return b
}
