package main

import (
	"context"
	"errors"
	"slices"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/thttp"
	"github.com/urnd/urnd/uri"
)

// wireDDDS returns the resolver of URNs by DDDS, or one whose answer is why it is turned
// off, and that of other URIs, nil where it is turned off.
func wireDDDS(r *resolution, c config.Config, client *thttp.Client, d resolverDependencies) (urns, uris resolver.Resolver) {
	if !c.DDDS.Enabled {
		return resolver.Off("turned off (ddds.enabled)"), nil
	}
	servers := dnsServers(c.DNS)
	if len(servers) > 0 && len(c.DDDS.Roots) > 0 {
		r.ready = queryRoot(r.dns, c.DDDS.Roots[0])
	}
	settings := dddsConfig(c, r, servers, d)
	if !c.DDDS.Refer {
		settings.Ask = client.Ask
	}
	urns = resolver.Off("no DNS server or no root is configured")
	if settings.Roots = rootsWithServer(c.DDDS.Roots, servers, settings.Lookups); len(settings.Roots) > 0 {
		r.urns = ddds.New(settings)
		urns = r.limited(r.urns)
	}
	if settings.Roots = rootsWithServer(c.DDDS.URIRoots, servers, settings.Lookups); len(settings.Roots) > 0 {
		settings.BySchemes = true
		r.uris = ddds.New(settings)
		uris = r.limited(r.uris)
	}
	return urns, uris
}

// dddsConfig returns the configuration that both applications share.
func dddsConfig(c config.Config, r *resolution, servers []config.Server, d resolverDependencies) ddds.Config {
	bounds := recordBounds(c.DNS)
	settings := ddds.Config{
		Lookup:     ddds.NewCached(r.records.Cache, r.dns, bounds),
		Lookups:    make(map[string]ddds.Lookuper),
		FirstKey:   r.names.Set.FirstKey,
		MaxDomains: c.DDDS.MaxDomains, Fallback: c.DDDS.Fallback,
		Observer: observe.Rules(d.metrics),
	}
	for _, o := range c.DDDS.RootOptions {
		own := bounds
		own.Root = o.Root
		asked := o.Servers
		if len(asked) == 0 {
			asked = servers
		}
		if len(asked) > 0 {
			settings.Lookups[uri.CanonicalDomain(o.Root)] = ddds.NewCached(r.records.Cache, newDNSClient(c, asked, o.RequireDNSSEC, r, d), own)
		}
	}
	return settings
}

// queryRoot returns a function that queries the rules of a root: any answer, also a negative
// one, is success.
func queryRoot(client ddds.Lookuper, root string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, _, err := client.NAPTR(ctx, root)
		if errors.As(err, new(*resolver.Negative)) {
			return nil
		}
		return err
	}
}

// rootsWithServer returns the roots for which there is a server to ask.
func rootsWithServer(roots []string, servers []config.Server, lookups map[string]ddds.Lookuper) []string {
	return slices.DeleteFunc(slices.Clone(roots), func(root string) bool {
		_, own := lookups[uri.CanonicalDomain(root)]
		return len(servers) == 0 && !own
	})
}
