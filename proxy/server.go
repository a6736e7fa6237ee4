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

// ServerConfig configures a Server. All but Refused must be set.
type ServerConfig struct {
	Handler  httpmessage.Handler
	Now      func() time.Time // the system clock, for the deadlines of connections
	Log      *slog.Logger
	Panicked func(value any, stack []byte)

	MaxTarget int // bytes of a request-target, which the Handler refuses
	MaxHeader int // bytes of a head
	Streams   int // requests that a client may have at a time on a connection by HTTP/2
	// WebSockets is whether clients are told that they may open WebSockets by HTTP/2 (RFC 8441): there are sites, or the proxy has clients.
	WebSockets bool
	// HeaderTimeout is how long a client may take for a head, IdleTimeout how long a connection may wait for the next request, and
	// BodyTimeout how long a client may take for the next part of a body.
	HeaderTimeout, IdleTimeout, BodyTimeout time.Duration
	// WriteDeadline returns the deadline by which a client must let the next part of a response by HTTP/2 be sent.
	WriteDeadline func() time.Time
	// Refused is called with the status of each request that is refused before it is read; nil is not called.
	Refused func(status int)
}

// Server serves the connections of clients by HTTP/1.1 and HTTP/2. It is safe for concurrent use.
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
			Handler: c.Handler, Now: c.Now, Panicked: c.Panicked, MaxHeader: c.MaxHeader,
			HeaderTimeout: c.HeaderTimeout, IdleTimeout: c.IdleTimeout, BodyDeadline: deadline, Refusal: refusal, Refused: c.Refused,
		}),
		http2: http2.NewServer(http2.Config{
			Handler: c.Handler, Now: c.Now, Log: c.Log, Panicked: c.Panicked, Refusal: refusal, Refused: c.Refused,
			MaxHeader: c.MaxHeader, Streams: c.Streams, Protocols: c.WebSockets,
			HeaderTimeout: c.HeaderTimeout, IdleTimeout: c.IdleTimeout, BodyDeadline: deadline, WriteDeadline: c.WriteDeadline,
		}),
	}
}

// Close waits for the goroutines of the server. All calls of Serve have returned before.
func (s *Server) Close() { s.http2.Close() }

// Serve serves a connection until it has ended, or another goroutine goes on with it.
func (s *Server) Serve(c *listen.Conn) {
	protocol, err := c.Handshake()
	switch {
	case errors.Is(err, listen.ErrPlainHTTP):
		s.http1.RefusePlain(c)
	case err != nil: // the client gets no response
	case protocol == "h2":
		s.http2.Serve(c)
	default:
		s.http1.Serve(c)
	}
}

// TooMany returns the whole response to a client that has too many connections.
func TooMany() []byte {
	status, contentType, body := problem.Short(problem.ErrConnections)
	return http1.Refusal(status, contentType, body, httpmessage.FieldsOf("Retry-After", "1"))
}
