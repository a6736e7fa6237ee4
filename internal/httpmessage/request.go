package httpmessage

import (
	"io"

	"github.com/urnd/urnd/uri"
)

// Request is a request for one resource, from where it is admitted to the origin. Who passes it on with other fields copies it.
type Request struct {
	Method string
	URI    uri.URI // the target: absolute, without fragment
	// Spelling is the path and query that are sent by HTTP in place of those of URI; "" for those.
	Spelling      string
	Host          string // the value of Host, where it is not the host of URI; "" for that
	Fields        Fields
	Body          io.Reader // nil for none
	ContentLength int64     // of Body; -1 if unknown
	Trailer       *Trailer  // nil for none
}

// Trailer are the fields behind a body: RFC 9110 section 6.5.
type Trailer struct {
	Names  []string // those that are known before the body
	Fields Fields   // complete at the end of the body, and not to be read before
}
