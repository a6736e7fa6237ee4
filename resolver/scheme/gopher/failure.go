package gopher

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// moved is the error for an item that the server says has moved.
type moved struct{ location string }

func (m *moved) Error() string { return fmt.Sprintf("moved to %q", m.location) }

// failure reads the error response of a Gopher+ server: a line with a code and the administrator, and lines of
// message (Gopher+ section 2.3).
func (a *answer) failure() error {
	const longest = 4 << 10
	text, err := io.ReadAll(io.LimitReader(a.data, longest))
	if err != nil && len(text) == 0 {
		return a.wrapError("reading the error of the server", err)
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	code, _, _ := strings.Cut(strings.TrimSpace(first), " ")
	message := scheme.DecodeLines(strings.TrimSpace(rest))
	if message == "" {
		message = scheme.DecodeText(strings.TrimSpace(first))
	}
	switch code {
	case "1":
		return scheme.UpstreamError(http.StatusNotFound, message)
	case "2":
		return scheme.UpstreamError(http.StatusServiceUnavailable, message)
	case "3":
		line, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		if i, ok := parseItem(strings.TrimRight(line, "\r")); ok {
			if location := link(i); location != "" && checkLocation(location) == nil {
				return &moved{location}
			}
		}
		return scheme.UpstreamError(http.StatusNotFound, message)
	default:
		return scheme.UpstreamError(http.StatusBadGateway, message)
	}
}

// movedOr returns the redirect for an item that has moved, otherwise the error.
func movedOr(err error) (*scheme.Resource, error) {
	var m *moved
	if errors.As(err, &m) {
		return scheme.Redirect(http.StatusFound, m.location), nil
	}
	return nil, err
}

// errorLine returns the message of a response that is a single line of type 3, which servers also send in place
// of a document. all means that head is the whole response.
func errorLine(head []byte, all bool) (string, bool) {
	const fields = 3 // minimum number of tabs in an item
	head = bytes.TrimSuffix(bytes.TrimRight(head, "\r\n"), []byte("\n."))
	line := bytes.TrimRight(head, "\r\n")
	if !all || len(line) < 1 || line[0] != typeError || bytes.ContainsAny(line, "\r\n") ||
		bytes.Count(line, []byte("\t")) < fields {
		return "", false
	}
	i, _ := parseItem(string(line))
	return scheme.DecodeText(i.name), true
}
