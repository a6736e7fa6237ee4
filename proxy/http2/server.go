// Package http2 is a server of HTTP/2 (RFC 9113), using the Framer and hpack of golang.org/x/net/http2. A
// connection of package listen enters; its requests are passed to an httpmessage.Handler, and the responses
// are written to it. Extended CONNECT is that of RFC 8441.
//
// One goroutine reads a connection. It also answers cache hits, and the responses to requests received in one
// read are sent by one write; other requests continue in pooled goroutines. Everything that a client may send
// is limited, by a window, a rate or a deadline.
package http2

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Config configures a Server. Handler, Now, Log, MaxHeaderBytes, ReadHeaderTimeout and IdleTimeout must be set.
type Config struct {
	Handler httpmessage.Handler
	Now     func() time.Time
	Log     *slog.Logger
	// Panicked is called with a panic of a handler, whose stream is reset. nil for no call.
	Panicked func(value any, stack []byte)
	// ErrorDocument returns the status and the document for a request that is rejected before the handler, like
	// http1.Config.ErrorDocument; nil for a line of plain text. plainHTTP is false. Rejected is called with the
	// status; nil for no call.
	ErrorDocument func(r *httpmessage.Incoming, status int, reason string, plainHTTP bool) (int, string, []byte)
	Rejected      func(status int)

	MaxHeaderBytes       int           // bytes of a field section: RFC 9113 section 6.5.2
	ReadHeaderTimeout    time.Duration // for the preface, a field block, and the acknowledgement of the settings
	IdleTimeout          time.Duration // of a connection without streams
	MaxConcurrentStreams int           // the most concurrent streams of a connection; 0 means 100
	// ExtendedConnect is whether clients may switch the protocol of a stream by an extended CONNECT, which is
	// announced: RFC 8441 section 3.
	ExtendedConnect bool
	// BodyDeadline returns the deadline for the next part of a request body, WriteDeadline the one for the
	// client to open a flow-control window for the next part of a response; nil for no deadline.
	BodyDeadline  func() time.Time
	WriteDeadline func() time.Time
}

// Conn is the connection of a client: a listen.Conn, which documents the methods.
type Conn interface {
	net.Conn
	Secure() bool
	ServerName() string
	SetServing() bool
	SetIdle()
	SetTunnels(only bool)
	OnDrain(f func())
	BeginWait() context.Context
	EndWait()
	HalfClosed() context.Context
	Await() error
	Suspend(by time.Time, resume func(error))
	Linger() error
}

// Server serves connections. It is safe for concurrent use.
type Server struct {
	config Config

	tasks   chan task // for waiting goroutines
	waiting atomic.Int32
	closed  chan struct{}
	workers sync.WaitGroup

	readers  sync.Pool // of *frameReader
	outputs  sync.Pool // of *[]byte
	encoders sync.Pool // of *encoder
	streams  sync.Pool // of *stream
	date     httpmessage.Date
}

// task is run by a pooled goroutine.
type task interface{ run() }

const (
	// pooledWorkers is the most goroutines that wait for tasks. The stack of a new one has to grow, which
	// costs a tenth of a cached response.
	pooledWorkers      = 32
	recommendedStreams = 100 // RFC 9113 section 6.5.2
)

// NewServer returns a Server. Close ends its goroutines.
func NewServer(config Config) *Server {
	if config.MaxConcurrentStreams == 0 {
		config.MaxConcurrentStreams = recommendedStreams
	}
	return &Server{config: config, tasks: make(chan task), closed: make(chan struct{})}
}

// Close ends the goroutines of the server, and waits for them. All calls of Serve must have returned.
func (s *Server) Close() {
	close(s.closed)
	s.workers.Wait()
}

// Serve serves a connection, whose client has selected HTTP/2 by ALPN, until it ends, and closes it. It
// returns earlier if it has suspended the connection.
func (s *Server) Serve(conn Conn) {
	c := newConnection(s, conn)
	conn.OnDrain(c.drain)
	c.serve(c.readPreface())
}

// start runs a task in a waiting goroutine, or in a new one.
func (s *Server) start(t task) {
	select {
	case s.tasks <- t:
	default:
		s.workers.Go(func() { s.work(t) })
	}
}

func (s *Server) work(t task) {
	for {
		t.run()
		if s.waiting.Add(1) > pooledWorkers {
			s.waiting.Add(-1)
			return
		}
		select {
		case t = <-s.tasks:
			s.waiting.Add(-1)
		case <-s.closed:
			return
		}
	}
}

// connectionError is an error of the client that ends its connection with a GOAWAY frame: RFC 9113 section 5.4.1.
type connectionError struct {
	code   http2.ErrCode
	reason string
}

// Error implements error.
func (e *connectionError) Error() string { return e.code.String() + ": " + e.reason }

func protocolError(reason string) error { return &connectionError{http2.ErrCodeProtocol, reason} }
