// Package http1 is a server of HTTP/1.1 and HTTP/1.0 (RFC 9112). A connection of package listen enters; its
// requests are passed to an httpmessage.Handler, and the responses are written to it. Limits and eviction of
// connections belong to package listen, and the syntax of messages to internal/http1.
//
// An idle connection has no goroutine except one that waits without a buffer. All requests received in one
// read are begun one after another, and their responses are sent by one write.
package http1

import (
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	syntax "github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Config configures a Server. All fields must be set, unless documented otherwise.
type Config struct {
	Handler httpmessage.Handler
	// Now is the system clock, for the deadlines of connections.
	Now func() time.Time
	// Panicked is called with a panic of Handler, which closes the connection.
	Panicked func(value any, stack []byte)

	MaxHeaderBytes int // bytes of a header section; beyond it the status is 431, or 414 if the request line is as long
	// ReadHeaderTimeout is how long a client may take to send a header section after its first byte; on a new
	// connection, after it was accepted.
	ReadHeaderTimeout time.Duration
	// IdleTimeout is how long a connection may wait for the next request.
	IdleTimeout time.Duration
	// BodyDeadline returns the deadline for the next part of a body; nil for no deadline.
	BodyDeadline func() time.Time

	// ErrorDocument returns the status and the document for a request that is rejected before the handler. Its
	// arguments are the request as far as it was parsed, the reason, and whether it was sent in clear text to a TLS
	// port.
	ErrorDocument func(r *httpmessage.Incoming, status int, reason string, plain bool) (
		sent int, contentType string, content []byte)
	// Rejected is called with the status of each rejected request; nil for no call.
	Rejected func(status int)
}

// Server serves connections. It is safe for concurrent use.
type Server struct {
	config Config
	date   httpmessage.Date
	memory memory
}

// NewServer returns a Server.
func NewServer(config Config) *Server {
	return &Server{config: config}
}

// Serve serves a connection. It returns when the connection is closed, was taken over (Conn.Release), or is
// idle (Conn.Suspend).
func (s *Server) Serve(conn Conn) {
	c := &connection{server: s, conn: conn, readsEach: conn.CanReadEach()}
	c.idleBy = s.config.Now().Add(s.config.ReadHeaderTimeout)
	c.run(stateIdle)
}

// RejectPlainHTTP rejects a client that sends HTTP in clear text to a TLS port. The TLS handshake has consumed
// its request.
func (s *Server) RejectPlainHTTP(conn Conn) {
	c := &connection{server: s, conn: conn, plain: true, used: true}
	c.take()
	from := stateClosed
	if conn.SetServing() {
		from = c.refuse(http.StatusBadRequest, "")
	}
	c.run(from)
}

// recovered reports a recovered panic value to Panicked; it returns false for nil.
func (s *Server) recovered(value any) bool {
	if value == nil {
		return false
	}
	s.config.Panicked(value, debug.Stack())
	return true
}

// ErrorResponse returns a complete response with a document and additional fields, which closes its connection: for
// a client whose request is not read.
func ErrorResponse(status int, contentType string, content []byte, fields httpmessage.Fields) []byte {
	b := syntax.AppendStatusLine(nil, status, "")
	length := strconv.Itoa(len(content))
	fields = append(httpmessage.NewFields("Content-Type", contentType, "Content-Length", length), fields...)
	fields.Add("Connection", "close")
	return append(append(syntax.AppendFields(b, fields), "\r\n"...), content...)
}
