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
	p, err := wire(c, log)
	if err != nil {
		return err
	}
	defer p.close()
	service, err := net.Listen("tcp", c.Listen.Service)
	if err != nil {
		return fmt.Errorf("listening for clients: %w", err)
	}
	admin, err := listenAdmin(c.Listen.Admin)
	if err != nil {
		return errors.Join(err, service.Close())
	}
	log.Info("urnd is ready", "service", service.Addr().String(), "admin", addrOf(admin), "version", versionText())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return newServer(c, p.service, log).Serve(ctx, service) })
	if admin != nil {
		group.Go(func() error { return newServer(c, p.admin, log).Serve(ctx, admin) })
	}
	err = group.Wait()
	log.Info("urnd has stopped")
	return err
}

func newServer(c config.Config, handler http.Handler, log *slog.Logger) *proxy.Server {
	return proxy.NewServer(proxy.ServerConfig{
		Handler: handler, Log: log, MaxHeader: int(c.Limits.Header),
		HeaderTimeout: c.Limits.HeaderTimeout, IdleTimeout: c.Limits.IdleTimeout, ShutdownTimeout: c.Limits.ShutdownTimeout,
	})
}

// listenAdmin returns nil where there is to be no admin listener.
func listenAdmin(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // said above
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for administrators: %w", err)
	}
	return listener, nil
}

func addrOf(listener net.Listener) string {
	if listener == nil {
		return "off"
	}
	return listener.Addr().String()
}
