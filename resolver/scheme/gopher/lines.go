package gopher

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// lines reads the lines of a listing within limits.
type lines struct {
	in         *bufio.Reader
	longest    int
	octets     int64 // left
	incomplete string
}

func (h *Handler) newLines(in io.Reader) *lines {
	return &lines{in: bufio.NewReader(in), longest: h.config.Limits.Line, octets: h.config.Limits.Octets}
}

// next returns a line without its end. Lines that are too long are left out. The error is io.EOF at the
// end, and where there are too many octets.
func (l *lines) next() (string, error) {
	for {
		line, whole, err := l.read()
		if err != nil || whole {
			return strings.TrimRight(line, "\r\n"), err
		}
		l.incomplete = "lines that are too long are left out"
	}
}

// read reads a line. It is not whole where it is too long; the last one may have no end.
func (l *lines) read() (line string, whole bool, err error) {
	var text []byte
	whole = true
	for {
		part, err := l.in.ReadSlice('\n')
		if l.octets -= int64(len(part)); l.octets < 0 {
			l.incomplete = "it has more octets than are read"
			return "", false, io.EOF
		}
		if whole = whole && len(text)+len(part) <= l.longest; whole {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (len(text) > 0 || !whole):
			return string(text), whole, nil
		default:
			return string(text), whole, err //nolint:wrapcheck // callers do
		}
	}
}
