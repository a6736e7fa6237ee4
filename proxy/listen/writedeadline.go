package proxy

import (
	"net/http"
	"time"
)

// stream is a response by HTTP/2, which ends where its client leaves no room for the
// next piece: the deadlines of the connection do not see that, as nothing is written to
// it.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
	until   func() time.Time
	own     bool // whoever writes has set a deadline
}

func newStream(w http.ResponseWriter, until func() time.Time) *stream {
	return &stream{ResponseWriter: w, control: http.NewResponseController(w), until: until}
}

// Write implements http.ResponseWriter.
func (s *stream) Write(p []byte) (int, error) {
	s.extend()
	return s.ResponseWriter.Write(p) //nolint:wrapcheck // it stands for the writer that it wraps
}

// FlushError is for http.ResponseController.
func (s *stream) FlushError() error {
	s.extend()
	return s.control.Flush()
}

// SetWriteDeadline is for http.ResponseController.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.own = !t.IsZero()
	return s.control.SetWriteDeadline(t)
}

// Unwrap is for http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// extend gives the client time for a piece. The last one stands when the handler ends,
// for what is buffered.
func (s *stream) extend() {
	if !s.own {
		_ = s.control.SetWriteDeadline(s.until()) // one that cannot is not by HTTP/2
	}
}
