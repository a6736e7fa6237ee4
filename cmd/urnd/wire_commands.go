package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/access"
	"github.com/urnd/urnd/internal/cli/cache"
	cliconfig "github.com/urnd/urnd/internal/cli/config"
	clistatus "github.com/urnd/urnd/internal/cli/status"
	"github.com/urnd/urnd/internal/cli/store"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/internal/telemetry"
	"github.com/urnd/urnd/proxy/certificate"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/ddds"
)

// serviceCommands returns the commands that run the daemon, query a running one, or need its wiring.
func serviceCommands() []*cobra.Command {
	return []*cobra.Command{
		newServe(), cache.Command(hasResponses), clistatus.Command(),
		access.Command(access.Wiring{
			Policy: testPolicy, Groups: groupsOf, Server: serverOf, Gateways: gatewayInfos,
			SiteURLs: siteURLs,
		}),
		cliconfig.Command(checkWiring()),
	}
}

// hasResponses reports whether any configuration stores responses for the URIs of a scheme, in lower case.
func hasResponses(scheme string) bool { return gatewayInfos(config.Default()).Cacheable(scheme) }

// checkWiring returns the wiring of the configuration check.
func checkWiring() cliconfig.Wiring {
	return cliconfig.Wiring{
		Try: try, Certificates: expiryOf, Memory: availableMemory, Snapshot: snapshotPath,
		CheckLost: checkLostRegistry, Peers: peersOf,
	}
}

// serverOf returns the data by which request targets are classified.
func serverOf(c config.Config) (route.Server, error) {
	server := route.Server{
		OwnHosts: ownHosts(c.Listen), Sites: route.NewSites(siteRoutes(c.Proxy)),
		Spelling: route.SpellingNormal,
	}
	if c.Registry.Store != "" {
		server.Hosts = route.NewHosts(c.Registry.WebHosts())
	}
	return server, nil
}

