package listen

import (
	"net/http"
	"time"
)

// http2Response is a response by HTTP/2 that ends where its client does not open its
// flow-control window for the next chunk. The deadline of the connection does not catch
// this, as nothing is written to it.
type http2Response struct {
	http.ResponseWriter
	control  *http.ResponseController
	deadline func() time.Time
	explicit bool // the handler has set a deadline itself
}

func newHTTP2Response(w http.ResponseWriter, deadline func() time.Time) *http2Response {
	return &http2Response{ResponseWriter: w, control: http.NewResponseController(w), deadline: deadline}
}

// Write implements http.ResponseWriter.
func (r *http2Response) Write(p []byte) (int, error) {
	r.extend()
	return r.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (r *http2Response) FlushError() error {
	r.extend()
	return r.control.Flush()
}

// SetWriteDeadline is for http.ResponseController.
func (r *http2Response) SetWriteDeadline(t time.Time) error {
	r.explicit = !t.IsZero()
	return r.control.SetWriteDeadline(t)
}

// Unwrap is for http.ResponseController.
func (r *http2Response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// extend sets the deadline of the next chunk. The last deadline stays set when the handler
// ends, for buffered data.
func (r *http2Response) extend() {
	if !r.explicit {
		_ = r.control.SetWriteDeadline(r.deadline()) // HTTP/2 supports deadlines
	}
}
