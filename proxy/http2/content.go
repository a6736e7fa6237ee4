package http2

import (
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/http2"
)

// commit sends the response header. c.mu is held.
func (s *stream) commit(end bool) {
	r := &s.response
	if r.encoder == nil || s.err != nil {
		return
	}
	s.committed = true
	s.c.appendBlock(s.id, r.encoder.block, end)
	s.c.server.giveEncoder(r.encoder)
	r.encoder = nil
	if end {
		s.responded()
	}
}

// transmit sends content, after the header, as the client's windows allow; end ends the stream. In Begin,
// content that exceeds the windows is kept for a Continuation.
func (s *stream) transmit(p []byte, end bool) (int, error) {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &s.response
	switch {
	case s.err != nil || s.sentEnd:
		return 0, cmp.Or(s.err, net.ErrClosed)
	case r.inBegin && len(r.rest) > 0:
		return s.keep(p)
	}
	s.commit(false)
	if r.inBegin {
		rest := s.sendNow(p, end)
		n, err := s.keep(rest)
		return len(p) - len(rest) + n, err
	}
	s.pending, s.ends = p, end
	c.queue(s)
	c.pump()
	left := s.awaitSent()
	s.pending = nil
	if s.err != nil || len(c.out) >= minWrite {
		c.flush()
	}
	return len(p) - left, s.err
}

// awaitSent waits until the pending content was sent, and returns the number of bytes that were not. c.mu is held.
func (s *stream) awaitSent() (left int) {
	c := s.c
	left = len(s.pending)
	for deadline := s.writeDeadline(); len(s.pending) > 0 && s.err == nil; {
		c.flush()
		switch {
		case s.err != nil:
		case len(s.pending) < left:
			deadline, left = s.writeDeadline(), len(s.pending)
		case c.finished && s.stuck():
			s.reset(http2.ErrCodeCancel) // further DATA would come too late
		case c.wait(&s.changed, deadline) || len(s.pending) < left:
		case s.blocked():
			s.reset(http2.ErrCodeCancel)
		default: // it waits for the socket, whose writes have deadlines of their own
			deadline = s.writeDeadline()
		}
	}
	if s.err == nil {
		return 0
	}
	return left
}

// sendNow sends content in Begin, before other streams and using the reservation of Available, and returns the
// rest. c.mu is held.
func (s *stream) sendNow(rest []byte, end bool) []byte {
	c, r := s.c, &s.response
	c.window += r.reserved
	for len(rest) > 0 && s.window > 0 && c.window > 0 && (len(c.out) < maxQueued || r.reserved > 0) {
		left := len(rest)
		rest = c.sendPart(s, rest, end)
		r.reserved -= min(r.reserved, int64(left-len(rest)))
	}
	c.window -= r.reserved
	return rest
}

// keep keeps content of Begin that exceeds the windows. c.mu is held.
func (s *stream) keep(p []byte) (int, error) {
	r := &s.response
	const most = 2 * maxFrame
	if len(r.rest)+len(p) > most {
		s.reset(http2.ErrCodeInternal)
		return 0, errNotWaited
	}
	r.rest = append(r.rest, p...)
	return len(p), nil
}

// writeDeadline returns the deadline for the client to open a window.
func (s *stream) writeDeadline() time.Time {
	if s.c.server.config.WriteDeadline == nil {
		return time.Time{}
	}
	return s.c.server.config.WriteDeadline()
}

// ReadFrom implements io.ReaderFrom. It holds no buffer while it waits for a window.
func (s *stream) ReadFrom(from io.Reader) (total int64, err error) {
	if s.response.status == 0 {
		s.WriteHeader(http.StatusOK, "", nil)
	}
	for {
		if err := s.awaitWindow(); err != nil {
			return total, err
		}
		n, err := s.copyPart(from)
		total += n
		switch {
		case errors.Is(err, io.EOF):
			return total, nil
		case err != nil:
			return total, err
		}
	}
}

// copyPart copies the content of one frame.
func (s *stream) copyPart(from io.Reader) (int64, error) {
	buffer := s.c.server.takeOutput()
	defer func() { s.c.server.giveOutput(buffer) }()
	if cap(buffer) < maxFrame {
		buffer = make([]byte, 0, maxFrame)
	}
	n, err := from.Read(buffer[:maxFrame])
	if n > 0 {
		if written, failed := s.Write(buffer[:n]); failed != nil {
			return int64(written), failed
		}
	}
	return int64(n), err //nolint:wrapcheck // the error of the reader
}

// awaitWindow waits until the windows are open, unless no content is left to send. The header and the end of a stream
// need no window (RFC 9113 section 6.9): a client may open none for content whose length it knows.
func (s *stream) awaitWindow() error {
	c, r := s.c, &s.response
	if r.bodiless || r.inBegin || r.written == r.left {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline := s.writeDeadline()
	for s.err == nil && s.blocked() {
		s.commit(false)
		c.flush()
		if s.err == nil && s.blocked() && (c.finished || !c.wait(&s.changed, deadline) && s.blocked()) {
			s.reset(http2.ErrCodeCancel)
			c.flush()
		}
	}
	return s.err
}
