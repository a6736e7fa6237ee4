// Package http1 is the syntax of HTTP/1.0 and HTTP/1.1 (RFC 9112) for the server and for the client of urnd: heads of
// requests and of responses, the framing of bodies, the chunked coding and what a writer of heads needs. It has no
// sockets, and does not wait.
//
// Requests are parsed strictly. What recipients read in different ways is refused, since a request that two of them
// delimit in two ways is how another one is smuggled in (RFC 9112 section 11.2): a line that ends with LF alone, a
// folded line, space before a colon, more than one Content-Length, Content-Length beside Transfer-Encoding, any
// transfer coding but one chunked. Responses are parsed as leniently as origins need it, but for their framing.
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

// Error is why a message is refused. The connection ends with it, since where the next message begins is not known.
type Error struct {
	Status int    // of the response to a request; 0 where a response is refused
	Reason string // may be told to clients
	Line   string // of the message, for a log; "" for none
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line != "" {
		return fmt.Sprintf("%s: %.40q", e.Reason, e.Line)
	}
	return e.Reason
}

// refused returns the error of a request that breaks the grammar.
func refused(reason string) error { return &Error{Status: http.StatusBadRequest, Reason: reason} }

// maxFields returns how many fields a section of at most size bytes may have: they take no more memory than its bytes
// may, although one takes more than the shortest field line has bytes.
func maxFields(size int) int { return size / int(unsafe.Sizeof(httpmessage.Field{})) }

// errHeader returns the error of a head that is too large.
func errHeader() error {
	return &Error{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "the head is too large"}
}

// Framing is how the end of a response is found: RFC 9112 section 6.3.
type Framing struct {
	Length   int64 // of the content, in bytes; -1 where it is not known
	Empty    bool  // no body follows
	Chunked  bool
	Persists bool // the connection may be used again behind the body
}

// Frame returns the framing of a final response to a method, and removes from its fields what was about that alone.
// What recipients could read in two ways is refused, by an *Error.
func (h *ResponseHead) Frame(method string) (Framing, error) {
	f, err := h.declared()
	if err != nil {
		return f, err
	}
	switch {
	case !HasNoContent(method, h.Status):
		f.Empty = f.Length == 0
	case method == http.MethodHead: // the fields are those of the content that is not sent
		f.Empty, f.Chunked = true, false
	default:
		return Framing{Empty: true, Persists: f.Persists}, nil
	}
	return f, nil
}

// HasNoContent reports whether a final response to a method has no content, whatever its fields say: RFC 9110 section
// 6.4.1.
func HasNoContent(method string, status int) bool {
	return method == http.MethodHead || status == http.StatusNoContent || status == http.StatusNotModified
}

// declared returns the framing that the fields of a response declare.
func (h *ResponseHead) declared() (Framing, error) {
	codings, lengths := h.Fields.Lines("Transfer-Encoding"), h.Fields.Lines("Content-Length")
	coded, sized := len(codings) > 0, len(lengths) > 0
	f := Framing{Length: -1, Chunked: coded}
	f.Persists = h.Minor > 0 && !httpguts.HeaderValuesContainsToken(h.Fields.Lines("Connection"), "close")
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

// ParseLength returns the value of Content-Length, which may be repeated: RFC 9112 section 6.3. An error is an *Error.
func ParseLength(lines []string) (int64, error) {
	const bits = 62 // the sum of two does not overflow
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
