package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy"
)

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon: answer requests for URNs and URLs by redirects, and forward for
clients that use it as their HTTP proxy. It needs no configuration.`,
		Example: `  urnd serve
  urnd serve --config /etc/urnd/urnd.yaml
  urnd serve --listen 127.0.0.1:0 --admin "" --dns 127.0.0.1:5353`,
		Args: cobra.NoArgs,
	}
	s := addSettings(cmd)
	cmd.Flags().String("listen", "", "listen for clients on this `address` (listen.service)")
	cmd.Flags().String("admin", "", "listen for administrators on this `address`; empty for not at all (listen.admin)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := s.load(map[string]string{"listen.service": "listen", "listen.admin": "admin"})
		if err != nil {
			return err
		}
		return serve(cmd.Context(), c, newLog(c.Log, os.Stderr))
	}
	return cmd
}

func newLog(c config.Log, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// serve listens, answers until ctx ends, and then drains.
func serve(ctx context.Context, c config.Config, log *slog.Logger) error {
	s := alone()
	s.log = log
	p, err := wire(c, s)
	if err != nil {
		return err
	}
	defer p.close()
	s.metrics.Caches(p.caches)
	d, err := listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	log.Info("urnd is ready", "service", addrOf(d.service), "admin", addrOf(d.admin), "version", versionText())
	err = d.serve(ctx, c, p, log)
	log.Info("urnd has stopped")
	return err
}

// listeners are the sockets of the daemon; admin may be nil.
type listeners struct {
	service, admin net.Listener
}

func listen(ctx context.Context, c config.Listen) (listeners, error) {
	var open net.ListenConfig
	service, err := open.Listen(ctx, "tcp", c.Service)
	if err != nil {
		return listeners{}, fmt.Errorf("listening for clients: %w", err)
	}
	if c.Admin == "" {
		return listeners{service: service}, nil
	}
	admin, err := open.Listen(ctx, "tcp", c.Admin)
	if err != nil {
		return listeners{}, errors.Join(fmt.Errorf("listening for administrators: %w", err), service.Close())
	}
	return listeners{service: service, admin: admin}, nil
}

func addrOf(listener net.Listener) string {
	if listener == nil {
		return "off"
	}
	return listener.Addr().String()
}

// serve answers on all sockets until ctx ends, or one of them fails.
func (l listeners) serve(ctx context.Context, c config.Config, p *parts, log *slog.Logger) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return newServer(c, p.service, log).Serve(ctx, l.service) })
	if l.admin != nil {
		group.Go(func() error { return newServer(c, p.admin, log).Serve(ctx, l.admin) })
	}
	return group.Wait()
}

func newServer(c config.Config, handler http.Handler, log *slog.Logger) *proxy.Server {
	return proxy.NewServer(proxy.ServerConfig{
		Handler: handler, Log: log, MaxTarget: int(c.Limits.Target), MaxHeader: int(c.Limits.Header),
		HeaderTimeout: c.Limits.HeaderTimeout, IdleTimeout: c.Limits.IdleTimeout, ShutdownTimeout: c.Limits.ShutdownTimeout,
	})
}
