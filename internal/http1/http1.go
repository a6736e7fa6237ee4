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
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
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
