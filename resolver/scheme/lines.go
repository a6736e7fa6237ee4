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
	var text []byte
	for {
		part, err := l.In.ReadSlice('\n')
		isPart := errors.Is(err, bufio.ErrBufferFull)
		hasEnded := err == nil
		if l.Octets -= int64(len(part)); l.Octets < 0 {
			return "", ErrManyOctets
		}
		if l.skips {
			if l.skips = isPart; isPart || hasEnded {
				continue
			}
			return "", err //nolint:wrapcheck // callers say what they read
		}
		if len(text)+len(part) > l.Line {
			l.skips = !hasEnded
			return "", ErrLongLine
		}
		if hasEnded && text == nil { // as nearly all are
			return string(bytes.TrimRight(part, "\r\n")), nil
		}
		text = append(text, part...)
		switch {
		case isPart:
			continue
		case errors.Is(err, io.EOF) && len(text) > 0 && l.Endless:
			err = nil
		case errors.Is(err, io.EOF) && len(text) > 0:
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", err //nolint:wrapcheck // callers say what they read
		}
		return string(bytes.TrimRight(text, "\r\n")), nil
	}
}
