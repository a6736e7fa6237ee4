package gopher

import (
	"bufio"
	"errors"
	"io"

	"github.com/urnd/urnd/resolver/scheme"
)

// lines reads the lines of a listing within the limits.
type lines struct {
	in         scheme.LineReader
	incomplete string
}

func (h *Handler) newLines(in io.Reader) *lines {
	return &lines{in: scheme.LineReader{
		In: bufio.NewReader(in), Line: h.config.Limits.Line, Bytes: h.config.Limits.Bytes, Endless: true,
	}}
}

// next returns the next line without its end. Lines that are too long are skipped. The error is io.EOF at the
// end, and at the total limit of bytes; incomplete is set if lines are missing.
func (l *lines) next() (string, error) {
	for {
		line, err := l.in.Next()
		switch {
		case errors.Is(err, scheme.ErrLongLine):
			l.incomplete = "lines that exceed the limit are omitted"
		case errors.Is(err, scheme.ErrTooManyBytes):
			l.incomplete = "only part of the document is shown: it exceeds the size limit"
			return "", io.EOF
		default:
			return line, err
		}
	}
}
