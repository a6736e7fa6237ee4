package http2

import (
	"io"
	"net/http"
	"os"
	"time"

	"golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
)

// The server opens the connection window (RFC 9113 section 5.2) to its maximum, so that a request whose body
// is not read does not keep the client from sending others. Each stream has its own window.
const (
	// firstWindow is the window of a stream whose body is not read yet: such a request needs no more memory
	// than one whose response waits for the client.
	firstWindow = maxFrame
	// receiveWindow is the most bytes of a body that are buffered while a handler reads it.
	receiveWindow = 256 << 10
)

// body is the buffered content of a request. It is guarded by connection.mu.
type body struct {
	content []byte
	read    int   // bytes of content that were read
	left    int64 // bytes until the declared length; -1 for none
	window  int64 // bytes that the client may send
	unsent  int64 // credit that was not announced to the client yet
	started bool  // a handler reads it
	ended   bool
	trailer httpmessage.Fields
	expects bool      // the client waits for 100 (Continue): RFC 9110 section 10.1.1
	by      time.Time // the handler's read deadline; zero for none
	late    bool
}

// take adds the content of a DATA frame, of a size with its padding, and returns the code of a stream error.
func (b *body) take(content []byte, size int64, end bool) http2.ErrCode {
	n := int64(len(content))
	b.window -= size
	switch {
	case b.ended:
		return http2.ErrCodeStreamClosed
	case b.window < 0 && size > 0:
		return http2.ErrCodeFlowControl
	case b.left >= 0 && n > b.left, end && b.left > n: // RFC 9113 section 8.1.1
		return http2.ErrCodeProtocol
	case b.left >= 0:
		b.left -= n
	}
	if b.read > 0 && len(b.content)+len(content) > cap(b.content) {
		b.content = append(b.content[:0], b.content[b.read:]...)
		b.read = 0
	}
	b.content = append(b.content, content...)
	return http2.ErrCodeNo
}

// unread returns the number of buffered bytes.
func (b *body) unread() int { return len(b.content) - b.read }

// next reads buffered bytes.
func (b *body) next(p []byte) int {
	n := copy(p, b.content[b.read:])
	b.read += n
	if b.unread() == 0 {
		b.empty()
	}
	return n
}

// empty clears the content, and releases a large buffer.
func (b *body) empty() {
	const most = 64 << 10
	if b.read, b.content = 0, b.content[:0]; cap(b.content) > most || b.ended {
		b.content = nil
	}
}

// requestBody is the body of a request, for a Continuation.
type requestBody stream

// Read implements io.Reader.
func (r *requestBody) Read(p []byte) (int, error) {
	s := (*stream)(r)
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	s.beginBody()
	var wait partWait
	for {
		b := &s.body
		switch {
		case s.err != nil:
			return 0, s.err
		case b.unread() > 0:
			n := b.next(p)
			s.credit(int64(n))
			c.flush()
			return n, nil
		case b.ended:
			if s.incoming.Trailer != nil {
				s.incoming.Trailer.Fields = b.trailer
			}
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		if !s.awaitPart(&wait) {
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// partWait is a wait for the next part of a body. The zero value has not begun.
type partWait struct {
	started bool
	by      time.Time // the deadline of the server; zero for none
	sent    int64     // bytes of response content when it began
}

// awaitPart waits for a change, and reports false if the next part of the body is late. c.mu is held, except
// while it waits.
func (s *stream) awaitPart(w *partWait) bool {
	b := &s.body
	if !w.started {
		*w = partWait{true, s.bodyDeadline(), s.sent}
	}
	by := w.by
	if by.IsZero() || !b.by.IsZero() && b.by.Before(by) {
		by = b.by
	}
	switch {
	case s.c.wait(&s.changed, by), b.unread() > 0, b.ended, s.err != nil:
		return true
	case by.Equal(w.by) && s.sent > w.sent: // both sides send, as with gRPC, and it was the turn of the other one
		w.started = false
		return true
	default:
		// Not a deadline in the distant past, by which a handler interrupts a read.
		b.late = !by.Before(time.Unix(1<<20, 0))
		return false
	}
}

// bodyDeadline returns the deadline of the next part of the body. A tunnel has none.
func (s *stream) bodyDeadline() time.Time {
	if s.c.server.config.BodyDeadline == nil || s.tunnel {
		return time.Time{}
	}
	return s.c.server.config.BodyDeadline()
}

// beginBody lets the client send the body, on the first read: it enlarges the window, and sends 100
// (Continue) if the client waits for it and there is no response yet. c.mu is held.
func (s *stream) beginBody() {
	if s.body.started {
		return
	}
	s.body.started = true
	if s.body.expects {
		s.interim(http.StatusContinue, nil)
	}
	s.credit(receiveWindow - firstWindow)
	s.c.flush()
}

// credit enlarges the window. It is announced when it is worth a frame, or needed. c.mu is held.
func (s *stream) credit(n int64) {
	const few = receiveWindow / 8
	b := &s.body
	b.unsent += n
	needed := b.left < 0 || b.left > b.window
	if b.unsent == 0 || b.ended || s.err != nil || !needed || b.unsent < few && b.unsent < b.window {
		return
	}
	b.window += b.unsent
	s.c.appendCode(http2.FrameWindowUpdate, s.id, uint32(b.unsent)) //nolint:gosec // it is at most receiveWindow
	b.unsent = 0
}

// SetReadDeadline implements httpmessage.ResponseWriter.
func (s *stream) SetReadDeadline(t time.Time) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.body.by = t
	s.changed.Broadcast()
	return s.err
}

// BodyTimedOut implements httpmessage.ResponseWriter.
func (s *stream) BodyTimedOut() bool {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.body.late
}