// try wires a configuration like the daemon, and starts nothing.
func try(c config.Config) error {
	d := newDependencies()
	if _, err := accessLogsOf(c, d); err != nil {
		return err
	}
	r, err := newResolution(c, d.resolverDependencies)
	if err != nil {
		return err
	}
	defer r.close()
	s, err := newService(c, r, d)
	if err != nil {
		return err
	}
	defer s.close()
	_, err = newAdmin(c, r, s, (*certificate.Set)(nil).Leaves, d)
	return err
}

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon: resolve URNs and URLs to redirects, and serve as HTTP proxy for
clients that use it as one. It needs no configuration. SIGHUP reloads the
configuration; SIGTERM stops the daemon after active requests have finished.`,
		Example: `  urnd serve
  urnd serve --config /etc/urnd/urnd.yaml
  urnd serve --listen 127.0.0.1:0 --admin "" --dns 127.0.0.1:5353`,
		Args: cobra.NoArgs,
	}
	s := cli.AddSettings(cmd)
	cmd.Flags().StringSlice("listen", nil, "`addresses` for clients, joined by commas (listen.service)")
	cmd.Flags().String("admin", "", "`address` for administrators; empty turns it off (listen.admin)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		inherited, err := daemon.Inherited(nameHTTP, nameHTTPS, nameAdmin)
		if err != nil {
			return err
		}
		path, err := s.Path()
		if err != nil {
			return err
		}
		d := newDependencies()
		var origins config.Origins
		d.origins = func() config.Origins { return origins }
		d.locate = func(err error) error { return origins.Locate(err) }
		d.warnings = func(c config.Config) config.Diagnostics {
			return cliconfig.Warnings(withSockets(c, inherited), origins, availableMemory())
		}
		service := newDaemon(d, path, func() (c config.Config, err error) {
			c, origins, err = s.LoadOrigins(map[string]string{"listen.service": "listen", "listen.admin": "admin"})
			return c, err
		}, inherited)
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		return origins.Locate(service.Run(cmd.Context(), hangups))
	}
	return cmd
}

// withSockets returns a configuration with the addresses of sockets that systemd has opened, for warnings.
func withSockets(c config.Config, sockets map[string][]net.Listener) config.Config {
	c.Listen.Service = daemon.Addresses(sockets[nameHTTP], c.Listen.Service)
	c.Listen.TLS = daemon.Addresses(sockets[nameHTTPS], c.Listen.TLS)
	return c
}

// peersOf returns the servers of a configuration whose availability can be tested, each in the way the daemon
// uses it.
func peersOf(c config.Config) []cliconfig.Peer {
	var peers []cliconfig.Peer
	// Without the credential of the key, that of the password is missing, too.
	if c.Cache.Shared != "" && c.Cache.SharedKey != "" {
		peers = append(peers, cliconfig.Peer{
			Setting: "cache.shared", Where: c.Cache.Shared,
			Probe: func(ctx context.Context) (string, error) {
				return probeShared(ctx, c.Cache)
			},
		})
	}
	if _, inFile := cli.StoreFile(c.Registry.Store); c.Registry.Store != "" && !inFile {
		peers = append(peers, registryPeer(c.Registry, "registry.store", c.Registry.Store, false))
		if c.Registry.Replica != "" {
			peers = append(peers, registryPeer(c.Registry, "registry.replica", c.Registry.Replica, true))
		}
	}
	for _, server := range dnsServers(c.DNS) {
		peers = append(peers, dnsPeer(c, "dns.servers", server, rootOf(c.DDDS), false))
	}
	for i, o := range c.DDDS.RootOptions {
		for _, server := range o.Servers {
			peers = append(peers, dnsPeer(c, fmt.Sprintf("ddds.root_options.%d.servers", i), server, o.Root,
				o.RequireDNSSEC))
		}
	}
	if c.Telemetry.Endpoint != "" {
		peers = append(peers, cliconfig.Peer{
			Setting: "telemetry.endpoint", Where: c.Telemetry.Endpoint,
			Probe: func(context.Context) (string, error) {
				return "", probeCollector(c) //nolint:contextcheck // it sets a shorter timeout
			},
		})
	}
	return peers
}

// probeShared tests the server of the second level.
func probeShared(ctx context.Context, c config.Cache) (string, error) {
	level, err := newLevel(c, newResolverDependencies())
	if err != nil {
		return "", err
	}
	defer level.Close()
	found, err := level.SelfTest(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s, response time %s", found.Name, found.Version, found.RTT.Round(time.Microsecond)), nil
}

func registryPeer(c config.Registry, setting, url string, replica bool) cliconfig.Peer {
	return cliconfig.Peer{Setting: setting, Where: url, Probe: func(ctx context.Context) (string, error) {
		found, err := store.ProbePostgres(ctx, c, replica)
		if err != nil {
			return "", err
		}
		text := "PostgreSQL " + found.Version
		switch {
		case found.Schema == 0:
			return text + ", without a registry: urnd will create it", nil
		case found.Schema < found.Current:
			text += fmt.Sprintf(", schema %d, which urnd will migrate to %d", found.Schema, found.Current)
		default:
			text += fmt.Sprintf(", schema %d", found.Schema)
		}
		if !found.Writable {
			text += ", read-only"
		}
		return text, nil
	}}
}

// rootOf returns the domain of a test query: any answer suffices.
func rootOf(c config.DDDS) string {
	if c.Enabled && len(c.Roots) > 0 {
		return c.Roots[0]
	}
	return "."
}

func dnsPeer(c config.Config, setting string, server config.Server, root string, requireAD bool) cliconfig.Peer {
	return cliconfig.Peer{Setting: setting, Where: server.String(), Probe: func(ctx context.Context) (string, error) {
		r := &resolution{limits: newLimits(c.Limits, nil)}
		defer r.close()
		return "", ddds.QueryRoot(newDNSClient(c, []config.Server{server}, requireAD, r, newResolverDependencies()),
			root)(ctx)
	}}
}

// probeCollector sends a span to the collector of traces.
func probeCollector(c config.Config) (err error) {
	settings := telemetryConfig(c)
	settings.Failed = func(failed error) { err = errors.Join(err, failed) }
	tracer, err := telemetry.New(settings)
	if err != nil {
		return err
	}
	now := time.Now()
	if span := tracer.Begin("config check", nil, now, false); span != nil {
		span.End(0, "config check", 0, nil, nil)
	}
	tracer.Close()
	return err
}
