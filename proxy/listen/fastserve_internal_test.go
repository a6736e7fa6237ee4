package listen

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// plainRequest is what fakePath serves.
const plainRequest = "GET /plain HTTP/1.1\r\nHost: a\r\n\r\n"

// serving returns a server whose plain requests call a function.
func serving(t *testing.T, during func(*FastConn, context.Context), change func(*fastServer, *ServerConfig)) *fastServer {
	t.Helper()
	s := serveFast(t, change)
	s.path.during.Store(&during)
	return s
}

// Requests that are answered, served and handled come in any order, in one packet or in several.
func TestServedAmongOthers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fastServer, *ServerConfig){"plain": nil, "TLS": overTLS} {
		s := serving(t, func(*FastConn, context.Context) {}, change)
		c := s.dial(t)
		c.send(t, plainRequest+fastRequest+plainRequest+plainRequest+slowRequest+fastRequest)
		c.expect(t, "200 plain", fastAnswer, "200 plain", "200 plain", slowAnswer, fastAnswer)
		for range 4 {
			c.send(t, plainRequest)
			c.expect(t, "200 plain")
			c.send(t, fastRequest+plainRequest)
			c.expect(t, fastAnswer, "200 plain")
		}
		c.send(t, plainRequest+"GET / HTTP/1.1\r\n\r\n")
		c.expect(t, "200 plain", "400")
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// The context of a request ends when its client has left, and not when that has only ended its side.
func TestServedClientLeaves(t *testing.T) {
	t.Parallel()
	began, ended, left := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	s := serving(t, func(c *FastConn, ctx context.Context) {
		began <- struct{}{}
		<-c.Ended().Done()
		if ctx.Err() == nil {
			ended <- struct{}{}
		}
		<-ctx.Done()
		left <- struct{}{}
	}, nil)
	c := s.dial(t)
	c.send(t, plainRequest)
	testserver.Within(t, "the request", func() { <-began })
	tcp, _ := c.Conn.(*net.TCPConn)
	if err := tcp.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	testserver.Within(t, "the end of the client's side", func() { <-ended })
	_ = tcp.SetLinger(0)
	_ = tcp.Close()
	testserver.Within(t, "the end of the client", func() { <-left })
}

// The end of a server waits for a request that is served, and closes its connection behind it.
func TestServedShutdown(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}, 1), make(chan struct{})
	s := serving(t, func(*FastConn, context.Context) {
		began <- struct{}{}
		<-release
	}, nil)
	c := s.dial(t)
	c.send(t, plainRequest)
	testserver.Within(t, "the request", func() { <-began })
	idle := s.dial(t)
	idle.send(t, fastRequest)
	idle.expect(t, fastAnswer)
	s.replace()
	s.end()
	idle.expect(t, "closed") // so it is ending
	select {
	case err := <-s.ended:
		t.Fatalf("the server ended before the response: %v", err)
	default:
	}
	close(release)
	c.expect(t, "200 plain", "closed")
	s.stopped(t)
}

// A request that takes longer than the shutdown timeout ends.
func TestServedShutdownTimeout(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 1)
	s := serving(t, func(_ *FastConn, ctx context.Context) {
		began <- struct{}{}
		<-ctx.Done()
	}, func(_ *fastServer, c *ServerConfig) { c.ShutdownTimeout = 10 * time.Millisecond })
	c := s.dial(t)
	c.send(t, plainRequest)
	testserver.Within(t, "the request", func() { <-began })
	s.replace()
	s.end()
	if err := <-s.ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve: %v", err)
	}
	s.ended <- nil
}

// What a connection may wait for is closed for nobody while a request is served.
func TestServedIsNotIdle(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}, 1), make(chan struct{})
	s := serving(t, func(*FastConn, context.Context) {
		began <- struct{}{}
		<-release
	}, func(s *fastServer, _ *ServerConfig) {
		s.limit = NewConnectionLimit(ConnectionLimits{Connections: 2}, time.Now)
	})
	c := s.dial(t)
	c.send(t, plainRequest)
	testserver.Within(t, "the request", func() { <-began })
	idle := s.dial(t)
	idle.send(t, fastRequest)
	idle.expect(t, fastAnswer)
	third := s.dial(t)
	third.send(t, fastRequest)
	third.expect(t, fastAnswer)
	close(release)
	c.expect(t, "200 plain")
}

// What begins HTTP/2 behind a request is refused, as net/http does with it: the connection is none of HTTP/2, whether its first
// requests were net/http's or not.
func TestNoHTTP2BehindServed(t *testing.T) {
	t.Parallel()
	const begins, settings = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	for _, parts := range [][]string{{plainRequest + begins + settings}, {plainRequest + begins[:5], begins[5:] + settings}, {plainRequest, begins + settings}} {
		s := serving(t, func(*FastConn, context.Context) {}, overTLS)
		c := s.dial(t)
		for i, part := range parts {
			if c.send(t, part); i == 0 {
				c.expect(t, "200 plain")
			}
		}
		if got := c.receive(); !strings.HasPrefix(got, "505 ") {
			t.Errorf("%q: %.100q", parts, got)
		}
	}
}

// Serve ends where its listener fails, and waits for no connection that net/http has never had.
func TestServeEndsWithListener(t *testing.T) {
	t.Parallel()
	s := serving(t, func(_ *FastConn, ctx context.Context) { <-ctx.Done() }, nil)
	fresh, idle, busy := s.dial(t), s.dial(t), s.dial(t)
	idle.send(t, fastRequest)
	idle.expect(t, fastAnswer)
	busy.send(t, plainRequest)
	testserver.Wait(t, "the connections are accepted", func() bool { return s.limit.Open() == 3 })
	_ = s.listener.Close()
	select {
	case err := <-s.ended:
		if s.ended <- nil; err == nil { // for the end of the test
			t.Error("it has not failed")
		}
	case <-time.After(testserver.Patience / 2):
		t.Fatal("Serve goes on")
	}
	fresh.expect(t, "closed")
	idle.expect(t, "closed")
}
