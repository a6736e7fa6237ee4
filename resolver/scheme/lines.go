package scheme

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// The errors of Lines.
var (
	// ErrLongLine is for a line with too many octets. The next call skips the rest of it.
	ErrLongLine = errors.New("a line is too long")
	// ErrManyOctets is for lines that have too many octets together.
	ErrManyOctets = errors.New("there are too many octets")
)

// Lines reads lines that end with LF, or with CRLF, and with that has no more in memory than one line. It is what net/textproto
// does without bounds. It must not be used concurrently.
type Lines struct {
	In     *bufio.Reader
	Line   int   // octets that a line may have, with its end
	Octets int64 // that all lines that are still to be read may have, with their ends
	// Endless is whether the last line may have no end; else that is io.ErrUnexpectedEOF.
	Endless bool

	skips bool // the rest of a line that was too long is still to be read
}

// Next returns the next line without its end. The error is io.EOF behind the last one, one of those of Lines, or that of In.
func (l *Lines) Next() (string, error) {
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
		case err == nil && !isPart && text == nil: // as nearly all are
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

// part reads a line, or a part of one that is longer than the buffer.
func (l *Lines) part() (part []byte, isPart bool, err error) {
	part, err = l.In.ReadSlice('\n')
	if isPart = errors.Is(err, bufio.ErrBufferFull); isPart {
		err = nil
	}
	if l.Octets -= int64(len(part)); l.Octets < 0 {
		return nil, false, ErrManyOctets
	}
	return part, isPart, err
}

// skip reads the rest of a line that was too long.
func (l *Lines) skip() (err error) {
	for l.skips && err == nil {
		_, l.skips, err = l.part()
	}
	return err
}

// endless returns the error for a last line without end.
func (l *Lines) endless() error {
	if l.Endless {
		return nil
	}
	return io.ErrUnexpectedEOF
}

func trimmed(line []byte) string { return string(bytes.TrimRight(line, "\r\n")) }
