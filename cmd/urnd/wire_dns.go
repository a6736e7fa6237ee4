package main

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/slp"
	"github.com/urnd/urnd/resolver/thttp"
	"github.com/urnd/urnd/uri"
)

// resolvConf is the file with the DNS servers of the system.
const resolvConf = "/etc/resolv.conf"

// dnsClient looks up record sets, and the addresses of hosts.
type dnsClient interface {
	ddds.Lookuper
	ddds.AddressLookuper
}

// wireDNS sets the DNS client and the cache of record sets, and returns the resolver of host addresses.
func wireDNS(r *resolution, c config.Config, d resolverDependencies) (*ddds.Hosts, error) {
	var err error
	bounds := memory.Config[ddds.Records]{MaxBytes: int64(c.Cache.Records), Size: ddds.RecordsSize}
	if r.records, err = newCache(r, c, d, "records", config.Records, true, bounds, sharedRecords(r, c)); err != nil {
		return nil, err
	}
	r.dns = wireServers(r, c, d)
	system, _ := ddds.ReadSystem(resolvConf) // without the file there are no local domains
	return ddds.NewHosts(ddds.HostsConfig{
		Addresses: ddds.NewCachedAddresses(r.records.Cache, r.dns, recordBounds(c)),
		Local:     netguard.SystemHosts, Search: system.Search,
	}), nil
}

// recordBounds returns the bounds of the TTL of record sets.
func recordBounds(c config.Config) ddds.Bounds {
	return ddds.Bounds{MinTTL: c.DNS.MinTTL, MaxTTL: c.Resolve.MaxTTL}
}

// wireServers returns the client for the configured DNS servers, or for those of the system.
func wireServers(r *resolution, c config.Config, d resolverDependencies) dnsClient {
	if len(c.DNS.Servers) > 0 {
		return newDNSClient(c, c.DNS.Servers, false, r, d)
	}
	system := ddds.NewSystemClient(ddds.SystemConfig{
		Path: resolvConf, Now: d.now,
		Make: func(servers []netip.AddrPort) *ddds.Client {
			return openDNSClient(c, plainServers(servers), false, r, d)
		},
	})
	r.closers = append(r.closers, system.Close)
	r.avoided = append(r.avoided, avoidance{dnsServer, true, system.Avoided})
	return system
}

// newDNSClient returns a client that is closed with the resolution.
func newDNSClient(
	c config.Config, servers []config.Server, requireAD bool, r *resolution, d resolverDependencies,
) *ddds.Client {
	client := openDNSClient(c, servers, requireAD, r, d)
	r.closers = append(r.closers, client.Close)
	r.avoided = append(r.avoided, avoidance{dnsServer, true, client.Avoided})
	return client
}

// openDNSClient returns a client that can connect to its servers only.
func openDNSClient(
	c config.Config, servers []config.Server, requireAD bool, r *resolution, d resolverDependencies,
) *ddds.Client {
	var requested []ddds.Server
	var addrs []netip.Addr
	for _, server := range servers {
		requested = append(requested,
			ddds.Server{Address: server.AddrPort.String(), TLS: server.TLS, Name: server.Name})
		addrs = append(addrs, server.Addr())
	}
	return ddds.NewClient(ddds.ClientConfig{
		Servers: requested, Dial: netguard.NewAllowlist(c.DNS.Timeout, addrs...).DialContext,
		Timeout: c.DNS.Timeout, Rounds: c.DNS.Rounds, HedgeAfter: hedgeAfter, Backoff: c.Resolve.Backoff,
		RequireAD: requireAD, Now: d.now,
		Concurrency: r.limits.queries, Observe: observe.Queries(d.metrics, d.queried), MixCase: c.DNS.MixedCase,
		Panicked: d.panicked,
	})
}

// hedgeAfter is the time after which the next DNS server is queried in parallel: longer than almost all
// recursive lookups, and shorter than a reader notices.
const hedgeAfter = 300 * time.Millisecond

// dnsServers returns the configured servers, or those of the system.
func dnsServers(c config.DNS) []config.Server {
	if len(c.Servers) > 0 {
		return c.Servers
	}
	return plainServers(ddds.SystemServers(resolvConf))
}

// plainServers returns servers without TLS.
func plainServers(addresses []netip.AddrPort) []config.Server {
	servers := make([]config.Server, len(addresses))
	for i, address := range addresses {
		servers[i].AddrPort = address
	}
	return servers
}

