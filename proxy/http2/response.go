package http2

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
)

// response is a response in progress, used by the goroutine of the handler. The zero value has not begun.
type response struct {
	status   int      // 0 before WriteHeader
	encoder  *encoder // the header, until it is sent
	held     []byte   // content after it, until its length is known
	rest     []byte   // content of Begin that exceeds the client's windows
	trailer  []byte   // a field block
	left     int64    // Content-Length; -1 for none
	written  int64    // bytes of content
	bodiless bool     // no content is sent: RFC 9110 section 6.4.1
	sizeless bool     // nor a Content-Length: RFC 9110 sections 8.6 and 15.4.5
	trailed  bool     // trailer fields were announced
	inBegin  bool     // must not block
	reserved int64    // of the connection window, by Available
}

// maxHeld is the largest content that gets an automatic Content-Length, as in net/http.
const maxHeld = 2 << 10

var (
	errLength    = errors.New("the content exceeds Content-Length")
	errNoTunnel  = errors.New("an HTTP/2 tunnel requires an accepted CONNECT")
	errNotWaited = errors.New("the content exceeds the flow-control window")
)

func (r *response) reset(s *Server) {
	if r.encoder != nil {
		s.giveEncoder(r.encoder)
	}
	*r = response{held: r.held[:0]}
}

// endBegin releases the reservation of Available. Content that exceeds the windows is written by a Continuation.
func (s *stream) endBegin() {
	r := &s.response
	r.inBegin = false
	s.c.mu.Lock()
	s.c.openWindow(r.reserved)
	r.reserved = 0
	s.c.mu.Unlock()
	if len(r.rest) > 0 && s.next == nil {
		s.next = restWriter{s}
	}
}

// restWriter writes the rest of a response.
type restWriter struct{ s *stream }

// Continue implements httpmessage.Continuation.
func (w restWriter) Continue() {
	rest := w.s.response.rest
	w.s.response.rest = nil
	_, _ = w.s.transmit(rest, false) // finish sees the error
}

// Available implements httpmessage.ResponseWriter. In Begin the returned size is reserved for this stream until
// Begin returns.
func (s *stream) Available() int64 {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	r := &s.response
	s.c.window += r.reserved
	available := max(0, min(s.window, s.c.window, int64(maxOutput-len(s.c.out))))
	if r.inBegin {
		r.reserved = available
		s.c.window -= available
	}
	return available
}

