package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
)

const (
	// MaxResponseHead limits the head of a response, and a trailer section, in bytes.
	MaxResponseHead = 256 << 10
	// maxResponseLines limits the lines of a response head: the memory for an empty field exceeds its bytes,
	// and HTTP/2 counts it as 32 (RFC 9113 section 6.5.2).
	maxResponseLines = 8 << 10
)

// ResponseHead is the status line and the header section of a response: RFC 9112 sections 4 and 5.
type ResponseHead struct {
	Status int
	Reason string // "" for none
	Minor  int    // minor version
	Fields httpmessage.Fields
}

// invalid returns the error of a response that violates the grammar.
func invalid(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

// ReadResponse reads the head of a response. It uses buffer as scratch memory and returns it for the next call.
// The fields are stored in scratch if its capacity suffices. Syntax errors are of type *Error; other errors are
// those of br, or io.ErrUnexpectedEOF if br ends within the head.
func ReadResponse(br *bufio.Reader, buffer []byte, scratch httpmessage.Fields) (ResponseHead, []byte, error) {
	b, err := readSection(br, buffer[:0])
	if err != nil {
		return ResponseHead{}, b, err
	}
	h, err := ParseResponse(string(b), scratch)
	return h, b, err
}

// readSection appends lines to b up to and excluding an empty line, limited to MaxResponseHead. A bare LF ends
// a line, too: RFC 9112 section 2.2.
func readSection(br *bufio.Reader, b []byte) ([]byte, error) {
	for start := len(b); ; {
		line, err := br.ReadSlice('\n')
		if len(b)+len(line) > MaxResponseHead {
			return b, invalid("the response header exceeds %d bytes", MaxResponseHead)
		}
		b = append(b, line...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return b, fmt.Errorf("reading the response header: %w", unexpected(err))
		}
		if last := bytes.TrimSuffix(b[start:], []byte("\n")); len(last) == 0 || len(last) == 1 && last[0] == '\r' {
			return b[:start], nil
		}
		start = len(b)
	}
}

// ParseResponse parses the head of a response without its empty line. The fields are stored in scratch if its
// capacity suffices. Deviations of origins that do not affect framing are accepted: bare LFs, folded lines,
// whitespace before a colon. Errors are of type *Error.
func ParseResponse(text string, scratch httpmessage.Fields) (ResponseHead, error) {
	line, rest, _ := strings.Cut(text, "\n")
	h, err := parseStatusLine(strings.TrimSuffix(line, "\r"))
	if err != nil {
		return ResponseHead{}, err
	}
	h.Fields, err = parseResponseFields(rest, scratch)
	return h, err
}

// parseStatusLine parses a status line such as "HTTP/1.1 200 OK": RFC 9112 section 4. The space before an empty
// reason phrase may be missing.
func parseStatusLine(line string) (ResponseHead, error) {
	version, rest, _ := strings.Cut(line, " ")
	major, minor, ok := http.ParseHTTPVersion(version)
	if !ok || major != 1 {
		return ResponseHead{}, &Error{Reason: "the response is not HTTP/1", Line: line}
	}
	code, reason, _ := strings.Cut(rest, " ")
	status, err := strconv.ParseUint(code, 10, 16)
	if err != nil || len(code) != len("200") || status < http.StatusContinue {
		return ResponseHead{}, invalid("the status %.40q is not an HTTP status", code)
	}
	if !httpguts.ValidHeaderFieldValue(reason) {
		return ResponseHead{}, invalid("the reason phrase has a control character")
	}
	return ResponseHead{Status: int(status), Reason: strings.TrimSpace(reason), Minor: minor}, nil
}

// parseResponseFields parses field lines: RFC 9112 section 5. Names keep their spelling. The fields are stored
// in scratch if its capacity suffices.
func parseResponseFields(text string, scratch httpmessage.Fields) (httpmessage.Fields, error) {
	lines := strings.Count(text, "\n")
	if lines > maxResponseLines {
		return nil, invalid("the response header exceeds %d lines", maxResponseLines)
	}
	fields := scratch
	if lines > cap(scratch) || scratch == nil {
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
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimRight(name, " \t") // RFC 9112 section 5.1
		if !ok || !httpguts.ValidHeaderFieldName(name) {
			return nil, &Error{Reason: "a line of the response header is not a field", Line: line}
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, invalid("the value of its field %.40q", name)
		}
		fields.Add(name, trim(value))
	}
	return fields, nil
}
