package listen

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// requestBody is the body of a request, each part of which must come before a deadline. Its error is
// os.ErrDeadlineExceeded then.
type requestBody struct {
	io.ReadCloser
	control  *http.ResponseController
	deadline func() time.Time
	ended    atomic.Bool // it was read to its end
}

// Read implements io.Reader. Between two reads there is no deadline: then it is urnd that is
// slow, or an origin.
func (b *requestBody) Read(p []byte) (int, error) {
	defer b.bound()()
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	}
	return n, err //nolint:wrapcheck // it stands for the body that it wraps
}

// bound sets a deadline for reading from the client, and returns how to remove it.
func (b *requestBody) bound() (remove func()) {
	if b.ended.Load() || b.control.SetReadDeadline(b.deadline()) != nil {
		return func() {}
	}
	return func() { _ = b.control.SetReadDeadline(time.Time{}) }
}

// bodyResponse is a response by HTTP/1.1 to a request with a body. Where the handler does not
// read the body, net/http does before it sends the header, and has no deadline for that.
type bodyResponse struct {
	http.ResponseWriter
	body *requestBody
}

// Write implements http.ResponseWriter.
func (r bodyResponse) Write(p []byte) (int, error) {
	defer r.body.bound()()
	return r.ResponseWriter.Write(p) //nolint:wrapcheck // it stands for the writer that it wraps
}

// FlushError is for http.ResponseController.
func (r bodyResponse) FlushError() error {
	defer r.body.bound()()
	return r.body.control.Flush()
}

// Unwrap is for http.ResponseController.
func (r bodyResponse) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// end is called when the handler has ended: what net/http still reads is before the next
// request, which has deadlines of its own.
func (r bodyResponse) end() { _ = r.body.bound() }

// withBody returns a request and its response with deadlines for the body. end must be called
// after the handler.
func (s *Server) withBody(w http.ResponseWriter, r *http.Request) (response http.ResponseWriter, end func()) {
	body := &requestBody{ReadCloser: r.Body, control: http.NewResponseController(w), deadline: s.config.BodyDeadline}
	r.Body = body
	if r.ProtoMajor != 1 {
		return w, func() {}
	}
	bounded := bodyResponse{w, body}
	return bounded, bounded.end
}
