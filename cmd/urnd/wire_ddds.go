package main

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/thttp"
)

// resolvConf is where the system keeps its DNS servers.
const resolvConf = "/etc/resolv.conf"

// discovery is DDDS: the URN application, and the URI application, nil where it has
// no root.
type discovery struct {
	urns, uris resolver.Resolver
}

// wireDDDS makes the resolvers that ask the DNS, or some that say why not.
func wireDDDS(p *parts, c config.Config, resolution *thttp.Client, now func() time.Time) (discovery, error) {
	if !c.DDDS.Enabled {
		return discovery{urns: resolver.Off("turned off (ddds.enabled)")}, nil
	}
	servers, err := dnsServers(c.DNS)
	if err != nil {
		return discovery{}, err
	}
	if len(servers) == 0 && len(c.DDDS.RootOptions) == 0 {
		return discovery{urns: resolver.Off("no DNS server is configured")}, nil
	}
	records, err := newCache(p, c, now, c.Cache.Records, c.DNS.RefreshAhead, ddds.RecordsSize)
	if err != nil {
		return discovery{}, err
	}
	bounds := ddds.Bounds{MinTTL: c.DNS.MinTTL, MaxTTL: c.DNS.MaxTTL}
	settings := ddds.Config{
		Lookup:  ddds.NewCached(records, newDNSClient(c.DNS, servers, false, now), bounds),
		Lookups: make(map[string]ddds.Lookuper),
		Roots:   c.DDDS.Roots, MaxDomains: c.DDDS.MaxDomains, Fallback: c.DDDS.Fallback,
	}
	for _, o := range c.DDDS.RootOptions {
		own := bounds
		own.Realm = " " + o.Root
		asked := o.Servers
		if len(asked) == 0 {
			asked = servers
		}
		settings.Lookups[o.Root] = ddds.NewCached(records, newDNSClient(c.DNS, asked, o.RequireDNSSEC, now), own)
	}
	if !c.DDDS.Refer {
		settings.Ask = resolution.Ask
	}
	d := discovery{urns: resolver.Off("no root is configured (ddds.roots)")}
	if len(c.DDDS.Roots) > 0 {
		d.urns = ddds.New(settings)
	}
	if len(c.DDDS.URIRoots) > 0 {
		settings.Roots, settings.BySchemes = c.DDDS.URIRoots, true
		d.uris = ddds.New(settings)
	}
	return d, nil
}

// newDNSClient makes a client that can reach nothing but its servers.
func newDNSClient(c config.DNS, servers []config.Server, requireAD bool, now func() time.Time) *ddds.Client {
	var asked []ddds.Server
	var addrs []netip.Addr
	for _, server := range servers {
		asked = append(asked, ddds.Server{Address: server.AddrPort.String(), TLS: server.TLS, Name: server.Name})
		addrs = append(addrs, server.Addr())
	}
	return ddds.NewClient(ddds.ClientConfig{
		Servers: asked, Dial: netguard.Only(c.Timeout, addrs...).DialContext,
		Timeout: c.Timeout, Rounds: c.Rounds, HedgeAfter: c.HedgeAfter, RequireAD: requireAD, Now: now,
	})
}

// dnsServers returns the servers that are configured, or those of the system.
func dnsServers(c config.DNS) ([]config.Server, error) {
	if len(c.Servers) > 0 {
		return c.Servers, nil
	}
	system, err := ddds.SystemServers(resolvConf)
	if err != nil {
		return nil, nil //nolint:nilerr // a system without DNS has no servers
	}
	var servers []config.Server
	var faults []error
	for _, text := range system {
		server, err := netip.ParseAddrPort(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("DNS server of %s: %w", resolvConf, err))
			continue
		}
		servers = append(servers, config.Server{AddrPort: server})
	}
	return servers, errors.Join(faults...)
}
