// Package http1 parses and writes the syntax of HTTP/1.0 and HTTP/1.1 (RFC 9112) for the server and the client
// of urnd. It takes bytes and returns request heads, response heads, the framing of bodies and the decoded
// content of the chunked transfer coding; for writers it appends status lines, field lines and chunks to a
// buffer. It opens no sockets; only ChunkedReader and ReadResponse read, from a buffer that the caller
// provides.
//
// Requests are parsed strictly. Anything that recipients interpret differently is an error, because a request
// that two recipients delimit differently allows request smuggling (RFC 9112 section 11.2): a line that ends
// with a bare LF, obsolete line folding, whitespace before a colon, more than one Content-Length,
// Content-Length together with Transfer-Encoding, any transfer coding other than a single chunked. Responses
// are parsed as leniently as real origins require, except for their framing.
package http1

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// Error is a syntax error of a message. The connection must be closed after it, because the beginning of the
// next message is unknown.
type Error struct {
	Status int    // status of the response to an invalid request; 0 for an invalid response
	Reason string // safe to send to clients
	Line   string // line of the message, for logging; "" for none
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line != "" {
		return fmt.Sprintf("%s: %.40q", e.Reason, e.Line)
	}
	return e.Reason
}

// refused returns a 400 Bad Request error.
func refused(reason string) error { return &Error{Status: http.StatusBadRequest, Reason: reason} }

// maxFields returns the maximum number of fields in a section of at most size bytes. It keeps the memory for
// the fields within size, although a Field is larger than the shortest field line.
func maxFields(size int) int { return size / int(unsafe.Sizeof(httpmessage.Field{})) }

// errHeader returns the error of a request head that exceeds the limit.
func errHeader() error {
	return &Error{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "the header is too large"}
}

// Framing describes how the end of a response is determined: RFC 9112 section 6.3.
type Framing struct {
	Length    int64 // length of the content in bytes; -1 if unknown
	Empty     bool  // no body follows
	Chunked   bool
	KeepAlive bool // the connection may be reused after the body
}

// Frame returns the framing of a final response to a request with this method. It removes fields that only
// concern the framing. Ambiguous framing is an *Error.
func (h *ResponseHead) Frame(method string) (Framing, error) {
	f, err := h.declared()
	if err != nil {
		return f, err
	}
	switch {
	case !HasNoContent(method, h.Status):
		f.Empty = f.Length == 0
	case method == http.MethodHead: // the fields describe content that is not sent
		f.Empty, f.Chunked = true, false
	default:
		return Framing{Empty: true, KeepAlive: f.KeepAlive}, nil
	}
	return f, nil
}

// HasNoContent reports whether a final response to a request with this method never has content, regardless of
// its header fields: RFC 9110 section 6.4.1.
func HasNoContent(method string, status int) bool {
	return method == http.MethodHead || status == http.StatusNoContent || status == http.StatusNotModified
}

// declared returns the framing declared by the header fields of the response.
func (h *ResponseHead) declared() (Framing, error) {
	codings, lengths := h.Fields.Values("Transfer-Encoding"), h.Fields.Values("Content-Length")
	coded, sized := len(codings) > 0, len(lengths) > 0
	f := Framing{Length: -1, Chunked: coded}
	f.KeepAlive = h.Minor > 0 && !httpguts.HeaderValuesContainsToken(h.Fields.Values("Connection"), "close")
	switch {
	case coded && sized:
		return f, invalid("it has Transfer-Encoding and Content-Length")
	case coded && h.Minor == 0:
		return f, invalid("it has Transfer-Encoding in HTTP/1.0")
	case coded && (len(codings) != 1 || !uri.EqualFold(codings[0], "chunked")):
		return f, invalid("its Transfer-Encoding %.40q is not chunked alone", strings.Join(codings, ", "))
	case coded:
		h.Fields.Del("Transfer-Encoding")
		return f, nil
	case !sized:
		return f, nil
	}
	var err error
	f.Length, err = ParseLength(lengths)
	if err == nil && (len(lengths) > 1 || strings.Contains(lengths[0], ",")) {
		h.Fields.Set("Content-Length", strconv.FormatInt(f.Length, 10))
	}
	return f, err
}

// ParseLength returns the value of Content-Length field lines: RFC 9112 section 6.3. Repeated values must be
// equal. Errors are of type *Error.
func ParseLength(lines []string) (int64, error) {
	const bits = 62 // the sum of two lengths does not overflow
	length := int64(-1)
	for value := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		n, err := strconv.ParseUint(trim(value), 10, bits)
		if err != nil || length >= 0 && int64(n) != length {
			return 0, invalid("its Content-Length %.40q is not one number of %d bits", strings.Join(lines, ", "), bits)
		}
		length = int64(n)
	}
	return length, nil
}
