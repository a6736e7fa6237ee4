package http2

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
)

// stream is a request and its response: the httpmessage.ResponseWriter of a Handler. It is pooled.
type stream struct {
	incoming httpmessage.Incoming
	response response // of the handler's goroutine
	// Wakes the reader of the body, and the writer of the response; late wake-ups may reach a later request.
	changed sync.Cond
	exchange
}

// exchange is the state of a stream for one request and its response.
type exchange struct {
	c    *connection
	id   uint32
	next httpmessage.Continuation

	// Guarded by connection.mu:
	err       error // why the stream has ended before its request and its response
	body      body
	window    int64           // of the client
	sent      int64           // bytes of content
	pending   []byte          // content of the handler that waits for windows and for the round robin
	ends      bool            // the stream ends after it
	queued    bool            // it is in connection.turns
	committed bool            // the response header was sent
	sentEnd   bool            // the response was sent
	malformed bool            // the request is malformed
	tunnel    bool            // it was taken over
	closed    bool            // its tunnel is closed
	answered  bool            // the handler has returned
	lingers   bool            // the handler has returned, before the end of the response or of the request
	by        time.Time       // when to stop lingering; zero for never
	base      context.Context //nolint:containedctx // the context of the connection's BeginWait
	ctx       context.Context //nolint:containedctx // the context of the request
	cancel    context.CancelCauseFunc
}

var (
	errReset    = errors.New("the stream was reset")
	errAnswered = errors.New("the response was sent")
)

// takeStream returns a stream of a connection for a request.
func takeStream(c *connection, id uint32) *stream {
	s, ok := c.server.streams.Get().(*stream)
	if !ok {
		s = new(stream)
	}
	s.c, s.id, s.window, s.changed.L = c, id, c.initial, &c.mu
	s.body.window = c.first
	s.incoming.Conn, s.incoming.Major = c, 2
	return s
}

// giveBack returns the stream to the pool, unless it is still used by a tunnel or the connection.
func (s *stream) giveBack() {
	switch {
	case s.tunnel:
		return
	case s.lingers: // release what refers to the handler
		s.incoming, s.next, s.base, s.ctx, s.cancel = httpmessage.Incoming{}, nil, nil, nil, nil
		return
	}
	server := s.c.server
	s.incoming.Conn = nil
	s.incoming.Reset()
	s.response.reset(server)
	const mostFields = 128
	if cap(s.incoming.Fields) > mostFields {
		s.incoming.Fields = nil
	}
	s.exchange = exchange{}
	server.streams.Put(s)
}

// begin calls Begin, in the reading goroutine.
func (s *stream) begin(refusal string) {
	c := s.c
	func() {
		defer s.recovered()
		s.response.inBegin, s.response.left = true, -1
		switch {
		case c.block.tooLarge:
			s.refuse(http.StatusRequestHeaderFieldsTooLarge, "the header fields are too large")
		case refusal != "":
			s.malformed = true
			s.refuse(http.StatusBadRequest, refusal)
		default:
			s.next = c.server.config.Handler.Begin(&s.incoming, s)
		}
	}()
	if s.next == nil {
		s.finish()
	}
	s.endBegin()
	if s.next == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		s.giveBack()
		return
	}
	s.base = c.BeginWait()
	c.mu.Lock()
	c.running++
	c.handlers++
	c.mu.Unlock()
	c.server.start(s)
}

// refuse sends an error response without calling the handler.
func (s *stream) refuse(status int, reason string) {
	config := &s.c.server.config
	contentType, body := "text/plain; charset=utf-8", []byte(reason+"\n")
	if config.ErrorDocument != nil {
		status, contentType, body = config.ErrorDocument(&s.incoming, status, reason, false)
	}
	if config.Rejected != nil { // before the client can see the response
		config.Rejected(status)
	}
	s.WriteHeader(status, "", httpmessage.Fields{{Name: "content-type", Value: contentType}})
	_, _ = s.Write(body) // finish sees the error
}

