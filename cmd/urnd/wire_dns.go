package main

import (
	"net/netip"

	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/resolver/ddds"
)

// resolvConf names the DNS servers of the system.
const resolvConf = "/etc/resolv.conf"

// dnsClient looks up all records, and the addresses of hosts.
type dnsClient interface {
	ddds.Lookuper
	ddds.AddressLookuper
}

// wireDNS makes the client for the DNS servers and the cache of record sets, and returns
// what looks up the addresses of hosts.
func wireDNS(r *resolution, c config.Config, d resolverDependencies) (*ddds.Hosts, error) {
	var err error
	bounds := memory.Config[ddds.Records]{MaxBytes: int64(c.Cache.Records), Size: ddds.RecordsSize}
	if r.records, err = newCache(r, c, d, "records", config.Records, c.DNS.RefreshAhead, bounds); err != nil {
		return nil, err
	}
	r.dns = wireServers(r, c, d)
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

// wireServers returns the client for the configured DNS servers, or for those of the system.
func wireServers(r *resolution, c config.Config, d resolverDependencies) dnsClient {
	if len(c.DNS.Servers) > 0 {
		return newDNSClient(c, c.DNS.Servers, false, r, d)
	}
	system := ddds.NewSystemClient(ddds.SystemConfig{Path: resolvConf, Now: d.now, Make: func(servers []netip.AddrPort) *ddds.Client {
		return openDNSClient(c, plainServers(servers), false, r, d)
	}})
	r.closers = append(r.closers, system.Close)
	return system
}

// newDNSClient makes a client that is closed with the resolution.
func newDNSClient(c config.Config, servers []config.Server, requireAD bool, r *resolution, d resolverDependencies) *ddds.Client {
	client := openDNSClient(c, servers, requireAD, r, d)
	r.closers = append(r.closers, client.Close)
	return client
}

// openDNSClient makes a client that can reach nothing but its servers.
func openDNSClient(c config.Config, servers []config.Server, requireAD bool, r *resolution, d resolverDependencies) *ddds.Client {
	var asked []ddds.Server
	var addrs []netip.Addr
	for _, server := range servers {
		asked = append(asked, ddds.Server{Address: server.AddrPort.String(), TLS: server.TLS, Name: server.Name})
		addrs = append(addrs, server.Addr())
	}
	return ddds.NewClient(ddds.ClientConfig{
		Servers: asked, Dial: netguard.Only(c.DNS.Timeout, addrs...).DialContext,
		Timeout: c.DNS.Timeout, Rounds: c.DNS.Rounds, HedgeAfter: c.DNS.HedgeAfter, Backoff: c.Resolve.Backoff, RequireAD: requireAD, Now: d.now,
		Slots: r.slots.queries, Observe: observe.Queries(d.metrics, d.queried), MixCase: c.DNS.MixedCase, Panicked: d.panicked,
	})
}

// dnsServers returns the servers that are configured, or those of the system.
func dnsServers(c config.DNS) []config.Server {
	if len(c.Servers) > 0 {
		return c.Servers
	}
	return plainServers(ddds.SystemServers(resolvConf))
}

// plainServers returns servers that are asked without TLS.
func plainServers(addresses []netip.AddrPort) []config.Server {
	servers := make([]config.Server, len(addresses))
	for i, address := range addresses {
		servers[i].AddrPort = address
	}
	return servers
}
