package proxy

import (
	"errors"
	"log/slog"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http1"
	"github.com/urnd/urnd/proxy/http2"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/problem"
)

// ServerConfig configures a Server. All fields but Rejected must be set.
type ServerConfig struct {
	Handler  httpmessage.Handler
	Now      func() time.Time // the system clock, for the deadlines of connections
	Log      *slog.Logger
	Panicked func(value any, stack []byte)

	MaxTarget            int // the longest request-target that the Handler accepts, in bytes
	MaxHeaderBytes       int // the largest header section, in bytes
	MaxConcurrentStreams int // the most concurrent streams of an HTTP/2 connection
	// WebSockets is whether the server announces SETTINGS_ENABLE_CONNECT_PROTOCOL (RFC 8441): there are
	// sites, or clients of the proxy.
	WebSockets bool
	// ReadHeaderTimeout is how long a client may take to send a header section, IdleTimeout how long a connection
	// may wait for the next request, BodyTimeout how long a client may take for the next part of a body.
	ReadHeaderTimeout, IdleTimeout, BodyTimeout time.Duration
	// WriteDeadline returns the deadline by which a client must accept the next part of an HTTP/2 response.
	WriteDeadline func() time.Time
	// Rejected is called with the status of each request that is rejected before the Handler gets it; nil for no call.
	Rejected func(status int)
}

// Server serves HTTP/1.1 and HTTP/2 connections of clients. It is safe for concurrent use.
type Server struct {
	http1 *http1.Server
	http2 *http2.Server
}

// NewServer returns a Server.
func NewServer(c ServerConfig) *Server {
	deadline := func() time.Time { return c.Now().Add(c.BodyTimeout) }
	refusal := func(in *httpmessage.Incoming, status int, reason string, plain bool) (int, string, []byte) {
		return problem.Short(problem.Malformed(status, reason, in.Target, c.MaxTarget, plain))
	}
	return &Server{
		http1: http1.NewServer(http1.Config{
			Handler: c.Handler, Now: c.Now, Panicked: c.Panicked, MaxHeaderBytes: c.MaxHeaderBytes,
			ReadHeaderTimeout: c.ReadHeaderTimeout, IdleTimeout: c.IdleTimeout, BodyDeadline: deadline,
			ErrorDocument: refusal, Rejected: c.Rejected,
		}),
		http2: http2.NewServer(http2.Config{
			Handler: c.Handler, Now: c.Now, Log: c.Log, Panicked: c.Panicked, ErrorDocument: refusal,
			Rejected: c.Rejected, MaxHeaderBytes: c.MaxHeaderBytes, MaxConcurrentStreams: c.MaxConcurrentStreams,
			ExtendedConnect: c.WebSockets, ReadHeaderTimeout: c.ReadHeaderTimeout, IdleTimeout: c.IdleTimeout,
			BodyDeadline:  deadline,
			WriteDeadline: c.WriteDeadline,
		}),
	}
}

// Close waits for the goroutines of the server. All calls of Serve must have returned.
func (s *Server) Close() { s.http2.Close() }

// Serve serves a connection until it ends, or until another goroutine has taken it over.
func (s *Server) Serve(c *listen.Conn) {
	protocol, err := c.Handshake()
	switch {
	case errors.Is(err, listen.ErrPlainHTTP):
		s.http1.RejectPlainHTTP(c)
	case err != nil: // a failed TLS handshake: the client gets no response
	case protocol == "h2":
		s.http2.Serve(c)
	default:
		s.http1.Serve(c)
	}
}

// TooManyConnections returns the complete response to a client that has too many connections.
func TooManyConnections() []byte {
	status, contentType, body := problem.Short(problem.ErrTooManyConnections)
	return http1.ErrorResponse(status, contentType, body, httpmessage.NewFields("Retry-After", "1"))
}
