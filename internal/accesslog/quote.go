package accesslog

import (
	"bytes"
	"fmt"
)

// quoting is how the bytes of a value that a client may have chosen are written, so that none of them ends a field or a line. nil writes
// them as they are. It is immutable and safe for concurrent use.
type quoting struct {
	escapes [256]string // "" is the byte itself
	plain   [256]bool   // the byte stands for itself
	marks   bool        // a value with a space is written between quotation marks
}

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
)

// newQuoting returns a quoting by what a byte is escaped as, "" for itself.
func newQuoting(escape func(c byte) string) *quoting {
	q := new(quoting)
	for c := range len(q.escapes) {
		q.escapes[c] = escape(byte(c))
	}
	q.index()
	return q
}

// index makes plain of escapes.
func (q *quoting) index() {
	for c := range q.plain {
		q.plain[c] = q.escapes[c] == "" && (c != ' ' || !q.marks)
	}
}

// accepts reports whether a value is written as it is.
func (q *quoting) accepts(value []byte) bool {
	for _, c := range value {
		if !q.plain[c] {
			return false
		}
	}
	return true
}

// append appends a value, quoted.
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

// apacheQuoted is the escaping of Apache (ap_escape_logitem): a backslash before quotation marks and backslashes, some white space as in
// C, and other bytes that are not printable in hexadecimal.
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

// percented returns the quoting that percent-encodes the bytes that a function is true for, by a format of their value.
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

// isUnsafe reports whether a byte is unsafe in URLs for Squid (rfc1738_escape), but for the percent sign.
func isUnsafe(c byte) bool {
	switch c {
	case '<', '>', '"', '\'', '#', '{', '}', '|', '\\', '^', '~', '[', ']', '`':
		return true
	}
	return c <= ' ' || c > '~'
}

// squidQuotings are the encodings of Squid's logformat by their characters, of which only those of the values that a token may have
// without one are urnd's own: w is that of words, which end at a space (uri_whitespace encode), and u is Squid's "pass-through URL
// encoding". Where Squid would write control characters as they are, they are percent-encoded: no client begins a line.
func squidQuotings() map[byte]*quoting {
	return map[byte]*quoting{
		'\'': percented(percentUpper, isControl),
		'w':  percented(percentUpper, func(c byte) bool { return c <= ' ' || c > '~' }),
		'u':  percented(percentUpper, isUnsafe),
		'#':  percented(percentUpper, func(c byte) bool { return c == '%' || isUnsafe(c) }),
		'[':  squidBackslashed(`\`, "\r\n", "rn", func(c byte) bool { return c == '%' || c == '[' || c == ']' || c < ' ' || c > '~' }, percentLower),
		'"':  squidBackslashed(`\"`, "\r\n\t", "rnt", isControl, percentUpper),
		'/':  withMarks(squidBackslashed(`\"`, "\r\n", "rn", isControl, percentUpper)),
	}
}

// squidBackslashed returns the quoting that writes a backslash before some bytes, letters with one for some control characters, and
// percent-encodes others.
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