// run runs a Continuation in a pooled goroutine.
func (s *stream) run() {
	func() {
		defer s.recovered()
		s.next.Continue()
	}()
	c := s.c
	c.mu.Lock()
	s.answered = true
	ends := !s.tunnel || s.closed
	c.mu.Unlock()
	if ends { // otherwise the tunnel does
		s.finish()
		s.handled()
	}
}

// handled ends a stream whose request was answered.
func (s *stream) handled() {
	c := s.c
	c.EndWait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.cancel != nil {
		s.cancel(errAnswered)
	}
	c.flush()
	c.handlers--
	s.giveBack()
	c.ended()
}

// recovered resets the stream after a panic of its handler.
func (s *stream) recovered() {
	value := recover()
	if value == nil {
		return
	}
	s.next = nil
	s.Abort()
	if panicked := s.c.server.config.Panicked; panicked != nil {
		panicked(value, debug.Stack())
	}
}

// Context implements httpmessage.ResponseWriter.
func (s *stream) Context() context.Context {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.ctx == nil {
		base := s.base
		if base == nil {
			base = context.Background()
		}
		ctx, cancel := context.WithCancelCause(base)
		// When the server shuts down, it closes the connection, too, which ends the stream before or after base.
		s.ctx, s.cancel = ctx, func(cause error) { cancel(cmp.Or(context.Cause(base), cause)) }
		if s.err != nil {
			s.cancel(s.err)
		}
	}
	return s.ctx
}

// HalfClosed implements httpmessage.ResponseWriter. It is about the connection: a client ends its side of a stream
// with each request.
func (s *stream) HalfClosed() context.Context { return s.c.HalfClosed() }

// Attach implements httpmessage.ResponseWriter: a connection may carry requests of several clients, so
// nothing is attached.
func (*stream) Attach(func() io.Closer) io.Closer { return nil }

// requested is called when the request is complete. c.mu is held.
func (s *stream) requested() {
	s.body.ended = true
	if s.sentEnd {
		s.remove()
	}
}

// responded is called when the response is complete. c.mu is held.
func (s *stream) responded() {
	c := s.c
	s.sentEnd = true
	if !s.malformed {
		c.flood.earned += emptyPerAnswer
	}
	if s.body.ended {
		s.remove()
	}
}

// remove forgets a stream that has ended. c.mu is held.
func (s *stream) remove() {
	c := s.c
	if c.streams[s.id] != s {
		return
	}
	delete(c.streams, s.id)
	if s.tunnel {
		c.tunnels--
	}
	c.countTunnels()
	c.dequeue(s)
	if c.finished {
		c.progress.Broadcast()
	}
	if len(c.streams) == 0 {
		c.quiet()
	}
}

// drop ends a stream before its request and its response have ended. c.mu is held.
func (s *stream) drop(err error) {
	c := s.c
	if s.err != nil || c.streams[s.id] != s {
		return
	}
	s.err = err
	s.body.content, s.body.read = nil, 0
	if s.cancel != nil {
		s.cancel(err)
	}
	s.changed.Broadcast()
	s.remove()
}

// reset resets a stream: RFC 9113 section 5.4.2. c.mu is held.
func (s *stream) reset(code http2.ErrCode) {
	c := s.c
	if s.err != nil || c.streams[s.id] != s {
		return
	}
	c.appendReset(s.id, code, !s.body.ended)
	s.drop(errReset)
}

// Hijack implements httpmessage.ResponseWriter, for CONNECT.
func (s *stream) Hijack() (net.Conn, []byte, error) {
	if !s.tunnels() || s.response.inBegin {
		return nil, nil, errNoTunnel
	}
	if err := s.Flush(); err != nil {
		return nil, nil, err
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.tunnel = true
	if s.c.streams[s.id] == s { // not reset meanwhile
		s.c.tunnels++
		s.c.countTunnels()
	}
	return &tunnel{requestBody: (*requestBody)(s), s: s}, nil, nil
}
