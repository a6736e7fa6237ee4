// Package listen accepts connections and serves HTTP on them: connection limits, the PROXY
// protocol, TLS, write deadlines, malformed requests, and a shutdown that loses no request.
// It is independent of the handler.
package listen

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ServerConfig configures a Server. Handler, Now, Log, Malformed, the limits and the
// timeouts must be set.
type ServerConfig struct {
	Handler http.Handler
	// FastPath answers what it can before net/http reads it; nil answers nothing. Now is the system clock, for
	// the deadlines of connections.
	FastPath FastPath
	Now      func() time.Time
	// Probe answers the requests of Socket.Probe instead of Handler; nil answers 204.
	Probe http.Handler
	Log   *slog.Logger
	// Malformed returns the response to a request that net/http refuses before any handler;
	// Refused is called with its status, nil is not called.
	Malformed func(Malformed) Document
	Refused   func(status int)

	MaxTarget       int // octets of a request-target
	MaxHeader       int // octets of a request's header
	HeaderTimeout   time.Duration
	IdleTimeout     time.Duration
	ShutdownTimeout time.Duration
	// DaemonContext ends with the daemon. Until then, a server whose own context ends waits for
	// its clients; nil is the context of each Serve.
	DaemonContext context.Context //nolint:containedctx // it outlives the calls of Serve
	// BodyDeadline returns the deadline by which a client must send the next part of a request's
	// body by HTTP/1.1; nil sets no deadline.
	BodyDeadline func() time.Time
	// WriteDeadline returns the deadline by which a client must read the next chunk of a
	// response by HTTP/2; nil sets no deadline.
	WriteDeadline func() time.Time
	// Unused is called for connections that end without a request: clients that were too
	// slow, or did not speak HTTP; nil is not called.
	Unused func()
	// TLS turns TLS on; its GetCertificate is called for each connection. nil is plain HTTP.
	TLS *tls.Config
	// HTTP1 is whether HTTP/2 is not offered by TLS.
	HTTP1 bool
	// HTTP2Requests is how many requests a client may have at a time on a connection by HTTP/2; 0 is 100.
	HTTP2Requests int
	// ProxyProtocol are the senders whose connections begin with the address of the
	// client (PROXY protocol, version 1 or 2).
	ProxyProtocol []netip.Prefix
}

// Server serves one listener, or several.
type Server struct {
	config      ServerConfig
	dispatching dispatchBuffers

	announced atomic.Bool // see Announce
	mu        sync.Mutex
	tracked   []*connections // of each Serve
}

// NewServer returns a Server.
func NewServer(config ServerConfig) *Server {
	if config.TLS != nil {
		config.TLS = tlsConfig(config.TLS, config.HTTP1)
	}
	const recommended = 100 // RFC 9113 section 6.5.2
	config.HTTP2Requests = cmp.Or(config.HTTP2Requests, recommended)
	return &Server{config: config}
}

// receiveBuffer is how much of bodies a client of HTTP/2 may send that is not read yet, which is in memory then: RFC 9113 section 5.2.
const receiveBuffer = 256 << 10

// Serve answers connections of listener until ctx ends. It closes listener then, and
// lets clients go on with the connections that they have until these are idle for too
// long; when DaemonContext ends too, it lets running requests finish for ShutdownTimeout at
// most. It returns when all connections have ended; the end of ctx is not an error.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	// Hijacked connections, such as those of WebSockets, end with base.
	base, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	conns := newConnections(base, s.config.Unused)
	s.track(conns)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(http.ErrServerClosed)
	running.Go(func() { conns.look(base, s.config.Now) })
	var pool *handlerPool // of HTTP/2
	if s.config.TLS != nil && !s.config.HTTP1 {
		pool = newHandlerPool(base, &running)
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveHTTP(conns, pool, w, r) }),
		MaxHeaderBytes:    s.config.MaxHeader,
		ReadHeaderTimeout: s.config.HeaderTimeout,
		IdleTimeout:       s.config.IdleTimeout,
		ConnState: func(conn net.Conn, state http.ConnState) {
			if c, ok := conn.(*requestConn); ok {
				c.enter(state)
			}
			conns.state(conn, state)
		},
		BaseContext: func(net.Listener) context.Context { return base },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
		Protocols: protocols(s.config.TLS != nil && !s.config.HTTP1),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          s.config.HTTP2Requests,
			MaxReceiveBufferPerConnection: receiveBuffer, MaxReceiveBufferPerStream: receiveBuffer,
		},
		ErrorLog: slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
	}
	if len(s.config.ProxyProtocol) > 0 {
		listener = proxyListener{listener, s.config.ProxyProtocol, s.config.HeaderTimeout}
	}
	to := newHandover(listener.Addr())
	running.Go(func() { _ = server.Serve(to) }) // until drain ends it
	accepted := make(chan error, 1)
	l := newLoops(s, conns, to, &running)
	running.Go(func() { accepted <- l.accept(listener) }) //nolint:contextcheck // a handshake ends with its connection
	select {
	case err := <-accepted:
		s.abandon(server, conns)
		return fmt.Errorf("serving %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	_ = listener.Close()
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		s.abandon(server, conns)
		return fmt.Errorf("serving %s: %w", listener.Addr(), err)
	}
	if s.config.DaemonContext != nil {
		conns.draining.Store(true)
		conns.wait(s.config.DaemonContext, conns.empty) //nolint:contextcheck // it outlives ctx
	}
	if err := s.drain(ctx, server, conns, cancel); err != nil {
		return fmt.Errorf("stopping to serve %s: %w", listener.Addr(), err)
	}
	return nil
}

