package main

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

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
func wireDDDS(p *parts, c config.Config, resolution *thttp.Client, s surroundings) (discovery, error) {
	if !c.DDDS.Enabled {
		return discovery{urns: resolver.Off("turned off (ddds.enabled)")}, nil
	}
	servers := dnsServers(c.DNS)
	records, err := newCache(p, c, s, "records", c.Cache.Records, c.DNS.RefreshAhead, ddds.RecordsSize)
	if err != nil {
		return discovery{}, err
	}
	p.records = records
	bounds := ddds.Bounds{MinTTL: c.DNS.MinTTL, MaxTTL: c.DNS.MaxTTL}
	settings := ddds.Config{
		Lookup:  ddds.NewCached(records, newDNSClient(c.DNS, servers, false, s), bounds),
		Lookups: make(map[string]ddds.Lookuper),
		Roots:   c.DDDS.Roots, MaxDomains: c.DDDS.MaxDomains, Fallback: c.DDDS.Fallback,
		Observer: observers{s.metrics}.ddds(),
	}
	for _, o := range c.DDDS.RootOptions {
		own := bounds
		own.Realm = " " + o.Root
		asked := o.Servers
		if len(asked) == 0 {
			asked = servers
		}
		if len(asked) == 0 {
			continue
		}
		settings.Lookups[domain(o.Root)] = ddds.NewCached(records, newDNSClient(c.DNS, asked, o.RequireDNSSEC, s), own)
	}
	if len(servers) > 0 && len(c.DDDS.Roots) > 0 {
		p.probe = probe(newDNSClient(c.DNS, servers[:1], false, s), c.DDDS.Roots[0])
	}
	if !c.DDDS.Refer {
		settings.Ask = resolution.Ask
	}
	d := discovery{urns: resolver.Off("no DNS server or no root is configured")}
	if settings.Roots = answered(c.DDDS.Roots, servers, settings.Lookups); len(settings.Roots) > 0 {
		d.urns = ddds.New(settings)
	}
	if settings.Roots = answered(c.DDDS.URIRoots, servers, settings.Lookups); len(settings.Roots) > 0 {
		settings.BySchemes = true
		d.uris = ddds.New(settings)
	}
	return d, nil
}

// probe returns what asks for the rules of a root: any answer will do.
func probe(client *ddds.Client, root string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, _, err := client.NAPTR(ctx, root)
		if errors.As(err, new(*resolver.Negative)) {
			return nil
		}
		return err
	}
}

// domain returns the one form of a domain name.
func domain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) + "." }

// answered returns the roots for which there is a server to ask.
func answered(roots []string, servers []config.Server, lookups map[string]ddds.Lookuper) []string {
	return slices.DeleteFunc(slices.Clone(roots), func(root string) bool {
		_, own := lookups[domain(root)]
		return len(servers) == 0 && !own
	})
}

// newDNSClient makes a client that can reach nothing but its servers.
func newDNSClient(c config.DNS, servers []config.Server, requireAD bool, s surroundings) *ddds.Client {
	var asked []ddds.Server
	var addrs []netip.Addr
	for _, server := range servers {
		asked = append(asked, ddds.Server{Address: server.AddrPort.String(), TLS: server.TLS, Name: server.Name})
		addrs = append(addrs, server.Addr())
	}
	return ddds.NewClient(ddds.ClientConfig{
		Servers: asked, Dial: netguard.Only(c.Timeout, addrs...).DialContext,
		Timeout: c.Timeout, Rounds: c.Rounds, HedgeAfter: c.HedgeAfter, RequireAD: requireAD, Now: s.now,
		Slots: s.questions, Observe: observers{s.metrics}.query(s.health),
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
		if server, err := netip.ParseAddrPort(text); err == nil { // what others cannot read either
			servers = append(servers, config.Server{AddrPort: server})
		}
	}
	return servers
}
