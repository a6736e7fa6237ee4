package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/registry/follow"
	"github.com/urnd/urnd/resolver/registry/lookup"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/resolver/slp"
	"github.com/urnd/urnd/resolver/thttp"
)

// resolverDependencies are what the resolver of a configuration is wired to.
type resolverDependencies struct {
	now     func() time.Time
	metrics *metrics.Metrics
	// fields adds fields to requests to resolution servers; nil adds none.
	fields func(ctx context.Context, fields *httpmessage.Fields)
	// queried is called with the outcome of each DNS query; nil is not.
	queried func(answered bool)
	// unusable is called with what SLP lists and why it cannot be used; nil is not.
	unusable func(url string, reason error)
	// registryState is called when the registry can be asked no longer, with the reason, and when it can be
	// again; nil is not.
	registryState func(err error)
	registryMade  func(file string) // called when there was no registry, with the file that was made
	// sharedState is called with why the second level of the caches is not used, and with nil when it is again; sharedPoisoned with what its
	// server had that no urnd has written. nil is not.
	sharedState    func(err error)
	sharedPoisoned func(what string)
	// panicked is called with a panic that was recovered, and its stack.
	panicked func(value any, stack []byte)
	own      *netguard.Own   // the addresses that urnd listens on
	stopping <-chan struct{} // closed when urnd stops; nil for commands
	previous *resolution     // that of the configuration in force before a reload; nil at the start
}

// newResolverDependencies returns those of a command without a daemon.
func newResolverDependencies() resolverDependencies {
	m := metrics.New(versionText())
	return resolverDependencies{
		now: time.Now, metrics: m, own: new(netguard.Own), registryMade: func(string) {}, panicked: func(any, []byte) { m.Panic() },
	}
}

// resolution is the resolver of a configuration with its caches and clients. It does not listen.
type resolution struct {
	resolver resolver.Resolver
	names    resolver.Names
	answers  resolver.Answers

	// The systems with caches; nil where they are turned off.
	urns, uris *ddds.Resolver
	servers    *slp.Resolver
	records    observe.Cache[ddds.Records]
	found      observe.Cache[slp.Servers]

	// purged is told what was purged here; a nil one is not.
	purged atomic.Pointer[func(resolver.Selection)]
	level  *valkey.Level // the second level of caches; nil where there is none
	limits limits
	dns    dnsClient
	guard  *netguard.Guard                 // for all outgoing connections but those to configured servers
	ready  func(ctx context.Context) error // sends a query to the DNS servers; nil where there is none
	shared shared.Values                   // caches that the next configuration may reuse
	// registry is that of the site; nil where there is none.
	registry *follow.Store
	own      *lookup.Resolver // by the registry; nil where there is none
	history  resolver.History // of the registry; nil where there is none
	// readiness are the reports of parts: why what they promise cannot be had, and what is wrong although it can.
	readiness []func() (unready, degraded []string)
	avoided   []avoidance // servers that fail now
	starters  []func()    // what runs in the background is started by these
	caches    []observe.Observed
	closers   []func()
}

// serverKind is what a server is for urnd.
type serverKind uint8

const (
	dnsServer serverKind = iota
	resolutionServer
	directoryAgent
	origin // or what a gateway asks
)

// avoidance are the servers of a kind that fail now.
type avoidance struct {
	is       serverKind
	isNeeded bool // by most names: they are not one of many
	list     func() []resolver.Avoided
}

// backoff returns what remembers servers of a kind that cannot be reached.
func (r *resolution) backoff(is serverKind, c config.Resolve, d resolverDependencies) *resolver.Backoff {
	made := resolver.NewBackoff(c.Backoff, d.now)
	r.avoided = append(r.avoided, avoidance{is, false, made.Avoided})
	return made
}

// openResolution makes what resolves names for a command, with the registry.
func openResolution(ctx context.Context, c config.Config, messages io.Writer) (cli.Resolution, error) {
	r, err := newResolution(c, newResolverDependencies())
	if err != nil {
		return cli.Resolution{}, err
	}
	r.openRegistry(ctx, messages)
	return cli.Resolution{Names: r.names, Resolver: r.resolver, Close: r.close}, nil
}

