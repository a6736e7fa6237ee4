package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/resolver/thttp"
)

// parts are what a configuration is made into. Nothing of it listens yet.
type parts struct {
	resolver resolver.Resolver
	service  http.Handler
	admin    http.Handler
	closers  []func()
}

// close ends the parts in reverse order of their making.
func (p *parts) close() {
	for i := len(p.closers) - 1; i >= 0; i-- {
		p.closers[i]()
	}
}

// wire makes a configuration into parts that go by the clock now.
func wire(c config.Config, log *slog.Logger, now func() time.Time) (*parts, error) {
	p := &parts{}
	if err := p.assemble(c, log, now); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// assemble is the architecture of urnd: names go through the cache to a chain of
// systems, locations locate themselves, and only the proxy retrieves.
func (p *parts) assemble(c config.Config, log *slog.Logger, now func() time.Time) error {
	names, err := namesOf(c)
	if err != nil {
		return err
	}
	fetch := schemehttp.New(schemehttp.Config{Dial: wireGuard(c).DialContext, HeaderTimeout: c.Limits.OriginTimeout})
	p.closers = append(p.closers, fetch.Close)
	web := scheme.Mux{"http": fetch, "https": fetch}
	resolution := thttp.New(thttp.Config{
		Transport: scheme.Transport{Handler: web}, Timeout: c.THTTP.Timeout,
		MaxBody: int64(c.THTTP.MaxBody), MaxLocations: c.THTTP.MaxLocations, DefaultTTL: c.THTTP.DefaultTTL, Now: now,
	})
	discovery, err := wireDDDS(p, c, resolution, now)
	if err != nil {
		return err
	}
	members := []resolver.Member{
		{Name: "ddds", Resolver: discovery},
		{Name: "thttp", Resolver: thttp.NewResolver(resolution, servers(c))},
		{Name: "namespace", Resolver: resolver.NewNamespaces(names.Set, c.Resolve.RuleTTL)},
	}
	chain, err := resolver.NewChain(members, c.Resolve.Order, orders(c))
	if err != nil {
		return err
	}
	answers, err := newCache(p, c, now, c.Cache.Answers, resolver.LocationsSize)
	if err != nil {
		return err
	}
	p.resolver = resolver.NewCanonical(names, resolver.Split{
		Names:     resolver.NewCached(answers, chain),
		Locations: scheme.Self{},
	})
	p.service = proxy.New(proxy.Config{
		Resolver:     p.resolver,
		Names:        names,
		RuleTTL:      c.Resolve.RuleTTL,
		Fetch:        web,
		Log:          log,
		Now:          now,
		ProxyClients: c.Access.ProxyClients,
		MaxTarget:    int(c.Limits.Target),
	})
	p.admin = proxy.NewAdmin()
	return nil
}

// wireGuard makes the way out to all but DNS servers. Names are looked up where
// the configuration says, or as the system does it.
func wireGuard(c config.Config) *netguard.Guard {
	guard := netguard.New(c.Limits.ConnectTimeout, c.Access.AllowDestinations...)
	if len(c.DNS.Servers) == 0 {
		return guard
	}
	addrs, names := split(c.DNS.Servers)
	return guard.Asking(names, netguard.Only(c.DNS.Timeout, addrs...))
}

// split returns the addresses of DNS servers, and how they are dialled.
func split(servers []config.Server) (addrs []netip.Addr, names []string) {
	for _, server := range servers {
		addrs, names = append(addrs, server.Addr()), append(names, server.String())
	}
	return addrs, names
}

// newCache makes a cache that p closes.
func newCache[V any](p *parts, c config.Config, now func() time.Time, size config.Size, sizeOf func(V) int) (*cache.Cache[V], error) {
	made, err := cache.New(cache.Config[V]{
		MaxBytes: int64(size), Size: sizeOf, Now: now,
		LoadTimeout: c.Resolve.Timeout, StaleFor: c.Cache.StaleFor, RetryAfter: c.Cache.RetryAfter,
	})
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, made.Close)
	return made, nil
}

// resolvConf is where the system keeps its DNS servers.
const resolvConf = "/etc/resolv.conf"

// wireDDDS makes the resolver that asks the DNS, or one that says why not.
func wireDDDS(p *parts, c config.Config, resolution *thttp.Client, now func() time.Time) (resolver.Resolver, error) {
	if !c.DDDS.Enabled {
		return resolver.Off("turned off (ddds.enabled)"), nil
	}
	servers, err := dnsServers(c.DNS)
	if err != nil {
		return nil, err
	}
	if len(servers) == 0 || len(c.DDDS.Roots) == 0 {
		return resolver.Off("no DNS server or no root is configured"), nil
	}
	addrs, names := split(servers)
	records, err := newCache(p, c, now, c.Cache.Records, ddds.RecordsSize)
	if err != nil {
		return nil, err
	}
	client := ddds.NewClient(ddds.ClientConfig{
		Servers: names, Dial: netguard.Only(c.DNS.Timeout, addrs...).DialContext,
		Timeout: c.DNS.Timeout, Rounds: c.DNS.Rounds, Now: now,
	})
	d := ddds.Config{Lookup: ddds.NewCached(records, client), Roots: c.DDDS.Roots, MaxDomains: c.DDDS.MaxDomains}
	if !c.DDDS.Refer {
		d.Ask = resolution.Ask
	}
	return ddds.New(d), nil
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
