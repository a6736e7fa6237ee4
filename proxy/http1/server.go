// Package http1 is the server of HTTP/1.1 and HTTP/1.0 (RFC 9112): it reads the requests of a connection, gives them to
// a handler, and writes the responses. It knows the protocol alone; what a connection is, who may have one and how
// long, is package listen's, the syntax of messages is internal/http1's, and what is answered is the handler's.
//
// A connection has no goroutine while it is idle but one that waits without a buffer. All requests that have come in
// one read are begun one after another, and their responses are sent by one write.
package http1

import (
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	syntax "github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Config configures a Server. All but what says otherwise must be set.
type Config struct {
	Handler httpmessage.Handler
	// Now is the system clock, of which the deadlines of connections are counted.
	Now func() time.Time
	// Panicked is called with a panic of Handler, which ends its connection.
	Panicked func(value any, stack []byte)

	MaxHeader int // bytes of a head: 431, or 414 where its request line is as long
	// HeaderTimeout is how long a client may take for a head, behind its first byte; on a new connection, since that
	// was accepted.
	HeaderTimeout time.Duration
	// IdleTimeout is how long a connection may wait for the next request.
	IdleTimeout time.Duration
	// BodyDeadline returns by when a client must have sent the next part of a body; nil sets no deadline.
	BodyDeadline func() time.Time

	// Refusal returns the document of a request that no handler sees, with its status: the request as far as it is
	// known, why it is refused, and whether it came in clear text to a port of TLS.
	Refusal func(r *httpmessage.Incoming, status int, reason string, plain bool) (
		sent int, contentType string, content []byte)
	// Refused is called with the status of each refusal; nil is not called.
	Refused func(status int)
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

// Serve serves a connection. It returns when the connection is closed, was taken over (Conn.Release), or is idle
// (Conn.Park).
func (s *Server) Serve(conn Conn) {
	c := &connection{server: s, conn: conn, readsEach: conn.CanReadEach()}
	c.idleBy = s.config.Now().Add(s.config.HeaderTimeout)
	c.run(stateIdle)
}

// RefusePlain refuses a client that speaks HTTP in clear text to a port of TLS, whose request the handshake has
// consumed.
func (s *Server) RefusePlain(conn Conn) {
	c := &connection{server: s, conn: conn, plain: true, used: true}
	c.take()
	from := stateClosed
	if conn.Serving() {
		from = c.refuse(http.StatusBadRequest, "")
	}
	c.run(from)
}

// recovered reports a panic, whose value is nil for none.
func (s *Server) recovered(value any) bool {
	if value == nil {
		return false
	}
	s.config.Panicked(value, debug.Stack())
	return true
}

// Refusal returns a whole response with a document and more fields, which ends its connection: for a client of whose
// request nothing is read.
func Refusal(status int, contentType string, content []byte, fields httpmessage.Fields) []byte {
	b := syntax.AppendStatusLine(nil, status, "")
	length := strconv.Itoa(len(content))
	fields = append(httpmessage.FieldsOf("Content-Type", contentType, "Content-Length", length), fields...)
	fields.Add("Connection", "close")
	return append(append(syntax.AppendFields(b, fields), "\r\n"...), content...)
}
