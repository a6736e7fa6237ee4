package main

import (
	"net/netip"

	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver/ddds"
)

// resolvConf names the DNS servers of the system.
const resolvConf = "/etc/resolv.conf"

// wireDNS makes the client for the DNS servers and the cache of record sets, and returns
// what looks up the addresses of hosts.
func wireDNS(r *resolution, c config.Config, d resolverDependencies) (*ddds.Hosts, error) {
	var err error
	bounds := memory.Config[ddds.Records]{MaxBytes: int64(c.Cache.Records), Size: ddds.RecordsSize}
	if r.records, err = newCache(r, c, d, "records", c.DNS.RefreshAhead, bounds); err != nil {
		return nil, err
	}
	r.dns = newDNSClient(c, dnsServers(c.DNS), false, r, d)
	system, _ := ddds.ReadSystem(resolvConf) // without the file there are no local domains
	return ddds.NewHosts(ddds.HostsConfig{
		Addresses: ddds.NewCachedAddresses(r.records.Cache, r.dns, recordBounds(c.DNS)),
		Local:     netguard.SystemHosts, Search: system.Search,
	}), nil
}

// recordBounds returns the bounds of the TTL of record sets.
func recordBounds(c config.DNS) ddds.Bounds {
	return ddds.Bounds{MinTTL: c.MinTTL, MaxTTL: c.MaxTTL}
}

// newDNSClient makes a client that can reach nothing but its servers.
func newDNSClient(c config.Config, servers []config.Server, requireAD bool, r *resolution, d resolverDependencies) *ddds.Client {
	var asked []ddds.Server
	var addrs []netip.Addr
	for _, server := range servers {
		asked = append(asked, ddds.Server{Address: server.AddrPort.String(), TLS: server.TLS, Name: server.Name})
		addrs = append(addrs, server.Addr())
	}
	client := ddds.NewClient(ddds.ClientConfig{
		Servers: asked, Dial: netguard.Only(c.DNS.Timeout, addrs...).DialContext,
		Timeout: c.DNS.Timeout, Rounds: c.DNS.Rounds, HedgeAfter: c.DNS.HedgeAfter, Backoff: c.Resolve.Backoff, RequireAD: requireAD, Now: d.now,
		Slots: r.slots.queries, Observe: observers{d.metrics}.query(d.queried),
	})
	r.closers = append(r.closers, client.Close)
	return client
}

// dnsServers returns the servers that are configured, or those of the system.
func dnsServers(c config.DNS) []config.Server {
	if len(c.Servers) > 0 {
		return c.Servers
	}
	system, err := ddds.ReadSystem(resolvConf)
	if err != nil {
		return nil // a system without DNS has no servers
	}
	var servers []config.Server
	for _, text := range system.Servers {
		if server, err := netip.ParseAddrPort(text); err == nil { // invalid lines are skipped, as libc does
			servers = append(servers, config.Server{AddrPort: server})
		}
	}
	return servers
}
