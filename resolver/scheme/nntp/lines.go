package nntp

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/urnd/urnd/resolver/scheme"
)

// lines reads the lines of a block of data, up to a number of octets in all.
type lines struct {
	scanner *bufio.Scanner
	left    int64 // octets
	isCut   bool  // there are more than that
}

// lines returns the lines that follow a reply. The server has the time for one reply to send them all.
func (c *client) lines() *lines {
	c.block = &dotReader{reader: c.reader}
	scanner := bufio.NewScanner(c.block)
	const initial = 4 << 10
	scanner.Buffer(make([]byte, 0, min(initial, c.config.Limits.Line)), c.config.Limits.Line)
	return &lines{scanner: scanner, left: c.config.Limits.Octets}
}

// next reports whether there is another line.
func (l *lines) next() bool {
	if l.isCut || !l.scanner.Scan() {
		return false
	}
	l.left -= int64(len(l.scanner.Bytes())) + int64(len("\r\n"))
	l.isCut = l.left < 0
	return !l.isCut
}

// text returns the line.
func (l *lines) text() string { return l.scanner.Text() }

// end returns why the lines ended before their end; a cut is no error.
func (l *lines) end() error {
	if err := l.scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%w: a line of a response is too long", scheme.ErrResponse)
	} else if err != nil {
		return err //nolint:wrapcheck // it is of dotReader, which has wrapped it
	}
	return nil
}
