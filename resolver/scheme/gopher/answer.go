package gopher

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// answer is what a server sends: its data after the first line of Gopher+, if it has one.
type answer struct {
	*conn
	data   io.Reader
	length int64 // of data, or untilDot or untilClose
	isPlus bool
}

// open asks the server of a request, and reads the first line of Gopher+. The caller must close the
// answer.
func (h *Handler) open(ctx context.Context, r scheme.Request, q request) (*answer, error) {
	c, err := h.ask(ctx, r, q)
	if err != nil {
		return nil, err
	}
	a := &answer{conn: c, data: c.in, length: untilClose}
	if q.Plus == "" {
		return a, nil
	}
	head, found := readPlusHead(c.in)
	if !found {
		return a, nil // it fails again, or is an answer of gopher
	}
	a.data, a.length, a.isPlus = head.data(c.in), head.length, true
	if head.success {
		return a, nil
	}
	defer c.Close()
	return nil, h.failure(a)
}

// moved is the error of a server that says where an item is now.
type moved struct{ location string }

func (m *moved) Error() string { return fmt.Sprintf("it has moved to %q", m.location) }

// failure returns the error that a server of Gopher+ answers with: a code and the administrator, and a message of some
// lines (Gopher+ section 2.3).
func (h *Handler) failure(a *answer) error {
	const longest = 4 << 10
	text, err := io.ReadAll(io.LimitReader(a.data, longest))
	if err != nil && len(text) == 0 {
		return a.fault("reading the error of the server", err)
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	code, _, _ := strings.Cut(strings.TrimSpace(first), " ")
	message := scheme.TextLines(strings.TrimSpace(rest))
	if message == "" {
		message = scheme.Text(strings.TrimSpace(first))
	}
	switch code {
	case "1":
		return scheme.Refuse(http.StatusNotFound, message)
	case "2":
		return scheme.Refuse(http.StatusServiceUnavailable, message)
	case "3":
		line, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		if i, ok := parseItem(strings.TrimRight(line, "\r")); ok {
			if location := link(i); location != "" && checkLocation(location) == nil {
				return &moved{location}
			}
		}
		return scheme.Refuse(http.StatusNotFound, message)
	default:
		return scheme.Refuse(http.StatusBadGateway, message)
	}
}

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
		var line []byte
		long := false
		for {
			part, err := l.in.ReadSlice('\n')
			if l.octets -= int64(len(part)); l.octets < 0 {
				l.incomplete = "it has more octets than are read"
				return "", io.EOF
			}
			if long = long || len(line)+len(part) > l.longest; !long {
				line = append(line, part...)
			}
			if err == bufio.ErrBufferFull { //nolint:errorlint // it is returned as it is
				continue
			}
			if err != nil && (err != io.EOF || len(line) == 0 && !long) { //nolint:errorlint // likewise
				return "", err //nolint:wrapcheck // callers do
			}
			break
		}
		if !long {
			return strings.TrimRight(string(line), "\r\n"), nil
		}
		l.incomplete = "lines that are too long are left out"
	}
}
