package scheme

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// DotReader reads a dot-terminated text and removes the dot-stuffing: a line of a single dot ends the text, and each
// other line that starts with a dot has another dot prepended (RFC 3977 section 3.1.1, RFC 1436 appendix).
// Unlike net/textproto it leaves all other bytes unchanged, and lines may have any length. It is not safe for
// concurrent use.
type DotReader struct {
	In *bufio.Reader
	// More selects the lenient mode, for a protocol whose servers often omit the terminator or the
	// dot-stuffing. The text then also ends at the end of the connection. More reports whether bytes follow a
	// line of a single dot; if so, the line is part of the text. A line that starts with one dot only shows
	// that the server does no dot-stuffing. With nil the mode is strict: a text without terminator is
	// io.ErrUnexpectedEOF.
	More func() (bool, error)
	// CRLF is for a protocol whose texts may contain bare LFs that their authors wrote. Once a line has ended with
	// CRLF, a bare LF neither ends a line nor the text: a server that ends lines with CRLF does no dot-stuffing
	// after it.
	CRLF bool

	rest   []byte // unread part of the buffer of In
	inside bool   // in a line: the last part did not end it
	isCR   bool   // the last part ended with CR
	hasEnd bool   // a line has ended with CRLF
	plain  bool   // the server does no dot-stuffing
	err    error
}

// Read implements io.Reader.
func (d *DotReader) Read(p []byte) (int, error) {
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

// Ended reports whether the text was read to its end, including the terminator.
func (d *DotReader) Ended() bool { return len(d.rest) == 0 && errors.Is(d.err, io.EOF) }

// Skip discards the complete lines that are buffered already, without blocking.
func (d *DotReader) Skip() {
	d.rest = nil
	for d.err == nil && d.hasLine() {
		d.next()
		d.rest = nil
	}
}

// hasLine reports whether a complete line is buffered.
func (d *DotReader) hasLine() bool {
	buffered, _ := d.In.Peek(d.In.Buffered()) // the buffered bytes; Peek does not read
	return bytes.IndexByte(buffered, '\n') >= 0
}

// next reads a line, or a part of a line longer than the buffer.
func (d *DotReader) next() {
	part, err := d.In.ReadSlice('\n')
	begins := !d.inside
	d.inside = !d.endsLine(part)
	if errors.Is(err, bufio.ErrBufferFull) {
		err = nil
	}
	if d.More == nil && err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		part = nil // a parser must not take a truncated line for a complete one
	}
	d.rest, d.err = part, err
	if begins && len(part) > 0 && part[0] == '.' {
		d.dot(part)
	}
}

// endsLine reports whether a part ends a line.
func (d *DotReader) endsLine(part []byte) bool {
	before, isLF := bytes.CutSuffix(part, []byte("\n"))
	isCRLF := isLF && (bytes.HasSuffix(before, []byte("\r")) || len(before) == 0 && d.isCR)
	d.isCR = bytes.HasSuffix(part, []byte("\r"))
	d.hasEnd = d.hasEnd || isCRLF
	return isCRLF || isLF && (!d.CRLF || !d.hasEnd)
}

// dot handles a line that starts with a dot: the terminator, dot-stuffing, or a server without dot-stuffing.
func (d *DotReader) dot(part []byte) {
	strict := d.More == nil
	line := bytes.TrimRight(part, "\r\n")
	switch {
	case len(line) == 1 && strict && !d.inside:
		d.rest, d.err = nil, io.EOF
	case len(line) == 1 && !strict:
		d.last(bytes.Clone(part)) // More may overwrite the buffer
	case len(line) > 1 && line[1] == '.' && !d.plain:
		d.rest = part[1:]
	case !strict:
		d.plain = true
	}
}

// last decides in the lenient mode whether a line of a single dot ends the text.
func (d *DotReader) last(part []byte) {
	follows := false
	if d.err == nil {
		follows, d.err = d.More()
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
