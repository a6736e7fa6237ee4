package answer

import (
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/proxy/problem"
)

// escaped is the maximum number of bytes of JSON for one byte of a string: \u0061.
const escaped = 6

// maxLiteral limits a number or another literal, in bytes; a valid batch has none.
const maxLiteral = 64

// boundedJSON is a JSON text with truncated strings. It bounds the memory of a json.Decoder, which buffers
// each token several times, whatever its length.
type boundedJSON struct {
	from io.Reader
	most int // maximum bytes of a string, with its escapes

	blank      bool // the previous byte was white space
	inString   bool
	length     int  // of the part of the string that is kept, or of the literal
	inEscape   bool // the previous byte was a backslash
	leftEscape bool // the backslash was removed
	digits     int  // remaining digits of an escape that is kept
}

// Read implements io.Reader.
func (b *boundedJSON) Read(p []byte) (int, error) {
	for {
		n, err := b.from.Read(p)
		kept, tooLong := b.keep(p[:n])
		if tooLong != nil {
			return 0, tooLong
		}
		if kept > 0 || err != nil || len(p) == 0 {
			return kept, err
		}
	}
}

// keep moves the bytes that are kept to the front, and returns their number.
func (b *boundedJSON) keep(p []byte) (n int, err error) {
	for _, c := range p {
		var left bool
		if b.inString {
			left = b.inside(c)
		} else if left, err = b.outside(c); err != nil {
			return 0, err
		}
		if left {
			continue
		}
		p[n] = c
		n++
	}
	return n, nil
}

// outside processes a byte outside of strings, and reports whether it is removed: repeated white space.
func (b *boundedJSON) outside(c byte) (left bool, err error) {
	blank := c == ' ' || c == '\t' || c == '\r' || c == '\n'
	left, b.blank = blank && b.blank, blank
	switch {
	case c == '"':
		b.inString, b.length = true, 0
	case blank || strings.IndexByte("[]{},:", c) >= 0:
		b.length = 0
	default:
		if b.length++; b.length > maxLiteral {
			return false, fmt.Errorf("%w: a literal exceeds %d bytes", problem.ErrBatchSyntax, maxLiteral)
		}
	}
	return left, nil
}

// inside processes a byte of a string, and reports whether it is removed. An escape is removed as a whole, or
// not at all.
func (b *boundedJSON) inside(c byte) (left bool) {
	full := b.length >= b.most
	switch {
	case b.inEscape:
		b.inEscape = false
		if c == 'u' && !b.leftEscape {
			b.digits = 4
		}
		return b.leftEscape
	case b.digits > 0:
		b.digits--
		return false
	case c == '"':
		b.inString, b.length = false, 0
		return false
	case c == '\\':
		b.inEscape, b.leftEscape = true, full
	}
	b.length++
	return full
}
