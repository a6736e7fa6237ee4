package forward

import (
	"io"

	"github.com/urnd/urnd/internal/httpmessage"
)

// sending is the destination of an answer. It records whether writing has failed: otherwise the source has.
// It is pooled, and returned to the pool when the answer was sent and nothing refers to it.
type sending struct {
	httpmessage.ResponseWriter
	failed  bool
	flushes func()             // the method flush, as a function value created once
	fields  httpmessage.Fields // of the header; the memory is reused
}

// maxSentFields limits the capacity of fields that a pooled sending retains.
const maxSentFields = 64

// sendingTo returns a sending to a client.
func (p *Proxy) sendingTo(w httpmessage.ResponseWriter) *sending {
	s, _ := p.sendings.Get().(*sending)
	if s == nil {
		s = new(sending)
		s.flushes = s.flush
	}
	s.ResponseWriter = w
	return s
}

// sent returns a sending to the pool, without references to its answer.
func (p *Proxy) sent(s *sending) {
	s.ResponseWriter, s.failed = nil, false
	if clear(s.fields); cap(s.fields) > maxSentFields {
		s.fields = nil
	}
	s.fields = s.fields[:0]
	p.sendings.Put(s)
}

// flush flushes written data. A disconnect of the client is detected by the next write.
func (s *sending) flush() { _ = s.Flush() }

// Write implements io.Writer.
func (s *sending) Write(b []byte) (int, error) {
	n, err := s.ResponseWriter.Write(b)
	s.failed = s.failed || err != nil
	return n, err
}

// ReadFrom implements io.ReaderFrom, so that files are sent without copying (sendfile). It cannot tell a
// failure of the file from one of the client: the disk store reports its own.
func (s *sending) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(s.ResponseWriter, r)
	s.failed = s.failed || err != nil
	return n, err
}
