package proxy

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

// ServerConfig bounds what the clients of a Server may take.
type ServerConfig struct {
	Handler         http.Handler
	Log             *slog.Logger
	MaxTarget       int // octets of a request-target
	MaxHeader       int // octets of a request's header
	HeaderTimeout   time.Duration
	IdleTimeout     time.Duration
	ShutdownTimeout time.Duration
	// Life is that of the daemon: while it lasts, a server that ends waits for its
	// clients; nil is that of each Serve.
	Life context.Context //nolint:containedctx // it is the daemon's
	// Refused is told the status of requests that net/http refuses, before any handler
	// sees them; nil tells nobody.
	Refused func(status int)
	// WriteUntil returns until when a client must have taken the next piece of a response
	// by HTTP/2; nil waits without end.
	WriteUntil func() time.Time
	// Unused is called for connections that end without a request: of clients that took
	// too long, or spoke no HTTP; nil tells nobody.
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
func NewServer(config ServerConfig) *Server { return &Server{config: config} }

// Serve answers connections of listener until ctx ends. It closes listener then, and
// lets clients go on with the connections that they have until these are idle for too
// long; when Life ends too, it lets running requests finish for ShutdownTimeout at most.
// It returns when all is done; a stop that was asked for is no error.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	here := newPresence(s.config.Unused, s.config.WriteUntil)
	// Connections that were taken over, such as those of WebSockets, end with it.
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           here.handling(handling(s.config.Handler)),
		MaxHeaderBytes:    s.config.MaxHeader,
		ReadHeaderTimeout: s.config.HeaderTimeout,
		IdleTimeout:       s.config.IdleTimeout,
		ConnState:         here.state,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       mark,
		TLSConfig:         s.config.TLS.Clone(), // net/http changes it
		ErrorLog:          slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
	}
	if len(s.config.ProxyProtocol) > 0 {
		listener = preceded{listener, s.config.ProxyProtocol, s.config.HeaderTimeout}
	}
	served := make(chan error, 1)
	go func() { served <- s.accept(server, listener) }()
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
		here.leaving.Store(true)
		here.wait(s.config.Life, here.gone) //nolint:contextcheck // it is longer than that of this server
	}
	if err := s.drain(ctx, server, here); err != nil {
		return fmt.Errorf("stopping to serve %s: %w", listener.Addr(), err)
	}
	return nil
}

// drain lets what runs finish, and cuts off what does not in time.
func (s *Server) drain(ctx context.Context, server *http.Server, here *presence) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ShutdownTimeout)
	defer cancel()
	server.SetKeepAlivesEnabled(false)
	arriving, stop := context.WithTimeout(ctx, longestArrival)
	here.wait(arriving, here.allArrived)
	stop()
	err := server.Shutdown(ctx)
	here.wait(ctx, here.idle)
	if err != nil {
		_ = server.Close()
	}
	return err
}

// accept serves until the server is shut down. Over TLS net/http has to see the
// connection itself, and so its refusals of malformed requests are its own.
func (s *Server) accept(server *http.Server, listener net.Listener) error {
	if s.config.TLS != nil {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(watch(listener, s.config.MaxTarget, s.config.Refused))
}
