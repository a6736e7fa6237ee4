package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/systemd"
)

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon: answer requests for URNs and URLs by redirects, and forward for
clients that use it as their HTTP proxy. It needs no configuration. SIGHUP makes it read
the configuration again; SIGTERM lets it end what it does, and stop.`,
		Example: `  urnd serve
  urnd serve --config /etc/urnd/urnd.yaml
  urnd serve --listen 127.0.0.1:0 --admin "" --dns 127.0.0.1:5353`,
		Args: cobra.NoArgs,
	}
	s := addSettings(cmd)
	cmd.Flags().String("listen", "", "listen for clients on this `address` (listen.service)")
	cmd.Flags().String("admin", "", "listen for administrators on this `address`; empty for not at all (listen.admin)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		inherited, err := inheritedSockets()
		if err != nil {
			return err
		}
		d := newDaemon(alone(), os.Stderr, func() (config.Config, error) {
			return s.load(map[string]string{"listen.service": "listen", "listen.admin": "admin"})
		}, inherited)
		d.file.path = s.file
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		return d.run(cmd.Context(), hangups)
	}
	return cmd
}

// inheritedSockets returns those that systemd has opened, by the name of the endpoint
// for which they are.
func inheritedSockets() (map[string][]net.Listener, error) {
	sockets, err := systemd.Listeners()
	if err != nil {
		return nil, err
	}
	return sockets, checkNames(sockets)
}

// checkNames refuses sockets that are for no endpoint: nobody would answer there.
func checkNames(sockets map[string][]net.Listener) error {
	for name := range sockets {
		if name != nameHTTP && name != nameHTTPS && name != nameAdmin {
			return fmt.Errorf("systemd passes on a socket with the name %q: FileDescriptorName must be http, https or admin", name)
		}
	}
	return nil
}

// run answers until ctx ends or a server fails, reloading when it is asked to.
func (d *daemon) run(ctx context.Context, hangups <-chan os.Signal) error {
	d.file.look()
	c, err := d.read()
	if err != nil {
		return err
	}
	d.limitMemory(c.Limits.Memory)
	if err := d.start(ctx, c); err != nil {
		return err
	}
	defer func() {
		log := d.log() // it outlives the daemon
		d.close()
		log.Info("urnd has stopped")
	}()
	d.surroundings.metrics.Caches(d.current.caches)
	d.surroundings.metrics.Limits(d.limits)
	d.first(ctx)
	if ctx.Err() != nil { // it was told to stop before it was ready
		return nil
	}
	d.log().Info("urnd is ready", "service", d.address(nameHTTP), "tls", d.address(nameHTTPS), "admin", d.address(nameAdmin), "version", versionText())
	d.tell(systemd.Ready(d.status()))
	asked := make(chan struct{})
	var watching sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	watching.Go(func() { d.file.watch(ctx, d.watches, asked) })
	err = d.attend(ctx, hangups, asked)
	cancel()
	watching.Wait()
	d.surroundings.health.stop()
	d.tell(systemd.Stopping())
	return err
}

// figuresEvery is how often systemd is told how the daemon does.
const figuresEvery = 10 * time.Second

// attend reloads when it is asked to, tells systemd how the daemon does, and feeds its
// watchdog while the path of a request works; until ctx ends or a server fails.
func (d *daemon) attend(ctx context.Context, hangups <-chan os.Signal, asked <-chan struct{}) error {
	interval := figuresEvery
	watchdog := systemd.Watchdog()
	if watchdog > 0 {
		interval = min(interval, watchdog/3)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-d.failed:
			return err
		case <-hangups:
			_ = d.reload(ctx) // it has said what was wrong
		case <-asked:
			_ = d.reload(ctx)
		case <-ticker.C:
			d.tell(systemd.Status(d.status()))
			if watchdog > 0 {
				d.feed(ctx, interval)
			}
		}
	}
}

// feed feeds the watchdog of systemd, if the daemon is healthy.
func (d *daemon) feed(ctx context.Context, patience time.Duration) {
	if err := d.healthy(ctx, patience); err != nil {
		d.log().Error("urnd does not answer itself", "error", err)
		return
	}
	d.tell(systemd.Alive())
}

// watches reports whether the file of the configuration is watched.
func (d *daemon) watches() bool {
	g := d.current.take()
	defer g.running.Done()
	return g.config.Reload.Watch
}

// first waits until the first DNS server has answered, or has not in time: who says
// that it is ready should be.
func (d *daemon) first(ctx context.Context) {
	g := d.current.take()
	defer g.running.Done()
	if g.parts.probe == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, g.config.DNS.Timeout)
	defer cancel()
	if err := g.parts.probe(ctx); err != nil && !errors.Is(err, context.Canceled) {
		d.log().Warn("the first DNS server does not answer", "error", err)
	}
}

// healthy sends a request to each endpoint for clients, through all that a connection
// goes through once it is accepted.
func (d *daemon) healthy(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, e := range d.endpoints {
		if e.plan.settings.tls != (config.TLS{}) {
			continue // the same path, behind a handshake
		}
		for _, socket := range e.sockets {
			if err := socket.Probe(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
