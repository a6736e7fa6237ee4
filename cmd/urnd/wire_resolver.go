package main

import (
	"context"
	"net/http"

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
	probe    func(ctx context.Context) error // asks the first DNS server something; nil where there is none
	closers  []func()
	kept     []*kept
	answers  *cache.Cache[resolver.Locations] // one of them
	names    resolver.Names
	bounds   bounds
	records  *cache.Cache[ddds.Records] // nil where the DNS is not asked
}

// close ends the parts in reverse order of their making.
func (p *parts) close() {
	for _, k := range p.kept { // ends the loads that need the others
		k.leave()
	}
	for i := len(p.closers) - 1; i >= 0; i-- {
		p.closers[i]()
	}
}

// wire makes a configuration into parts.
func wire(c config.Config, s surroundings) (*parts, error) {
	p := &parts{}
	p.bounds = newBounds(c.Limits, s.before)
	s.questions = p.bounds.questions
	if err := p.assemble(c, s); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// assemble is the architecture of urnd: names go through the cache to a chain of
// systems, locations locate themselves, and only the proxy retrieves.
func (p *parts) assemble(c config.Config, s surroundings) error {
	told := observers{s.metrics}
	access, err := accessOf(c.Access, c.Limits.Rate)
	if err != nil {
		return err
	}
	names, err := namesOf(c)
	if err != nil {
		return err
	}
	guard := netguard.New(c.Limits.ConnectTimeout, c.Access.AllowDestinations...).Bounded(p.bounds.outgoing)
	if len(c.DNS.Servers) > 0 { // names are looked up where the configuration says
		guard = guard.Asking(newDNSClient(c.DNS, c.DNS.Servers, false, s).Connect)
	}
	fetch := schemehttp.New(schemehttp.Config{Dial: guard.Patient(c.Limits.OriginIdle), HeaderTimeout: c.Limits.OriginTimeout, MaxIdle: min(maxIdle, c.Limits.Outgoing/2)})
	p.closers = append(p.closers, fetch.Close)
	web := scheme.Mux{"http": fetch, "https": fetch}
	origin := origins{Handler: web, told: told.gateway("fetch"), now: s.now}
	resolution := thttp.New(thttp.Config{
		Transport: scheme.Transport{Handler: web, Exact: true}, Timeout: c.THTTP.Timeout,
		MaxBody: int64(c.THTTP.MaxBody), MaxLocations: c.THTTP.MaxLocations, DefaultTTL: c.THTTP.DefaultTTL, MaxTTL: c.THTTP.MaxTTL, Now: s.now,
		Hop: s.hop, Schemes: schemes(c), Observe: told.gateway("thttp"),
	})
	discovery, err := wireDDDS(p, c, resolution, s)
	if err != nil {
		return err
	}
	located, err := wireSLP(p, c, resolution, s)
	if err != nil {
		return err
	}
	members := []resolver.Member{
		{Name: "ddds", Resolver: discovery.urns},
		{Name: "slp", Resolver: located},
		{Name: "thttp", Resolver: thttp.NewResolver(resolution, servers(c))},
		{Name: "namespace", Resolver: resolver.NewNamespaces(names.Set, c.Resolve.RuleTTL)},
	}
	last, err := elsewhere(c)
	if err != nil {
		return err
	}
	chain, err := resolver.NewChain(resolver.ChainConfig{
		Members: members, Order: defaultOrder(c), Orders: orders(c), Last: last, Unknown: unknown(c),
	})
	if err != nil {
		return err
	}
	answers, err := newCache(p, c, s, "answers", c.Cache.Answers, true, resolver.LocationsSize)
	if err != nil {
		return err
	}
	begin, err := wireTelemetry(p, c, s)
	if err != nil {
		return err
	}
	p.answers, p.names = answers, names
	split := resolver.Split{Names: resolver.NewCached(answers, resolver.Limit{Slots: p.bounds.requests, Next: chain}), Locations: scheme.NewSelf()}
	if discovery.uris != nil {
		split.Others = resolver.NewCached(answers, resolver.Limit{Slots: p.bounds.requests, Next: discovery.uris})
	}
	p.resolver = resolver.NewCanonical(names, split)
	p.service = proxy.New(proxy.Config{
		Resolver:  p.resolver,
		Names:     names,
		RuleTTL:   c.Resolve.RuleTTL,
		Fetch:     origin,
		Log:       s.log,
		Now:       s.now,
		Observe:   told.logged(s.access, s.now),
		Identify:  s.access != nil,
		Begin:     begin,
		Access:    access,
		Hop:       s.hop,
		Slots:     p.bounds.requests,
		MaxTarget: int(c.Limits.Target),
	})
	administration, err := adminOf(p, c, s)
	p.admin = proxy.NewAdmin(administration)
	return err
}

// maxIdle bounds the connections to origins that are kept for later.
const maxIdle = 256
