package main

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/thttp"
	"github.com/urnd/urnd/uri"
)

// resolvConf names the DNS servers of the system.
const resolvConf = "/etc/resolv.conf"

// wireDDDS returns the resolver of URNs by DDDS, or one whose answer is why it is turned
// off, and that of other URIs, nil where it is turned off.
func wireDDDS(r *resolution, c config.Config, client *thttp.Client, d resolverDependencies) (urns, uris resolver.Resolver, err error) {
	if !c.DDDS.Enabled {
		return resolver.Off("turned off (ddds.enabled)"), nil, nil
	}
	bounds := memory.Config[ddds.Records]{MaxBytes: int64(c.Cache.Records), Size: ddds.RecordsSize}
	if r.records, err = newCache(r, c, d, "records", c.DNS.RefreshAhead, bounds); err != nil {
		return nil, nil, err
	}
	servers := dnsServers(c.DNS)
	if len(servers) > 0 && len(c.DDDS.Roots) > 0 {
		r.ready = queryRoot(newDNSClient(c.DNS, servers[:1], false, r, d), c.DDDS.Roots[0])
	}
	settings := dddsConfig(c, r, servers, d)
	if !c.DDDS.Refer {
		settings.Ask = client.Ask
	}
	urns = resolver.Off("no DNS server or no root is configured")
	if settings.Roots = rootsWithServer(c.DDDS.Roots, servers, settings.Lookups); len(settings.Roots) > 0 {
		r.urns = ddds.New(settings)
		urns = r.urns
	}
	if settings.Roots = rootsWithServer(c.DDDS.URIRoots, servers, settings.Lookups); len(settings.Roots) > 0 {
		settings.BySchemes = true
		r.uris = ddds.New(settings)
		uris = r.uris
	}
	return urns, uris, nil
}

// dddsConfig returns the configuration that both applications share.
func dddsConfig(c config.Config, r *resolution, servers []config.Server, d resolverDependencies) ddds.Config {
	bounds := ddds.Bounds{MinTTL: c.DNS.MinTTL, MaxTTL: c.DNS.MaxTTL}
	settings := ddds.Config{
		Lookup:     ddds.NewCached(r.records.Cache, newDNSClient(c.DNS, servers, false, r, d), bounds),
		Lookups:    make(map[string]ddds.Lookuper),
		MaxDomains: c.DDDS.MaxDomains, Fallback: c.DDDS.Fallback,
		Observer: observers{d.metrics}.ddds(),
	}
	for _, o := range c.DDDS.RootOptions {
		own := bounds
		own.Root = o.Root
		asked := o.Servers
		if len(asked) == 0 {
			asked = servers
		}
		if len(asked) > 0 {
			settings.Lookups[uri.CanonicalDomain(o.Root)] = ddds.NewCached(r.records.Cache, newDNSClient(c.DNS, asked, o.RequireDNSSEC, r, d), own)
		}
	}
	return settings
}

// queryRoot returns a function that queries the rules of a root: any answer, also a negative
// one, is success.
func queryRoot(client *ddds.Client, root string) func(context.Context) error {
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

// newDNSClient makes a client that can reach nothing but its servers.
func newDNSClient(c config.DNS, servers []config.Server, requireAD bool, r *resolution, d resolverDependencies) *ddds.Client {
	var asked []ddds.Server
	var addrs []netip.Addr
	for _, server := range servers {
		asked = append(asked, ddds.Server{Address: server.AddrPort.String(), TLS: server.TLS, Name: server.Name})
		addrs = append(addrs, server.Addr())
	}
	return ddds.NewClient(ddds.ClientConfig{
		Servers: asked, Dial: netguard.Only(c.Timeout, addrs...).DialContext,
		Timeout: c.Timeout, Rounds: c.Rounds, HedgeAfter: c.HedgeAfter, RequireAD: requireAD, Now: d.now,
		Slots: r.slots.queries, Observe: observers{d.metrics}.query(d.queried),
	})
}

// dnsServers returns the servers that are configured, or those of the system.
func dnsServers(c config.DNS) []config.Server {
	if len(c.Servers) > 0 {
		return c.Servers
	}
	system, err := ddds.SystemServers(resolvConf)
	if err != nil {
		return nil // a system without DNS has no servers
	}
	var servers []config.Server
	for _, text := range system {
		if server, err := netip.ParseAddrPort(text); err == nil { // invalid lines are skipped, as libc does
			servers = append(servers, config.Server{AddrPort: server})
		}
	}
	return servers
}