// tellPurged tells that answers of a selection, whose name is canonical, were purged here.
func (r *resolution) tellPurged(s resolver.Selection) {
	if purged := r.purged.Load(); purged != nil {
		(*purged)(s)
	}
}

// reusable returns what the next configuration may reuse; nil has nothing.
func (r *resolution) reusable() *shared.Values {
	if r == nil {
		return nil
	}
	return &r.shared
}

// close closes the parts in reverse order of their creation.
func (r *resolution) close() {
	r.shared.Close() // its loads use the other parts
	for i := len(r.closers) - 1; i >= 0; i-- {
		r.closers[i]()
	}
}

// newResolution wires a resolver: names go through the cache to a chain of systems, and
// URLs are their own locations.
func newResolution(c config.Config, d resolverDependencies) (*resolution, error) {
	r := &resolution{limits: newLimits(c.Limits, d.previous)}
	if err := r.wire(c, d); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *resolution) wire(c config.Config, d resolverDependencies) error {
	var err error
	if r.names, err = namesOf(c); err != nil {
		return err
	}
	if err = wireRegistry(r, c, d); err != nil {
		return err
	}
	if err = wireShared(r, c, d); err != nil {
		return err
	}
	hosts, err := wireDNS(r, c, d)
	if err != nil {
		return err
	}
	r.guard = netguard.New(c.Limits.ConnectTimeout, c.Access.AllowDestinations...).WithLookup(hosts.Lookup).Except(d.own)
	client := newTHTTP(c, r, d)
	urns, uris := wireDDDS(r, c, client, d)
	discovered, err := wireSLP(r, c, client, d)
	if err != nil {
		return err
	}
	fallback, err := fallbackOf(c)
	if err != nil {
		return err
	}
	systems := resolver.ChainConfig{
		Members: []resolver.Member{
			{Name: "ddds", Resolver: urns},
			{Name: "slp", Resolver: discovered},
			{Name: "thttp", Resolver: r.limited(thttp.NewResolver(client, c.THTTPServers()))},
			{Name: "namespace", Resolver: resolver.NewNamespaces(r.names.Set, c.Resolve.RuleTTL)},
		},
		Order: c.Order(), Orders: c.Orders(ruled()), Last: fallback, Unknown: unknown(c),
	}
	if r.own != nil {
		systems = systems.First(resolver.Member{Name: "registry", Resolver: r.own, History: true})
	}
	chain, err := resolver.NewChain(systems)
	if err != nil {
		return err
	}
	answers, err := newCache(r, c, d, "answers", config.Answers, true, memory.Config[resolver.Locations]{
		MaxBytes: int64(c.Cache.Answers), Size: resolver.LocationsSize, GroupOf: resolver.NameOfKey,
	}, sharedAnswers(r, c))
	if err != nil {
		return err
	}
	r.answers = resolver.Answers{Cache: answers.Cache, Entries: answers.Store, Variants: answers.Store.Keys}
	cached := func(next resolver.Resolver) resolver.Resolver {
		return resolver.NewCached(answers.Cache, next, r.limits.resolutions.Clients)
	}
	identifiers, err := identifierResolver(r, c, uris, cached)
	if err != nil {
		return err
	}
	split := &resolver.Split{Names: cached(chain), Locations: scheme.NewSelf(), Own: identifiers, Owns: r.names.IsName}
	if uris != nil {
		split.Others = cached(uris)
	}
	if r.own != nil {
		opening := r.opening(d)
		r.history = follow.History{
			Opening: opening, Next: resolver.Past{Names: r.names, Clients: r.limits.resolutions.Clients, Next: r.own},
		}
		r.resolver = resolver.NewCanonical(r.names, follow.Resolver{Opening: opening, Next: split})
		r.closers = append(r.closers, r.registry.Watch(r.forgetChanged))
		return nil
	}
	r.resolver = resolver.NewCanonical(r.names, split)
	return nil
}