// WriteInterim implements httpmessage.ResponseWriter.
func (s *stream) WriteInterim(status int, fields httpmessage.Fields) {
	if status == http.StatusSwitchingProtocols || status >= http.StatusOK { // RFC 9113 section 8.6
		return
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.interim(status, fields)
	s.c.flush()
}

// interim appends an interim response. c.mu is held.
func (s *stream) interim(status int, fields httpmessage.Fields) {
	if s.committed || s.err != nil {
		return
	}
	if status == http.StatusContinue {
		s.body.expects = false
	}
	e := s.c.server.takeEncoder()
	defer s.c.server.giveEncoder(e)
	e.status(status)
	for _, f := range fields {
		if !f.HasName("Content-Length") {
			e.field(f.Name, f.Value)
		}
	}
	s.c.appendBlock(s.id, e.block, false)
}

// WriteHeader implements httpmessage.ResponseWriter.
func (s *stream) WriteHeader(status int, _ string, fields httpmessage.Fields) {
	r := &s.response
	if r.status != 0 {
		return
	}
	r.status, r.left = status, -1
	r.sizeless = status == http.StatusNoContent || status == http.StatusNotModified
	r.bodiless = r.sizeless || s.incoming.Method == http.MethodHead
	if s.tunnels() && status/100 == 2 { // RFC 9110 section 9.3.6
		r.sizeless = true
	}
	r.encoder = s.c.server.takeEncoder()
	r.encoder.status(status)
	for _, f := range fields {
		if r.frame(f) {
			r.encoder.field(f.Name, f.Value)
		}
	}
	if !fields.Has("Date") {
		r.encoder.field("date", s.c.server.date.At(s.c.server.config.Now()))
	}
	if fields.Get("Connection") == "close" {
		s.c.drain()
	}
}

// frame processes a field that concerns the framing, and reports whether it is sent.
func (r *response) frame(f httpmessage.Field) bool {
	switch {
	case f.HasName("Content-Length"):
		n, err := strconv.ParseInt(f.Value, 10, 64)
		if r.sizeless || err != nil || n < 0 || r.left >= 0 {
			return false
		}
		r.left = n
	case f.HasName("Content-Type"):
		return r.status != http.StatusNotModified
	case f.HasName("Trailer"):
		r.trailed = true
	}
	return true
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	r := &s.response
	if r.status == 0 {
		s.WriteHeader(http.StatusOK, "", nil)
	}
	switch {
	case r.bodiless:
		r.written += int64(len(p))
		return len(p), nil
	case r.left >= 0 && r.written+int64(len(p)) > r.left:
		return 0, errLength
	case len(p) == 0:
		return 0, nil
	case r.encoder != nil && r.left < 0 && len(r.held)+len(p) <= maxHeld:
		r.held = append(r.held, p...)
		r.written += int64(len(p))
		return len(p), nil
	}
	if err := s.sendHeld(); err != nil {
		return 0, err
	}
	r.written += int64(len(p))
	last := r.written == r.left && !r.trailed
	switch {
	case !last || r.inBegin: // a response by Begin has no trailer
		return s.transmit(p, last)
	case len(p) <= maxHeld: // sendEnd knows whether an unannounced trailer follows
		r.held = append(r.held, p...)
		return len(p), nil
	default:
		return s.transmit(p, false)
	}
}

// sendHeld sends the content that was held back.
func (s *stream) sendHeld() error {
	held := s.response.held
	if len(held) == 0 {
		return nil
	}
	_, err := s.transmit(held, false)
	s.response.held = held[:0]
	return err
}

// WriteBuffers implements httpmessage.ResponseWriter.
func (s *stream) WriteBuffers(buffers [][]byte) (total int64, err error) {
	for _, b := range buffers {
		n, err := s.Write(b)
		if total += int64(n); err != nil {
			return total, err
		}
	}
	return total, nil
}

// Flush implements httpmessage.ResponseWriter.
func (s *stream) Flush() error {
	if s.response.status == 0 {
		s.WriteHeader(http.StatusOK, "", nil)
	}
	if err := s.sendHeld(); err != nil {
		return err
	}
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	s.commit(s.response.bodiless)
	if !s.response.inBegin {
		c.flush()
	}
	return s.err
}

// SetTrailer implements httpmessage.ResponseWriter.
func (s *stream) SetTrailer(fields httpmessage.Fields) {
	e := s.c.server.takeEncoder()
	defer s.c.server.giveEncoder(e)
	for _, f := range fields {
		if isTrailer(f.Name) {
			e.field(f.Name, f.Value)
		}
	}
	s.response.trailer = append([]byte(nil), e.block...)
}

// Abort implements httpmessage.ResponseWriter.
func (s *stream) Abort() {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.reset(http2.ErrCodeInternal)
}

// Truncate implements httpmessage.ResponseWriter: the end of a stream would mean that the response is complete.
func (*stream) Truncate() bool { return false }

// finish ends the response after the handler has returned, unless a Continuation must write the rest.
func (s *stream) finish() {
	r, c := &s.response, s.c
	if len(r.rest) > 0 {
		return
	}
	if r.status == 0 {
		s.WriteHeader(http.StatusOK, "", nil)
	}
	r.addLength()
	if !r.bodiless && r.written < r.left {
		s.Abort()
		return
	}
	s.sendEnd()
	c.mu.Lock()
	defer c.mu.Unlock()
	s.lingers = s.err == nil && (!s.sentEnd || !s.body.ended || s.malformed)
	if s.lingers {
		s.linger()
	}
}

// sendEnd sends the rest of a response, and its end, unless Begin has kept content. A small content without
// trailer may be left to linger.
func (s *stream) sendEnd() {
	r, c := &s.response, s.c
	if r.trailer != nil {
		_ = s.sendHeld() // the error is in s.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case s.sentEnd || s.err != nil || len(r.rest) > 0:
	case r.trailer != nil && !r.bodiless:
		s.commit(false)
		c.appendBlock(s.id, r.trailer, true)
		s.responded()
	case len(r.held) > 0:
		s.commit(false)
		held := r.held
		if r.inBegin {
			held = s.sendNow(held, true)
		}
		s.pending, s.ends = held, true
		c.queue(s)
		c.pump()
	case r.encoder != nil:
		s.commit(true)
	default:
		c.appendData(s, nil, true)
	}
}

// linger keeps a stream open without a goroutine after its handler has returned: the client has time to open its
// windows for the rest of the response, and then to end its request, as far as the server's window is open. Some
// clients treat any reset as a failure, but none is required to send the rest: RFC 9113 section 8.1. c.mu is held.
func (s *stream) linger() {
	c, b := s.c, &s.body
	b.content, b.read = nil, 0
	switch {
	case s.err != nil:
		return
	case !s.sentEnd:
		s.by = s.writeDeadline()
	case s.malformed: // RFC 9113 section 8.1.1: a response, and a stream error
		c.appendReset(s.id, http2.ErrCodeProtocol, !b.ended)
		s.drop(errReset)
		return
	case b.ended:
		return
	case b.window <= 0, b.left > b.window:
		s.reset(http2.ErrCodeNo)
		return
	default:
		s.by = c.server.config.Now().Add(roundTrip)
	}
	c.lingerUntil(s.by)
}

// lingerUntil schedules a check of lingering streams; the zero value is never. c.mu is held.
func (c *connection) lingerUntil(t time.Time) {
	if !t.IsZero() && (c.lingerBy.IsZero() || t.Before(c.lingerBy)) {
		c.lingerBy = t
		c.wakeBy(t)
	}
}

// endLingering resets the streams that have lingered for too long. c.mu is held.
func (c *connection) endLingering(now time.Time) {
	c.lingerBy = time.Time{}
	for _, s := range c.streams {
		switch {
		case !s.lingers || s.by.IsZero():
		case now.Before(s.by):
			c.lingerUntil(s.by)
		case s.sentEnd:
			s.reset(http2.ErrCodeNo)
		case s.blocked():
			s.reset(http2.ErrCodeCancel)
		default: // it waits for the socket, whose writes have deadlines of their own
			s.by = s.writeDeadline()
			c.lingerUntil(s.by)
		}
	}
	c.flush()
}

// addLength adds Content-Length to complete content that has none.
func (r *response) addLength() {
	known := r.left >= 0 || r.bodiless && (r.written == 0 || r.written > maxHeld)
	if r.encoder == nil || known || r.sizeless || r.trailed || r.trailer != nil {
		return
	}
	var digits [20]byte
	r.encoder.field("content-length", string(strconv.AppendInt(digits[:0], r.written, 10)))
}
