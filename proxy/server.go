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
	// Refused is told the status of requests that net/http refuses, before any handler
	// sees them; nil tells nobody.
	Refused func(status int)
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

// Serve answers connections of listener until ctx ends, then lets running
// requests finish, for ShutdownTimeout at most. It closes listener and returns
// when all is done; a stop that was asked for is no error.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	fresh := newArrivals()
	server := &http.Server{
		Handler:           fresh.handling(handling(s.config.Handler)),
		MaxHeaderBytes:    s.config.MaxHeader,
		ReadHeaderTimeout: s.config.HeaderTimeout,
		IdleTimeout:       s.config.IdleTimeout,
		ConnState:         fresh.state,
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
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ShutdownTimeout)
	defer cancel()
	// From Shutdown on, net/http closes connections whose first request it has not read.
	server.SetKeepAlivesEnabled(false)
	_ = listener.Close()
	serveErr := <-served
	fresh.wait(drain)
	err := server.Shutdown(drain)
	if err != nil {
		_ = server.Close() // cuts off what did not end in time
		err = fmt.Errorf("stopping to serve %s: %w", listener.Addr(), err)
	}
	if !errors.Is(serveErr, http.ErrServerClosed) && !errors.Is(serveErr, net.ErrClosed) {
		return fmt.Errorf("serving %s: %w", listener.Addr(), serveErr)
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
