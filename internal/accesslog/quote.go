package accesslog

import (
	"bytes"
	"fmt"
)

// quoting escapes values that a client may have chosen, so that none of their bytes ends a field or a line. A
// nil quoting writes values unchanged. It is immutable and safe for concurrent use.
type quoting struct {
	escapes [256]string // "" for the byte itself
	plain   [256]bool   // the byte is written unchanged
	marks   bool        // a value with a space is enclosed in quotation marks
}

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
)

// newQuoting returns the quoting defined by escape, which returns "" for a byte that is written unchanged.
func newQuoting(escape func(c byte) string) *quoting {
	q := new(quoting)
	for c := range len(q.escapes) {
		q.escapes[c] = escape(byte(c))
	}
	q.index()
	return q
}

// index computes plain from escapes.
func (q *quoting) index() {
	for c := range q.plain {
		q.plain[c] = q.escapes[c] == "" && (c != ' ' || !q.marks)
	}
}

// accepts reports whether a value is written unchanged.
func (q *quoting) accepts(value []byte) bool {
	for _, c := range value {
		if !q.plain[c] {
			return false
		}
	}
	return true
}

// append appends the quoted value.
func (q *quoting) append(b, value []byte) []byte {
	hasMarks := q.marks && bytes.IndexByte(value, ' ') >= 0
	if hasMarks {
		b = append(b, '"')
	}
	for _, c := range value {
		if escape := q.escapes[c]; escape != "" {
			b = append(b, escape...)
		} else {
			b = append(b, c)
		}
	}
	if hasMarks {
		b = append(b, '"')
	}
	return b
}

// truncated returns the longest start of a value that has at most most bytes when it is quoted. Truncating the quoted
// value could leave a backslash at its end, which would escape the quotation mark after it.
func (q *quoting) truncated(value []byte, most int) []byte {
	if q.marks && bytes.IndexByte(value, ' ') >= 0 {
		most -= len(`""`)
	}
	for i, c := range value {
		if most -= max(len(q.escapes[c]), 1); most < 0 {
			return value[:i]
		}
	}
	return value
}

// apacheQuoted is the escaping of Apache (ap_escape_logitem): a backslash before quotation marks and
// backslashes, the escape sequences of C for some white space, and hexadecimal escapes for other non-printable
// bytes.
func apacheQuoted() *quoting {
	return newQuoting(func(c byte) string {
		switch {
		case c == '"' || c == '\\':
			return `\` + string(rune(c))
		case c >= '\b' && c <= '\r' && c != '\f':
			return `\` + "btnv\x00r"[c-'\b':][:1]
		case c < ' ' || c > '~':
			return fmt.Sprintf(`\x%02x`, c)
		default:
			return ""
		}
	})
}

// percented returns the quoting that percent-encodes the bytes for which isEncoded returns true; format formats
// such a byte.
func percented(format string, isEncoded func(c byte) bool) *quoting {
	return newQuoting(func(c byte) string {
		if isEncoded(c) {
			return fmt.Sprintf(format, c)
		}
		return ""
	})
}

const (
	percentUpper = "%%%02X"
	percentLower = "%%%02x"
)

func isControl(c byte) bool { return c < ' ' || c == 0x7F }

// isUnsafe reports whether Squid considers a byte other than the percent sign unsafe in URLs (rfc1738_escape).
func isUnsafe(c byte) bool {
	switch c {
	case '<', '>', '"', '\'', '#', '{', '}', '|', '\\', '^', '~', '[', ']', '`':
		return true
	}
	return c <= ' ' || c > '~'
}

// squidQuotings returns the encodings of Squid's logformat by their modifier. The keys w and u are private:
// they are the default encodings of tokens without a modifier, w for words that end at a space (uri_whitespace
// encode), and u for Squid's "pass-through URL encoding". Control characters that Squid would write unchanged
// are percent-encoded, so that no client can begin a new line.
func squidQuotings() map[byte]*quoting {
	return map[byte]*quoting{
		'\'': percented(percentUpper, isControl),
		'w':  percented(percentUpper, func(c byte) bool { return c <= ' ' || c > '~' }),
		'u':  percented(percentUpper, isUnsafe),
		'#':  percented(percentUpper, func(c byte) bool { return c == '%' || isUnsafe(c) }),
		'[': squidBackslashed(`\`, "\r\n", "rn",
			func(c byte) bool { return c == '%' || c == '[' || c == ']' || c < ' ' || c > '~' }, percentLower),
		'"': squidBackslashed(`\"`, "\r\n\t", "rnt", isControl, percentUpper),
		'/': withMarks(squidBackslashed(`\"`, "\r\n", "rn", isControl, percentUpper)),
	}
}

// squidBackslashed returns the quoting that escapes the bytes of marked with a backslash, replaces those of
// controls by a backslash and the corresponding byte of letters, and percent-encodes those for which isEncoded
// returns true.
func squidBackslashed(marked, controls, letters string, isEncoded func(c byte) bool, format string) *quoting {
	q := percented(format, isEncoded)
	for i := range len(marked) {
		q.escapes[marked[i]] = `\` + marked[i:i+1]
	}
	for i := range len(controls) {
		q.escapes[controls[i]] = `\` + letters[i:i+1]
	}
	q.index()
	return q
}

func withMarks(q *quoting) *quoting {
	q.marks = true
	q.index()
	return q
}
