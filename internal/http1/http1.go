// Package http1 is the syntax of HTTP/1.0 and HTTP/1.1 (RFC 9112) for the server and for the client of urnd: heads of requests and of
// responses, the framing of bodies, the chunked coding and what a writer of heads needs. It has no sockets, and does not wait.
//
// Requests are parsed strictly. What recipients read in different ways is refused, since a request that two of them delimit in two
// ways is how another one is smuggled in (RFC 9112 section 11.2): a line that ends with LF alone, a folded line, space before a colon,
// more than one Content-Length, Content-Length beside Transfer-Encoding, any transfer coding but one chunked. Responses are parsed as
// leniently as origins need it, but for their framing.
package http1

import (
	"fmt"
	"net/http"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Error is why a request is refused: the status of the response, behind which the connection ends, since where the next request begins
// is not known.
type Error struct {
	Status int
	Reason string // for the client
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d: %s", e.Status, e.Reason) }

// refused returns the error of a request that breaks the grammar.
func refused(reason string) error { return &Error{http.StatusBadRequest, reason} }

// Limits bound the head of a request, in bytes. Both must be set.
type Limits struct {
	MaxTarget int // of the request-target; a longer one is 414
	MaxHeader int // of the request line and all field lines; more is 431
}

// maxFields returns how many fields a head may have: a field takes more memory than the least one has bytes, and those of a head take no
// more memory than the bytes of it may.
func (l Limits) maxFields() int { return l.MaxHeader / int(unsafe.Sizeof(httpmessage.Field{})) }

// errFields returns the error of a head with more.
func errFields() error {
	return &Error{http.StatusRequestHeaderFieldsTooLarge, "the head has too many fields"}
}
