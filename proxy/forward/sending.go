package forward

import (
	"io"

	"github.com/urnd/urnd/internal/httpmessage"
)

// sending is where an answer is sent to, and remembers whether that failed: else its source did. It is pooled: its answer is sent when
// it is put back, and nobody refers to it.
type sending struct {
	httpmessage.ResponseWriter
	failed  bool
	flushes func()             // flush, made once for all that use the sending
	fields  httpmessage.Fields // those of the head; their memory is used again
}

// maxSentFields bounds the memory of fields that stays with a sending.
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

// sent puts a sending back, without anything of its answer.
func (p *Proxy) sent(s *sending) {
	s.ResponseWriter, s.failed = nil, false
	if clear(s.fields); cap(s.fields) > maxSentFields {
		s.fields = nil
	}
	s.fields = s.fields[:0]
	p.sendings.Put(s)
}

// flush sends what was written. A client that has left is seen by the next write.
func (s *sending) flush() { _ = s.Flush() }

// Write implements io.Writer.
func (s *sending) Write(b []byte) (int, error) {
	n, err := s.ResponseWriter.Write(b)
	s.failed = s.failed || err != nil
	return n, err
}

// ReadFrom lets files be sent without copying them. A fault of the file looks like one of the client:
// the disk reports it.
func (s *sending) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(s.ResponseWriter, r)
	s.failed = s.failed || err != nil
	return n, err
}
