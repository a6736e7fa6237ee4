package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
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
		ErrorLog:          slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(watch(listener, s.config.MaxTarget)) }()
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
