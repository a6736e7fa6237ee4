package main

import (
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/access"
	"github.com/urnd/urnd/internal/cli/cache"
	cliconfig "github.com/urnd/urnd/internal/cli/config"
	clistatus "github.com/urnd/urnd/internal/cli/status"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/route"
)

// serviceCommands returns the commands that serve, ask an urnd that serves, or need to know how it does.
func serviceCommands() []*cobra.Command {
	return []*cobra.Command{
		newServe(), cache.Command(hasResponses), clistatus.Command(),
		access.Command(access.Wiring{Policy: policyOf, Server: serverOf, Gateways: gatewayInfos}),
		cliconfig.Command(checkWiring()),
	}
}

// hasResponses reports whether responses are stored for the URIs of a scheme, in lower case, by any configuration.
func hasResponses(scheme string) bool { return gatewayInfos(config.Default()).IsStored(scheme) }

// checkWiring returns what the check of a configuration needs.
func checkWiring() cliconfig.Wiring {
	return cliconfig.Wiring{Try: try, Certificate: expiryOf, Memory: availableMemory, Snapshot: snapshotPath, Lost: lostRegistry, Peers: peersOf}
}

// serverOf returns what the requests of clients are compared with.
func serverOf(c config.Config) (route.Server, error) {
	server := route.Server{Own: ownHosts(c.Listen), Sites: make(route.Sites), Spelling: route.SpellingNormal}
	if c.Registry.Store != "" {
		server.Hosts = route.NewHosts(c.Registry.WebHosts())
	}
	origins, err := originsOf(c.Proxy)
	for i, origin := range origins {
		server.Sites[origin.Host] = &route.Site{Index: i}
	}
	return server, err
}

// try wires a configuration as the daemon does, and starts nothing.
func try(c config.Config) error {
	d := newDependencies()
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
	_, err = newAdmin(c, r, s, (*listen.CertificateWatch)(nil).Current, d)
	return err
}

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon: answer requests for URNs and URLs by redirects, and forward for
clients that use it as their HTTP proxy. It needs no configuration. SIGHUP reloads the
configuration; SIGTERM stops it after running requests have ended.`,
		Example: `  urnd serve
  urnd serve --config /etc/urnd/urnd.yaml
  urnd serve --listen 127.0.0.1:0 --admin "" --dns 127.0.0.1:5353`,
		Args: cobra.NoArgs,
	}
	s := cli.AddSettings(cmd)
	cmd.Flags().StringSlice("listen", nil, "listen for clients on these `addresses`, joined by commas (listen.service)")
	cmd.Flags().String("admin", "", "listen for administrators on this `address`; empty turns it off (listen.admin)")
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
		d.warnings = func(c config.Config) config.Faults {
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

// withSockets returns a configuration with the addresses of sockets that systemd has opened, which warnings are about.
func withSockets(c config.Config, sockets map[string][]net.Listener) config.Config {
	c.Listen.Service = daemon.Addresses(sockets[nameHTTP], c.Listen.Service)
	c.Listen.TLS = daemon.Addresses(sockets[nameHTTPS], c.Listen.TLS)
	return c
}
