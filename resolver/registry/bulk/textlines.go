package bulk

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// textLines reads lines, each of at most maxLine bytes.
type textLines struct {
	r      *bufio.Reader
	number int64 // of the last line
	peeked *textLine
}

// textLine is a line without its end.
type textLine struct {
	text   string
	number int64
	fault  error // errLong: only its beginning is there
}

func newTextLines(r io.Reader) *textLines { return &textLines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line; io.EOF after the last one.
func (t *textLines) next() (textLine, error) {
	if l := t.peeked; l != nil {
		t.peeked = nil
		return *l, nil
	}
	var b []byte
	l := textLine{number: t.number + 1}
	for {
		part, err := t.r.ReadSlice('\n')
		if room := maxLine - len(b); len(part) > room {
			part, l.fault = part[:room], errLong
		}
		isWhole := b == nil && !errors.Is(err, bufio.ErrBufferFull)
		if !isWhole {
			b = append(b, part...)
			part = b
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(part) == 0):
			return textLine{}, err
		}
		t.number++
		l.text = strings.TrimRight(string(part), "\r\n")
		if l.fault != nil {
			l.text = l.text[:min(len(l.text), shown)] // it has more
		}
		return l, nil
	}
}

// peek returns the next line, which stays the next one.
func (t *textLines) peek() (textLine, error) {
	if t.peeked == nil {
		l, err := t.next()
		if err != nil {
			return l, err
		}
		t.peeked = &l
	}
	return *t.peeked, nil
}
