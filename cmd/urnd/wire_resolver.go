package main

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/resolver/slp"
	"github.com/urnd/urnd/resolver/thttp"
)

// resolution is what a configuration is made into to resolve names. It listens to nobody.
type resolution struct {
	resolver resolver.Resolver
	names    resolver.Names
	answers  resolver.Answers

	// The systems that remember something; nil where they are turned off.
	urns, uris *ddds.Resolver
	servers    *slp.Resolver
	records    storedCache[ddds.Records]
	found      storedCache[slp.Servers]

	slots   slots
	guard   *netguard.Guard                 // all outgoing connections but those to servers that the configuration names
	ready   func(ctx context.Context) error // asks the first DNS server something; nil where there is none
	shared  daemon.Shared                   // caches that the next configuration may take over
	caches  []observed
	closers []func()
}

// close ends the parts in reverse order of their making.
func (r *resolution) close() {
	r.shared.Close() // ends the loads that need the others
	for i := len(r.closers) - 1; i >= 0; i-- {
		r.closers[i]()
	}
}

// newResolution is the architecture of resolution: names go through the cache to a chain
// of systems, and locations locate themselves.
func newResolution(c config.Config, d dependencies) (*resolution, error) {
	r := &resolution{slots: newSlots(c.Limits, d.before)}
	if err := r.wire(c, d); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *resolution) wire(c config.Config, d dependencies) error {
	var err error
	if r.names, err = namesOf(c); err != nil {
		return err
	}
	r.guard = newGuard(c, r, d)
	ask := newTHTTP(c, r, d)
	urns, uris, err := wireDDDS(r, c, ask, d)
	if err != nil {
		return err
	}
	discovered, err := wireSLP(r, c, ask, d)
	if err != nil {
		return err
	}
	fallback, err := fallbackOf(c)
	if err != nil {
		return err
	}
	chain, err := resolver.NewChain(resolver.ChainConfig{
		Members: []resolver.Member{
			{Name: "ddds", Resolver: urns},
			{Name: "slp", Resolver: discovered},
			{Name: "thttp", Resolver: thttp.NewResolver(ask, servers(c))},
			{Name: "namespace", Resolver: resolver.NewNamespaces(r.names.Set, c.Resolve.RuleTTL)},
		},
		Order: defaultOrder(c), Orders: orders(c), Last: fallback, Unknown: unknown(c),
	})
	if err != nil {
		return err
	}
	answers, err := newCache(r, c, d, "answers", true, memory.Config[resolver.Locations]{
		MaxBytes: int64(c.Cache.Answers), Size: resolver.LocationsSize, GroupOf: resolver.NameOfKey,
	})
	if err != nil {
		return err
	}
	r.answers = resolver.Answers{Cache: answers.Cache, Entries: answers.store, Variants: answers.store.Keys}
	remembered := func(next resolver.Resolver) resolver.Resolver {
		return resolver.NewCached(answers.Cache, resolver.Limit{Slots: r.slots.resolutions, Next: next, Busy: errBusy})
	}
	split := resolver.Split{Names: remembered(chain), Locations: scheme.NewSelf()}
	if uris != nil {
		split.Others = remembered(uris)
	}
	r.resolver = resolver.NewCanonical(r.names, split)
	return nil
}

// errBusy is that too many names are being resolved.
var errBusy = fmt.Errorf("%w: the limit of resolutions is reached (limits.requests)", resolver.ErrBusy)

// newGuard returns the way out to all but the servers that the configuration names.
func newGuard(c config.Config, r *resolution, d dependencies) *netguard.Guard {
	guard := netguard.New(c.Limits.ConnectTimeout, c.Access.AllowDestinations...)
	if len(c.DNS.Servers) > 0 { // names are looked up where the configuration says
		guard = guard.WithDNS(newDNSClient(c.DNS, c.DNS.Servers, false, r, d).Connect)
	}
	return guard
}

// newTHTTP returns the client of resolution servers. It has connections of its own, so
// that it never waits for what is fetched.
func newTHTTP(c config.Config, r *resolution, d dependencies) *thttp.Client {
	web := schemehttp.New(schemehttp.Config{
		Dial:          r.guard.Bounded(r.slots.asking).WithIdleTimeout(c.Limits.OriginIdle),
		HeaderTimeout: c.Limits.OriginTimeout, MaxIdle: min(maxIdle, cap(r.slots.asking)/2),
	})
	r.closers = append(r.closers, web.Close)
	return thttp.New(thttp.Config{
		Transport: web, Timeout: c.THTTP.Timeout,
		MaxBody: int64(c.THTTP.MaxBody), MaxLocations: c.THTTP.MaxLocations, DefaultTTL: c.THTTP.DefaultTTL, MaxTTL: c.THTTP.MaxTTL, Now: d.now,
		Fields: d.via.Fields, Schemes: schemes(c), Observe: observers{d.metrics}.gateway("thttp"),
	})
}

// maxIdle bounds the idle connections that are kept for later.
const maxIdle = 256
