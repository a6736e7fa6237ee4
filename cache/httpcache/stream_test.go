package httpcache_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// stream is a response of the origin whose body the test writes.
type stream struct {
	*io.PipeWriter
	ctx    context.Context
	closed atomic.Bool
}

// streamBody is the body of a stream; the reader calls Close.
type streamBody struct {
	*io.PipeReader
	stream *stream
	stop   func() bool
}

func (b *streamBody) Close() error {
	b.stop()
	b.stream.closed.Store(true)
	return b.PipeReader.Close()
}

// streams makes the origin answer each following request with a new stream. length may be -1.
func (s *site) streams(length int64, lines ...string) chan *stream {
	streams := make(chan *stream, 1000)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.respond = func(ctx context.Context, _ sent) (*httpmessage.Response, error) {
		reader, writer := io.Pipe()
		one := &stream{PipeWriter: writer, ctx: ctx}
		response := s.response(200, "", lines...)
		response.ContentLength = length
		stop := context.AfterFunc(ctx, func() { reader.CloseWithError(context.Cause(ctx)) })
		response.Body = &streamBody{reader, one, stop}
		streams <- one
		return response, nil
	}
	return streams
}

// client is a client whose request runs concurrently with the test.
type client struct {
	t    *testing.T
	stop context.CancelFunc
	cut  context.CancelCauseFunc // like stop, with a cause
	done chan struct{}
	got  got // after done

	mu      sync.Mutex
	body    []byte
	blocked chan struct{} // closed when the client may read; nil if it always may
}

// Write receives the answer.
func (c *client) Write(p []byte) (int, error) {
	if c.blocked != nil {
		<-c.blocked
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body = append(c.body, p...)
	return len(p), nil
}

func (c *client) received() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.body)
}

// start sends a request of a client, which does not read until blocked is closed; nil does not block.
func (s *site) start(blocked chan struct{}, lines ...string) *client {
	ctx, cut := context.WithCancelCause(s.t.Context())
	c := &client{t: s.t, stop: func() { cut(nil) }, cut: cut, done: make(chan struct{}), blocked: blocked}
	go func() {
		defer close(c.done)
		defer func() {
			if value := recover(); value != nil {
				c.got.err = errPanic
			}
		}()
		a, err := s.cache.Serve(ctx,
			&httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: fields(lines...)}, Key: target},
			httpcache.OriginFunc(s.forward))
		if err != nil {
			c.got = got{err: err}
			return
		}
		c.got = got{Response: a}
		if a.Content != nil {
			defer a.Content.Close()
			c.got.broken = a.Content.SendTo(c, func() {})
		}
		c.mu.Lock()
		c.got.body = string(c.body)
		c.mu.Unlock()
	}()
	return c
}

var errPanic = errors.New("it panicked")

// end waits for the end of the answer.
func (c *client) end() got {
	<-c.done
	c.stop()
	return c.got
}

// whole checks that a client received the complete body.
func (c *client) whole(body string) {
	c.t.Helper()
	if g := c.end(); g.err != nil || g.broken != nil || g.body != body {
		c.t.Errorf("%v, %v: %d bytes of %d", g.err, g.broken, len(g.body), len(body))
	}
}

// leakless checks that a test leaves no goroutine behind.
func leakless(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		s := &site{t: t}
		s.eventually("no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	})
}
