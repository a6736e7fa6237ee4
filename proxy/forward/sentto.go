package forward

import (
	"io"
	"net/http"
)

// sentTo is where a content is sent to, and remembers whether that failed: else its source did.
type sentTo struct {
	http.ResponseWriter
	failed bool
}

// flush sends what was written. A client that has left is seen by the next write.
func (s *sentTo) flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() }

// Write implements io.Writer.
func (s *sentTo) Write(b []byte) (int, error) {
	n, err := s.ResponseWriter.Write(b)
	s.failed = s.failed || err != nil
	return n, err
}

// ReadFrom lets files be sent without copying them. A fault of the file looks like one of the client:
// the disk reports it.
func (s *sentTo) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(s.ResponseWriter, r)
	s.failed = s.failed || err != nil
	return n, err
}
