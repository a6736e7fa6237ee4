package httpmessage

import (
	"io"
	"net/netip"
)

// Response is the response to a Request, whose body is a stream. It must be closed.
type Response struct {
	Status        int
	Reason        string // the words that the origin gave the status; "" for none
	Fields        Fields
	Trailer       *Trailer // nil for none
	Body          io.ReadCloser
	ContentLength int64          // -1 if unknown
	From          netip.AddrPort // the server; the zero value where it is not known
	// Private is whether it is for the client that has asked alone, whatever its fields say.
	Private bool
}