// identifierResolver returns the resolver of names that are no URNs: by the registry, and where the site does not claim to have them itself, by the
// DNS (uris, nil where it is not asked for them) and their public resolver.
func identifierResolver(
	r *resolution, c config.Config, uris resolver.Resolver, cached func(resolver.Resolver) resolver.Resolver,
) (resolver.Resolver, error) {
	systems := resolver.ChainConfig{Unknown: resolver.ErrNotFound}
	add := func(name string, next resolver.Resolver) {
		systems.Members, systems.Order = append(systems.Members, resolver.Member{Name: name, Resolver: next}), append(systems.Order, name)
	}
	if uris != nil {
		add("ddds", notLocations(uris))
	}
	add("public", resolver.NewPublic(r.names.Identifiers, c.Resolve.RuleTTL))
	if r.own != nil {
		systems = systems.First(resolver.Member{Name: "registry", Resolver: r.own, History: true})
	}
	chain, err := resolver.NewChain(systems)
	if err != nil {
		return nil, err
	}
	next := cached(chain)
	if r.own != nil {
		alone := cached(lookup.Alone{Resolver: r.own, TTL: c.Registry.TTL, ClientTTL: c.Registry.ClientTTL, SharedTTL: c.CDN.TTL})
		claimed := lookup.Hosts{Resolver: alone, Names: c.Registry.HostNames()}
		others := next
		next = resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
			if r.names.Claims(q.URI) {
				return claimed.Resolve(ctx, q)
			}
			return others.Resolve(ctx, q)
		})
	}
	return resolver.OrLocation{Names: r.names, Next: next, Locations: scheme.NewSelf()}, nil
}

// notLocations returns a resolver that supports no URLs.
func notLocations(next resolver.Resolver) resolver.Resolver {
	return resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
		if q.URI.IsLocation() {
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrUnsupported, Reason: "it is a URL", TTL: resolver.Forever}
		}
		return next.Resolve(ctx, q)
	})
}

// limited returns a resolver that needs a slot for each name, as it asks others.
func (r *resolution) limited(next resolver.Resolver) resolver.Resolver {
	return resolver.Limit{Semaphore: r.limits.resolutions.Semaphore, Next: next, Busy: errBusy}
}

// errBusy is the error at the limit of concurrent resolutions.
var errBusy = fmt.Errorf("%w: the limit of resolutions is reached (limits.requests)", resolver.ErrBusy)

// The bounds of a list of locations (RFC 2169): in bytes it has room for more than are used, and clients read no more than the first.
const (
	maxLocationList = 1 << 20
	maxLocations    = 100
)

// newTHTTP returns the client of resolution servers. It has a connection limit of its own,
// so that it never waits for fetches.
func newTHTTP(c config.Config, r *resolution, d resolverDependencies) *thttp.Client {
	web := schemehttp.New(schemehttp.Config{
		Dial:          r.guard.Bounded(r.limits.thttp).WithIdleTimeout(c.Limits.OriginIdle),
		HeaderTimeout: c.Limits.OriginTimeout, MaxIdle: min(maxIdle, cap(r.limits.thttp)/2), Now: d.now,
	})
	r.closers = append(r.closers, web.Close)
	backoff := r.backoff(resolutionServer, c.Resolve, d)
	return thttp.New(thttp.Config{
		Web: web, Timeout: c.THTTP.Timeout,
		MaxBody: maxLocationList, MaxLocations: maxLocations,
		DefaultTTL: c.THTTP.DefaultTTL, MaxTTL: c.Resolve.MaxTTL, Now: d.now,
		Fields: d.fields, Schemes: c.LocationSchemes(), Observe: observe.Exchanges(d.metrics, "thttp"),
		Backoff: backoff,
	})
}

// maxIdle bounds the idle connections that are kept open.
const maxIdle = 256

// report returns why urnd is not ready, and what is wrong although it is, by what the daemon says of itself and by
// what each part does. It is the one place that decides: /readyz, the page for operators, the metrics and the status
// for systemd show what it says, and urnd status and load balancers read that. docs/operations.md has a table of what
// each part reports.
func (r *resolution) report(daemon func() (unready, degraded []string)) (unready, degraded []string) {
	unready, degraded = daemon()
	for _, part := range r.readiness {
		no, but := part()
		unready, degraded = append(unready, no...), append(degraded, but...)
	}
	return unready, degraded
}

// degrading returns the report of a part without which urnd is ready: what it is for is answered from elsewhere.
func degrading(faults func() []string) func() (unready, degraded []string) {
	return func() (unready, degraded []string) { return nil, faults() }
}
