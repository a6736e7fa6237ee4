package gopher

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// dotted reads a text that ends by a line with a dot alone, where lines that begin with a dot have
// another one before: RFC 1436, appendix. Few servers of today do either. So, unless it is strict, it ends at the
// end of the connection, too; a line with a dot alone that is not the last one is part of the text; and a line that begins with a
// single dot shows that the server adds none.
type dotted struct {
	in     *bufio.Reader
	strict bool                 // as in Gopher+, where nothing else ends the text
	more   func() (bool, error) // reports whether something follows; it is used unless strict
	rest   []byte
	inside bool // of a line that is longer than the buffer
	plain  bool // the server adds no dots
	err    error
}

// Read implements io.Reader. A strict text without its end ends with io.ErrUnexpectedEOF.
func (d *dotted) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(d.rest) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.next()
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// next reads a line, or a part of it.
func (d *dotted) next() {
	part, err := d.in.ReadSlice('\n')
	begins := !d.inside
	if d.inside = errors.Is(err, bufio.ErrBufferFull); d.inside {
		err = nil
	}
	if d.strict && errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	d.rest, d.err = part, err
	if begins && len(part) > 0 && part[0] == '.' {
		d.dot(part)
	}
}

// dot looks at the beginning of a line that begins with a dot.
func (d *dotted) dot(part []byte) {
	line := bytes.TrimRight(part, "\r\n")
	switch {
	case len(line) == 1 && d.strict && part[len(part)-1] == '\n':
		d.rest, d.err = nil, io.EOF
	case len(line) == 1 && !d.strict:
		d.last(bytes.Clone(part)) // the buffer changes
	case len(line) > 1 && line[1] == '.' && !d.plain:
		d.rest = part[1:]
	case !d.strict:
		d.plain = true
	}
}

// last looks at what follows a line with a dot alone.
func (d *dotted) last(part []byte) {
	follows := false
	if d.err == nil {
		follows, d.err = d.more()
	}
	switch {
	case follows:
		d.rest, d.plain = part, true
	case d.err == nil:
		d.rest, d.err = nil, io.EOF
	default:
		d.rest = nil
	}
}
