package main

import (
	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli/access"
	"github.com/urnd/urnd/internal/cli/cache"
	cliconfig "github.com/urnd/urnd/internal/cli/config"
	"github.com/urnd/urnd/proxy/route"
)

// serviceCommands returns the commands that serve, ask an urnd that serves, or need to know how it does.
func serviceCommands() []*cobra.Command {
	return []*cobra.Command{
		newServe(), cache.Command(hasResponses),
		access.Command(access.Wiring{Policy: policyOf, Server: serverOf, Gateways: gatewayInfos}),
		cliconfig.Command(checkWiring()),
	}
}

// hasResponses reports whether responses are stored for the URIs of a scheme, in lower case, by any configuration.
func hasResponses(scheme string) bool { return gatewayInfos(config.Default()).IsStored(scheme) }

// checkWiring returns what the check of a configuration needs.
func checkWiring() cliconfig.Wiring {
	return cliconfig.Wiring{Try: try, Certificate: expiryOf, Memory: availableMemory, Snapshot: snapshotPath}
}

// serverOf returns what the requests of clients are compared with.
func serverOf(c config.Config) (route.Server, error) {
	server := route.Server{Own: ownHosts(c.Listen), Sites: make(route.Sites), Spelling: route.SpellingNormal}
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
	_, err = newAdmin(c, r, s, d)
	return err
}
