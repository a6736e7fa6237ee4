package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/urnd/urnd/proxy/listen"
)

// ServerConfig configures a Server. Handler, Log, MaxHeaderBytes and the timeouts must be set.
type ServerConfig struct {
	Handler http.Handler
	Log     *slog.Logger

	MaxHeaderBytes    int // bytes of a request's header
	ReadHeaderTimeout time.Duration
	IdleTimeout       time.Duration
	// BodyDeadline returns the deadline by which a client must send the next part of a body; nil sets none.
	BodyDeadline func() time.Time
}

// Server serves connections of package listen with the server of net/http, by HTTP/1.1 and HTTP/1.0, which
// suffice for administration. Limits, TLS, the PROXY protocol and write deadlines are those of package
// listen. It is safe for concurrent use.
type Server struct {
	config ServerConfig
	server *http.Server
}

// NewServer returns a Server.
func NewServer(config ServerConfig) *Server {
	s := &Server{config: config}
	s.server = &http.Server{
		Handler: http.HandlerFunc(s.serveHTTP), MaxHeaderBytes: config.MaxHeaderBytes,
		ReadHeaderTimeout: config.ReadHeaderTimeout, IdleTimeout: config.IdleTimeout,
		ConnState: changeState, ConnContext: connContext, Protocols: new(http.Protocols),
		ErrorLog: slog.NewLogLogger(config.Log.Handler(), slog.LevelDebug),
	}
	s.server.Protocols.SetHTTP1(true)
	return s
}

// plainHTTP is the response to a client that speaks HTTP without TLS to a port with TLS.
const plainHTTP = "this port requires HTTPS\n"

// Serve is a callback for listen.ServerConfig: it returns when the connection has ended, or a handler has
// hijacked it.
func (s *Server) Serve(c *listen.Conn) {
	if _, err := c.Handshake(); err != nil {
		if errors.Is(err, listen.ErrPlainHTTP) {
			_, _ = fmt.Fprintf(c, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"+
				"Content-Length: %d\r\nConnection: close\r\n\r\n%s", len(plainHTTP), plainHTTP)
			_ = c.Linger()
		}
		return
	}
	l := &oneListener{conn: &httpConn{Conn: c, ended: make(chan struct{})}}
	_ = s.server.Serve(l) // the error says that the listener has no further connection
}

// Close closes the server. All connections must have ended before.
func (s *Server) Close() { _ = s.server.Close() } // no listener is left that could fail to close

// serveHTTP calls the handler, with the TLS state and the body deadline of the connection.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	conn, _ := r.Context().Value(connKey{}).(*httpConn)
	r.TLS = conn.TLS()
	if conn.Draining() && r.Header.Get("Upgrade") == "" {
		w.Header().Set("Connection", "close")
	}
	if s.config.BodyDeadline != nil && r.Body != http.NoBody {
		body := &timedBody{ReadCloser: r.Body, conn: conn, deadline: s.config.BodyDeadline}
		r.Body = body
		defer body.end()
	}
	s.config.Handler.ServeHTTP(w, r)
}

// connKey is the context key of the connection of a request.
type connKey struct{}

// connContext returns the context of the requests of a connection. It ends with the connection, with the
// cause that the server gives.
func connContext(ctx context.Context, c net.Conn) context.Context {
	conn, _ := c.(*httpConn)
	ended := conn.BeginWait()
	conn.EndWait() // net/http detects itself that the client disconnects
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(ended, func() { cancel(context.Cause(ended)) })
	return context.WithValue(ctx, connKey{}, conn)
}

// changeState is the ConnState of an http.Server.
func changeState(c net.Conn, state http.ConnState) {
	conn, _ := c.(*httpConn)
	switch state {
	case http.StateIdle:
		conn.SetIdle()
	case http.StateHijacked:
		conn.Release()
		close(conn.ended)
	case http.StateClosed:
		close(conn.ended)
	case http.StateNew, http.StateActive: // Read calls SetServing
	}
}

// httpConn is a connection that net/http serves.
type httpConn struct {
	*listen.Conn
	ended chan struct{} // closed when net/http no longer serves the connection
}

// Read implements net.Conn.
func (c *httpConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.SetServing() {
		return 0, io.EOF
	}
	return n, err //nolint:wrapcheck // net/http checks the type of the error
}

// oneListener accepts one connection, and fails when it has ended.
type oneListener struct {
	conn     *httpConn
	accepted bool
}

// Accept implements net.Listener.
func (l *oneListener) Accept() (net.Conn, error) {
	if !l.accepted {
		l.accepted = true
		return l.conn, nil
	}
	<-l.conn.ended
	return nil, net.ErrClosed
}

// Addr implements net.Listener.
func (l *oneListener) Addr() net.Addr { return l.conn.LocalAddr() }

// Close implements net.Listener.
func (*oneListener) Close() error { return nil }

// timedBody limits the time between two parts of a request body.
type timedBody struct {
	io.ReadCloser
	conn     *httpConn
	deadline func() time.Time

	mu    sync.Mutex // a handler may leave a goroutine that still reads
	done  bool       // the handler has returned
	whole bool       // the body was read to its end: further bytes of the connection are not of the body
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	b.bound(b.deadline())
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	b.whole = b.whole || errors.Is(err, io.EOF)
	b.mu.Unlock()
	b.bound(time.Time{})
	return n, err //nolint:wrapcheck // an error of net/http is returned unchanged
}

// bound sets the read deadline of the connection while the handler runs.
func (b *timedBody) bound(t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		_ = b.conn.SetReadDeadline(t) // reads of a closed connection fail anyway
	}
}

// end is called when the handler has returned: net/http then discards the rest of the body, without a time
// limit of its own.
func (b *timedBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = true
	if !b.whole {
		_ = b.conn.SetReadDeadline(b.deadline())
	}
}
