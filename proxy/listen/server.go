// Package listen accepts the connections that the HTTP servers of package proxy serve. A listener enters;
// each accepted connection leaves as a Conn, passed to a Serve function, which knows the protocol. The
// package handles connection limits, the PROXY protocol (versions 1 and 2), TLS (RFC 8446) with ALPN (RFC
// 7301), write deadlines, eviction of idle connections, disconnects of clients, and a shutdown that loses no
// request (RFC 9112 section 9.6).
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
	"sync"
	"sync/atomic"
	"time"
)

// ServerConfig configures a Server. Serve, Now, Log and the timeouts must be set.
type ServerConfig struct {
	// Serve serves a connection, in a goroutine for each. It returns when the connection is done, which it
	// need not close, or was released or suspended.
	Serve func(*Conn)
	Now   func() time.Time // the system clock, for the deadlines of connections
	Log   *slog.Logger

	// ReadHeaderTimeout limits the PROXY protocol header, the TLS handshake and the first header section together.
	ReadHeaderTimeout time.Duration
	ShutdownTimeout   time.Duration
	// DaemonContext ends with the daemon. A server whose own context ends earlier waits for its clients until
	// then; nil is the context of each Serve.
	DaemonContext context.Context //nolint:containedctx // it outlives the calls of Serve
	// Unused is called for each connection that ends without any part of a request: clients that were too
	// slow, or did not complete TLS; nil for no call.
	Unused func()
	// TLS enables TLS; its GetCertificate is called for each connection. nil is no TLS.
	TLS *tls.Config
	// DisableHTTP2 is whether ALPN does not offer HTTP/2.
	DisableHTTP2 bool
	// ProxyProtocol are the senders whose connections begin with the address of the client (PROXY protocol,
	// version 1 or 2).
	ProxyProtocol []netip.Prefix
}

// Server serves one listener, or several. It is safe for concurrent use.
type Server struct {
	config ServerConfig

	announced atomic.Bool // see AnnounceShutdown
	mu        sync.Mutex
	tracked   []*connections // one per Serve
}

// NewServer returns a Server.
func NewServer(config ServerConfig) *Server {
	if config.TLS != nil {
		config.TLS = offering(config.TLS, config.DisableHTTP2)
	}
	return &Server{config: config}
}

// Serve serves connections of listener until ctx ends. Then it closes listener, and lets clients continue to
// use their connections until these reach the idle timeout; when DaemonContext ends too, it closes idle
// connections and waits for requests in progress, for at most ShutdownTimeout. It returns when all
// connections have ended; the end of ctx is not an error.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	// Released connections, such as WebSockets, end with base. Its cause tells other users of the context
	// that the client has not disconnected.
	base, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(http.ErrServerClosed)
	tracked := newConnections(s, base, &running)
	s.track(tracked)
	running.Go(func() { tracked.watch(base) })
	accepted := make(chan error, 1)
	w := newWorkers(tracked)
	running.Go(func() { accepted <- w.accept(listener) })
	var err error
	select {
	case err = <-accepted:
	case <-ctx.Done():
		_ = listener.Close()
		err = <-accepted
	}
	if ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if err != nil {
		cancel(http.ErrServerClosed)
		tracked.cut()
		return fmt.Errorf("serving %s: %w", listener.Addr(), err)
	}
	if s.config.DaemonContext != nil {
		tracked.draining.Store(true)
		tracked.announce()
		tracked.wait(s.config.DaemonContext, tracked.empty) //nolint:contextcheck // it outlives ctx
	}
	if err := s.drain(ctx, tracked, cancel); err != nil {
		return fmt.Errorf("stopping %s: %w", listener.Addr(), err)
	}
	return nil
}

// track adds the connections of a Serve.
func (s *Server) track(t *connections) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracked = append(s.tracked, t)
}

// AnnounceShutdown asks all clients to close their connections, with their next response (RFC 9112 section 9.6; for
// HTTP/2, by a GOAWAY). It returns when no connection is left, or when ctx ends. A client that is not asked
// may send a request while its connection is being closed, and lose it.
func (s *Server) AnnounceShutdown(ctx context.Context) {
	s.announced.Store(true)
	s.mu.Lock()
	tracked := s.tracked
	s.mu.Unlock()
	for _, t := range tracked {
		t.announce()
	}
	for _, t := range tracked {
		t.wait(ctx, t.empty)
	}
}

// drain closes idle connections, waits for requests in progress, and cuts their connections at ShutdownTimeout.
func (s *Server) drain(ctx context.Context, tracked *connections, cancel context.CancelCauseFunc) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), s.config.ShutdownTimeout)
	defer stop()
	tracked.draining.Store(true)
	tracked.announce()
	tracked.closeIdle(ctx)
	tracked.wait(ctx, tracked.empty)
	cancel(http.ErrServerClosed)
	if tracked.cut() {
		return context.Cause(ctx)
	}
	return nil
}
