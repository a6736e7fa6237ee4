package nntp

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/urnd/urnd/resolver/scheme"
)

// block reads the data block of a multi-line response: RFC 3977 section 3.1.1.
type block struct{ scheme.DotReader }

// newBlock returns the block of the response whose first line was read last.
func (c *client) newBlock() *block {
	c.block = &block{scheme.DotReader{In: c.reader, CRLF: true}}
	return c.block
}

// Read implements io.Reader.
func (b *block) Read(p []byte) (int, error) {
	n, err := b.DotReader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = broken("reading a response", err)
	}
	return n, err
}

// lines reads the lines of a data block, up to a total number of bytes.
type lines struct {
	in        scheme.LineReader
	line      string
	err       error
	truncated bool // the limit of bytes was reached
}

// lines returns the lines that follow a reply. One timeout covers all of them.
func (c *client) lines() *lines {
	return &lines{in: scheme.LineReader{
		In: bufio.NewReader(c.newBlock()), Line: c.config.Limits.Line,
		Bytes: c.config.Limits.Bytes,
	}}
}

// next advances to the next line, and reports whether there is one.
func (l *lines) next() bool {
	if l.truncated || l.err != nil {
		return false
	}
	l.line, l.err = l.in.Next()
	if l.truncated = errors.Is(l.err, scheme.ErrTooManyBytes); l.truncated {
		l.err = nil
		return false
	}
	return l.err == nil
}

// text returns the current line.
func (l *lines) text() string { return l.line }

// end returns the error that ended the lines early, nil for none. Truncation at the limit is not an error.
func (l *lines) end() error {
	switch {
	case errors.Is(l.err, scheme.ErrLongLine):
		return fmt.Errorf("%w: response line too long", scheme.ErrInvalidResponse)
	case errors.Is(l.err, io.EOF):
		return nil
	default:
		return l.err // wrapped by block
	}
}
