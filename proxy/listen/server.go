// Package listen accepts connections and serves HTTP on them: limits of connections, the
// PROXY protocol, TLS, write deadlines, malformed requests, and an end at which no request
// is lost. It knows nothing of what is served.
package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// ServerConfig bounds what the clients of a Server may take. Handler, Log and Malformed
// must be set.
type ServerConfig struct {
	Handler http.Handler
	// Probe answers the requests of Socket.Probe in the place of Handler; nil answers 204.
	Probe http.Handler
	Log   *slog.Logger
	// Malformed words the answer to a request that net/http refuses, before any handler
	// sees it; Refused is called with its status, nil is not.
	Malformed func(Malformed) Document
	Refused   func(status int)

	MaxTarget       int // octets of a request-target
	MaxHeader       int // octets of a request's header
	HeaderTimeout   time.Duration
	IdleTimeout     time.Duration
	ShutdownTimeout time.Duration
	// Life is that of the daemon: while it lasts, a server that ends waits for its
	// clients; nil is that of each Serve.
	Life context.Context //nolint:containedctx // it is the daemon's
	// WriteDeadline returns until when a client must have read the next chunk of a
	// response by HTTP/2; nil sets no deadline.
	WriteDeadline func() time.Time
	// Unused is called for connections that end without a request: of clients that took
	// too long, or spoke no HTTP; nil is not.
	Unused func()
	// TLS is spoken with clients where it is set; its GetCertificate is called for each
	// of them.
	TLS *tls.Config
	// ProxyProtocol are the senders whose connections begin with the address of the
	// client (PROXY protocol, version 1 or 2).
	ProxyProtocol []netip.Prefix
}

// Server serves one listener.
type Server struct {
	config ServerConfig
}

// NewServer returns a Server.
func NewServer(config ServerConfig) *Server {
	if config.TLS != nil {
		config.TLS = tlsConfig(config.TLS)
	}
	return &Server{config: config}
}

// Serve answers connections of listener until ctx ends. It closes listener then, and
// lets clients go on with the connections that they have until these are idle for too
// long; when Life ends too, it lets running requests finish for ShutdownTimeout at most.
// It returns when all is done; a stop that was asked for is no error.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	conns := newConnections(s.config.Unused)
	// Connections that were hijacked, such as those of WebSockets, end with it.
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveHTTP(conns, w, r) }),
		MaxHeaderBytes:    s.config.MaxHeader,
		ReadHeaderTimeout: s.config.HeaderTimeout,
		IdleTimeout:       s.config.IdleTimeout,
		ConnState: func(conn net.Conn, state http.ConnState) {
			if c, ok := conn.(*requestConn); ok && state == http.StateIdle {
				c.begin()
			}
			conns.state(conn, state)
		},
		BaseContext: func(net.Listener) context.Context { return base },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
		Protocols: protocols(s.config.TLS != nil),
		ErrorLog:  slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
	}
	if len(s.config.ProxyProtocol) > 0 {
		listener = proxyListener{listener, s.config.ProxyProtocol, s.config.HeaderTimeout}
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(requestListener{listener, s}) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	_ = listener.Close()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serving %s: %w", listener.Addr(), err)
	}
	if s.config.Life != nil {
		conns.draining.Store(true)
		conns.wait(s.config.Life, conns.none) //nolint:contextcheck // it is longer than that of this server
	}
	if err := s.drain(ctx, server, conns); err != nil {
		return fmt.Errorf("stopping to serve %s: %w", listener.Addr(), err)
	}
	return nil
}

// drain lets what runs finish, and cuts off what does not in time.
func (s *Server) drain(ctx context.Context, server *http.Server, conns *connections) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ShutdownTimeout)
	defer cancel()
	server.SetKeepAlivesEnabled(false)
	first, stop := context.WithTimeout(ctx, firstRequestTimeout)
	conns.wait(first, conns.allUsed)
	stop()
	err := server.Shutdown(ctx)
	conns.wait(ctx, conns.idle)
	if err != nil {
		_ = server.Close()
	}
	return err
}

// requestListener returns connections whose requests are watched.
type requestListener struct {
	net.Listener
	server *Server
}

// Accept implements net.Listener.
func (l requestListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if l.server.config.TLS != nil {
		conn = newSecureConn(conn, l.server.config.TLS, l.server.config.Log)
	}
	return &requestConn{Conn: conn, server: l.server}, nil
}

// connKey finds the connection of a request.
type connKey struct{}

// serveHTTP passes a request on to its handler, and knows when that begins and ends.
func (s *Server) serveHTTP(conns *connections, w http.ResponseWriter, r *http.Request) {
	conn, _ := r.Context().Value(connKey{}).(*requestConn)
	handler := s.config.Handler
	if conn != nil {
		conn.handled.Store(true)
		if secure, ok := conn.Conn.(*secureConn); ok {
			state := secure.ConnectionState()
			r.TLS = &state // net/http does not know
		}
		if isProbe(conn.Conn) {
			handler = s.config.Probe
		}
	}
	conns.begin(conn, conn != nil && !conn.used.Swap(true))
	defer conns.end()
	if conns.draining.Load() && r.Header.Get("Upgrade") == "" {
		w.Header().Set("Connection", "close")
	}
	if r.ProtoMajor == 2 && s.config.WriteDeadline != nil {
		w = newHTTP2Response(w, s.config.WriteDeadline)
	}
	if handler == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	handler.ServeHTTP(w, r)
}
