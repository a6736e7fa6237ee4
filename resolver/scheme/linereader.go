package scheme

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// The errors of Lines.
var (
	// ErrLongLine is the error for a line above the limit of bytes. The next call of Next skips the rest of the
	// line.
	ErrLongLine = errors.New("line too long")
	// ErrTooManyBytes is the error for lines that exceed the total limit of bytes.
	ErrTooManyBytes = errors.New("size limit exceeded")
)

// LineReader reads lines that end with LF or CRLF, and holds at most one line in memory. It adds limits to what
// net/textproto does. It is not safe for concurrent use.
type LineReader struct {
	In    *bufio.Reader
	Line  int   // maximum bytes of a line, including its end
	Bytes int64 // maximum bytes of all remaining lines, including their ends
	// Endless accepts a last line without a line end; otherwise it is io.ErrUnexpectedEOF.
	Endless bool

	skips bool // the rest of a line that was too long is unread
}

// Next returns the next line without its end. The error is io.EOF after the last line, ErrLongLine,
// ErrTooManyBytes, or the error of In.
func (l *LineReader) Next() (string, error) {
	if err := l.skip(); err != nil {
		return "", err
	}
	var text []byte
	for {
		part, isPart, err := l.part()
		if len(text)+len(part) > l.Line {
			l.skips = isPart
			return "", ErrLongLine
		}
		switch {
		case err == nil && !isPart && text == nil: // the common case: one allocation
			return trimmed(part), nil
		case isPart:
			text = append(text, part...)
			continue
		}
		text = append(text, part...)
		if errors.Is(err, io.EOF) && len(text) > 0 {
			err = l.endless()
		}
		if err != nil {
			return "", err
		}
		return trimmed(text), nil
	}
}

// part reads a line, or a part of a line longer than the buffer.
func (l *LineReader) part() (part []byte, isPart bool, err error) {
	part, err = l.In.ReadSlice('\n')
	if isPart = errors.Is(err, bufio.ErrBufferFull); isPart {
		err = nil
	}
	if l.Bytes -= int64(len(part)); l.Bytes < 0 {
		return nil, false, ErrTooManyBytes
	}
	return part, isPart, err
}

// skip discards the rest of a line that was too long.
func (l *LineReader) skip() (err error) {
	for l.skips && err == nil {
		_, l.skips, err = l.part()
	}
	return err
}

// endless returns the error for a last line without a line end.
func (l *LineReader) endless() error {
	if l.Endless {
		return nil
	}
	return io.ErrUnexpectedEOF
}

func trimmed(line []byte) string { return string(bytes.TrimRight(line, "\r\n")) }