// wireDDDS returns the DDDS resolver of URNs, or one whose answer says that it is disabled, and that of other
// URIs, nil if it is disabled.
func wireDDDS(
	r *resolution, c config.Config, client *thttp.Client, d resolverDependencies,
) (urns, uris resolver.Resolver) {
	if !c.DDDS.Enabled {
		return resolver.Disabled("disabled (ddds.enabled)"), nil
	}
	servers := dnsServers(c.DNS)
	if len(servers) > 0 && len(c.DDDS.Roots) > 0 {
		r.ready = ddds.QueryRoot(r.dns, c.DDDS.Roots[0])
	}
	settings := dddsConfig(c, r, servers, d)
	if !c.DDDS.Refer {
		settings.Query = client.Query
	}
	urns = resolver.Disabled("no DNS server or no root is configured")
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

// maxDomains limits the domains that the rules for one name may visit: those of RFC 3404 and of urn.arpa
// visit two or three. More are a loop, or take longer than resolve.timeout.
const maxDomains = 5

// dddsConfig returns the configuration that both applications share.
func dddsConfig(c config.Config, r *resolution, servers []config.Server, d resolverDependencies) ddds.Config {
	bounds := recordBounds(c)
	settings := ddds.Config{
		Lookup:     ddds.NewCached(r.records.Cache, r.dns, bounds),
		Lookups:    make(map[string]ddds.Lookuper),
		FirstKey:   r.names.Set.FirstKey,
		MaxDomains: maxDomains, Fallback: c.DDDS.Fallback,
		Observer: observe.Rules(d.metrics),
	}
	for _, o := range c.DDDS.RootOptions {
		own := bounds
		own.Root = o.Root
		requested := o.Servers
		if len(requested) == 0 {
			requested = servers
		}
		if len(requested) > 0 {
			client := newDNSClient(c, requested, o.RequireDNSSEC, r, d)
			settings.Lookups[uri.CanonicalDomain(o.Root)] = ddds.NewCached(r.records.Cache, client, own)
		}
	}
	return settings
}

// rootsWithServer returns the roots for which a DNS server is known.
func rootsWithServer(roots []string, servers []config.Server, lookups map[string]ddds.Lookuper) []string {
	return slices.DeleteFunc(slices.Clone(roots), func(root string) bool {
		_, own := lookups[uri.CanonicalDomain(root)]
		return len(servers) == 0 && !own
	})
}

// foundSize limits the memory for servers that SLP has discovered, in bytes: a namespace has few.
const foundSize = 1 << 20

// wireSLP returns the SLP resolver, or one whose answer says that it is disabled. It can connect to directory
// agents only.
func wireSLP(r *resolution, c config.Config, client *thttp.Client, d resolverDependencies) (resolver.Resolver, error) {
	if !c.SLP.Enabled() {
		return resolver.Disabled("no directory agent is configured (slp.agents)"), nil
	}
	var names []string
	for _, agent := range c.SLP.Agents {
		names = append(names, agent.String())
	}
	var group slp.OpenMulticast
	if address, ok := c.SLP.Group(); ok {
		names, group = nil, netguard.Group(address)
	}
	d.previous = nil // agents may have moved: a reload discovers them again
	var err error
	bounds := memory.Config[slp.Servers]{MaxBytes: foundSize, Size: slp.ServersSize}
	if r.found, err = newCache(r, c, d, "found", config.Answers, true, bounds, nil); err != nil {
		return nil, err
	}
	r.servers = slp.New(slp.Config{
		Agents: names, Group: group, Scopes: c.SLP.Scopes, Lang: "en", Timeout: c.SLP.Timeout, NegativeTTL: noAgentTTL,
		Dial: dialAgent(c.SLP), Query: client.Query, Cache: r.found.Cache, Now: d.now,
		Recheck: c.Resolve.Backoff, Backoff: r.backoff(directoryAgent, c.Resolve, d), Unusable: d.unusable,
		Observe: observe.Exchanges(d.metrics, "slp"),
	})
	return r.limited(r.servers), nil
}

// noAgentTTL is the TTL of the answer that no agent knows a server: it bounds the delay after which a newly
// registered server (RFC 2608 section 8.3) is found.
const noAgentTTL = time.Minute

// dialAgent returns the dialer for directory agents: those of the configuration, or those that have answered
// the multicast group.
func dialAgent(c config.SLP) func(ctx context.Context, network, address string) (net.Conn, error) {
	var addrs []netip.Addr
	for _, agent := range c.Agents {
		addrs = append(addrs, agent.Addr())
	}
	if _, isGroup := c.Group(); !isGroup {
		return netguard.NewAllowlist(c.Timeout, addrs...).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		answered, err := netip.ParseAddrPort(address)
		if err != nil {
			return nil, err
		}
		return netguard.NewAllowlist(c.Timeout, answered.Addr()).DialContext(ctx, network, address)
	}
}
