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
	server := &http.Server{
		Handler:           handling(s.config.Handler),
		MaxHeaderBytes:    s.config.MaxHeader,
		ReadHeaderTimeout: s.config.HeaderTimeout,
		IdleTimeout:       s.config.IdleTimeout,
		ConnState:         state,
		ConnContext:       mark,
		TLSConfig:         s.config.TLS,
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
	err := server.Shutdown(drain)
	if err != nil {
		_ = server.Close() // cuts off what did not end in time
		err = fmt.Errorf("stopping to serve %s: %w", listener.Addr(), err)
	}
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
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
	return server.Serve(watch(listener, s.config.MaxTarget))
}
