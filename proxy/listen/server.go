// Package listen accepts connections for protocols, which it does not know: connection limits, the PROXY protocol, TLS,
// write deadlines, idle connections, clients that leave, and an end that loses no request.
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
	// Serve serves a connection, in a goroutine for each. It returns when the connection is done, which it need not
	// close, or was released or parked.
	Serve func(*Conn)
	Now   func() time.Time // the system clock, for the deadlines of connections
	Log   *slog.Logger

	// HeaderTimeout is for the PROXY protocol, the TLS handshake and the first head together.
	HeaderTimeout   time.Duration
	ShutdownTimeout time.Duration
	// DaemonContext ends with the daemon. Until then, a server whose own context ends waits for its clients; nil is the
	// context of each Serve.
	DaemonContext context.Context //nolint:containedctx // it outlives the calls of Serve
	// Unused is called for connections of which nothing of a request has come: clients that were too slow, or did not
	// complete TLS; nil is not called.
	Unused func()
	// TLS turns TLS on; its GetCertificate is called for each connection. nil is none.
	TLS *tls.Config
	// HTTP1 is whether HTTP/2 is not offered by TLS.
	HTTP1 bool
	// ProxyProtocol are the senders whose connections begin with the address of the client (PROXY protocol, version 1
	// or 2).
	ProxyProtocol []netip.Prefix
}

// Server serves one listener, or several. It is safe for concurrent use.
type Server struct {
	config ServerConfig

	announced atomic.Bool // see Announce
	mu        sync.Mutex
	tracked   []*connections // of each Serve
}

// NewServer returns a Server.
func NewServer(config ServerConfig) *Server {
	if config.TLS != nil {
		config.TLS = offering(config.TLS, config.HTTP1)
	}
	return &Server{config: config}
}

// Serve serves connections of listener until ctx ends. It closes listener then, and lets clients go on with the
// connections that they have until these are idle for too long; when DaemonContext ends too, it closes idle connections
// and lets running requests finish, for ShutdownTimeout at most. It returns when all connections have ended; the end of
// ctx is not an error.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	// Connections that were released, such as those of WebSockets, end with base. Who would go on for others sees by
	// its cause that the client has not left.
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
		if err = <-accepted; errors.Is(err, net.ErrClosed) {
			err = nil
		}
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
		return fmt.Errorf("stopping to serve %s: %w", listener.Addr(), err)
	}
	return nil
}

// track adds the connections of a Serve.
func (s *Server) track(t *connections) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracked = append(s.tracked, t)
}

// Announce asks all clients to close their connections, with their next response (RFC 9112 section 9.6; by HTTP/2 it is
// a GOAWAY), and returns when none is left, or when ctx ends. A client that is not asked may send a request while its
// connection is being closed, and lose it.
func (s *Server) Announce(ctx context.Context) {
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

// drain closes idle connections, lets running requests finish, and cuts their connections at ShutdownTimeout.
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
