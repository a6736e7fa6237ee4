package http

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
)

const (
	maxHead    = 256 << 10 // octets of a head, and of a trailer section
	maxLines   = 8 << 10   // of them: an empty field takes more memory than octets, and HTTP/2 counts it as 32 (RFC 9113 section 6.5.2)
	maxInterim = 16        // interim responses to one request
)

// head is the status line and the header section of a response: RFC 9112 sections 4 and 5.
type head struct {
	status int
	reason string
	minor  byte // the digit after "HTTP/1."
	fields httpmessage.Fields
}

// readSection reads lines until an empty one, without it, into b, and bounds them. A single LF
// ends a line too: RFC 9112 section 2.2.
func readSection(br *bufio.Reader, b []byte) ([]byte, error) {
	for start := len(b); ; {
		line, err := br.ReadSlice('\n')
		if len(b)+len(line) > maxHead {
			return b, invalid("its head exceeds %d octets", maxHead)
		}
		b = append(b, line...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return b, early(err)
		}
		if last := bytes.TrimSuffix(b[start:], []byte("\n")); len(last) == 0 || len(last) == 1 && last[0] == '\r' {
			return b[:start], nil
		}
		start = len(b)
	}
}

// early returns the error of what ended before its end.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// parseHead parses a head without its empty line. Its fields are in room where they fit.
func parseHead(text string, room httpmessage.Fields) (head, error) {
	line, rest, _ := strings.Cut(text, "\n")
	h, err := parseStatusLine(strings.TrimSuffix(line, "\r"))
	if err != nil {
		return head{}, err
	}
	h.fields, err = parseFields(rest, room)
	return h, err
}

// parseStatusLine parses "HTTP/1.1 200 OK": RFC 9112 section 4. The last space may be missing.
func parseStatusLine(line string) (head, error) {
	const digits = 3
	version, rest, _ := strings.Cut(line, " ")
	minor, ok := strings.CutPrefix(version, "HTTP/1.")
	if !ok || len(minor) != 1 || minor[0] < '0' || minor[0] > '9' {
		return head{}, quoting(invalid("%w", errNoHTTP), line)
	}
	code, reason, _ := strings.Cut(rest, " ")
	status := 0
	for i := range len(code) {
		if code[i] < '0' || code[i] > '9' || i >= digits {
			return head{}, invalid("its status %.40q is none of HTTP", code)
		}
		status = status*10 + int(code[i]-'0')
	}
	if status < 100 {
		return head{}, invalid("its status %.40q is none of HTTP", code)
	}
	if !httpguts.ValidHeaderFieldValue(reason) {
		return head{}, invalid("the words of its status have a control character")
	}
	return head{status: status, reason: strings.TrimSpace(reason), minor: minor[0]}, nil
}

// parseFields parses field lines, into room where they fit: RFC 9112 section 5.
func parseFields(text string, room httpmessage.Fields) (httpmessage.Fields, error) {
	lines := strings.Count(text, "\n")
	if lines > maxLines {
		return nil, invalid("its head exceeds %d lines", maxLines)
	}
	fields := room
	if lines > cap(room) || room == nil {
		fields = make(httpmessage.Fields, 0, lines)
	}
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimSuffix(line, "\r")
		for text != "" && (text[0] == ' ' || text[0] == '\t') { // obs-fold: RFC 9112 section 5.2
			var more string
			more, text, _ = strings.Cut(text, "\n")
			line = strings.TrimRight(line, " \t") + " " + strings.Trim(more, " \t\r")
		}
		name, value, err := parseField(line)
		if err != nil {
			return nil, err
		}
		fields.Add(name, value)
	}
	return fields, nil
}

// parseField parses one field line, whose name keeps its spelling. Space before the colon is removed: RFC 9112 section 5.1.
func parseField(line string) (name, value string, err error) {
	name, value, ok := strings.Cut(line, ":")
	name = strings.TrimRight(name, " \t")
	if !ok || !httpguts.ValidHeaderFieldName(name) {
		return "", "", quoting(invalid("it has a line that is no field"), line)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return "", "", invalid("the value of its field %.40q", name)
	}
	return name, strings.Trim(value, " \t"), nil
}

// readHead reads the head of a response into buffer, which it returns for the next use. Its fields are in room where they fit.
func readHead(br *bufio.Reader, buffer []byte, room httpmessage.Fields) (head, []byte, error) {
	b, err := readSection(br, buffer[:0])
	if err != nil {
		return head{}, b, fmt.Errorf("reading the head of the response: %w", err)
	}
	h, err := parseHead(string(b), room)
	return h, b, err
}