// abandon closes all connections, those that net/http does not know behind what is answered.
func (*Server) abandon(server *http.Server, conns *connections) {
	_ = server.Close()
	conns.closeUnseen()
}

// isEnding reports whether clients are asked to close their connections.
func (s *Server) isEnding(conns *connections) bool {
	return s.announced.Load() || conns.draining.Load()
}

// track adds the connections of a Serve.
func (s *Server) track(conns *connections) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracked = append(s.tracked, conns)
}

// Announce asks all clients to close their connections, with their next response (RFC 9112
// section 9.6; by HTTP/2 it is a GOAWAY), and returns when none is left, or when ctx ends. A client
// that is not asked may send a request while its connection is being closed, and lose it.
func (s *Server) Announce(ctx context.Context) {
	s.announced.Store(true)
	s.mu.Lock()
	tracked := s.tracked
	s.mu.Unlock()
	for _, conns := range tracked {
		conns.wait(ctx, conns.empty)
	}
}

// drain lets running requests finish, and closes their connections at ShutdownTimeout. end ends all of them with the cause, which
// those see that would go on for others.
func (s *Server) drain(ctx context.Context, server *http.Server, conns *connections, end context.CancelCauseFunc) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ShutdownTimeout)
	defer cancel()
	conns.draining.Store(true)
	server.SetKeepAlivesEnabled(false)
	first, stop := context.WithTimeout(ctx, firstRequestTimeout)
	conns.wait(first, conns.allUsed)
	stop()
	conns.closeUnseen()
	err := server.Shutdown(ctx)
	conns.wait(ctx, conns.idle)
	if err == nil && slices.ContainsFunc(conns.fast(), (*FastConn).isOnLoop) { // net/http does not know of them
		err = context.Cause(ctx)
	}
	if err != nil {
		end(http.ErrServerClosed)
		_ = server.Close()
	}
	conns.cutAnswering()
	return err
}

// connKey is the context key of the connection of a request.
type connKey struct{}

// serveHTTP calls the handler of a request, and records its beginning and end.
func (s *Server) serveHTTP(conns *connections, pool *handlerPool, w http.ResponseWriter, r *http.Request) {
	conn, _ := r.Context().Value(connKey{}).(*requestConn)
	handler, isSound := s.config.Handler, true
	if conn != nil {
		isSound = conn.beginHandler(r)
		conn.dropMadeControl(r)
		if secure, ok := conn.Conn.(*secureConn); ok {
			state := secure.ConnectionState()
			r.TLS = &state // net/http does not see the TLS
		}
		if isProbe(conn.Conn) {
			handler = s.config.Probe
		}
	}
	first := conn != nil && !conn.used.Swap(true)
	conns.begin(conn, first)
	defer conns.end()
	if !isSound {
		s.refuse(w, r, http.StatusBadRequest, "malformed request-target")
		return
	}
	if s.checkCoding(w, r, conn, first) {
		return
	}
	if s.isEnding(conns) && r.Header.Get("Upgrade") == "" {
		w.Header().Set("Connection", "close")
	}
	if r.ProtoMajor == 2 && s.config.WriteDeadline != nil {
		w = newHTTP2Response(w, s.config.WriteDeadline)
	}
	if handler == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if conn != nil && r.ContentLength != 0 && r.ProtoMajor == 1 {
		conn.beginBody()
		defer conn.endHandler()
	}
	pool.serve(handler, w, r)
}
