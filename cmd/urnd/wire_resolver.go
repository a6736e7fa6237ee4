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

// resolverDependencies are the dependencies of the resolver of a configuration.
type resolverDependencies struct {
	now     func() time.Time
	metrics *metrics.Metrics
	// fields adds fields to requests to resolution servers; nil adds none.
	fields func(ctx context.Context, fields *httpmessage.Fields)
	// queried is called with the outcome of each DNS query; nil is allowed.
	queried func(answered bool)
	// unusable is called with a URL of an SLP reply that cannot be used, and the reason; nil is allowed.
	unusable func(url string, reason error)
	// registryState is called with an error when the registry becomes unavailable, and with nil when it is
	// available again; nil is allowed.
	registryState func(err error)
	registryMade  func(file string) // called with the path of a newly created registry file
	// sharedState is called with an error when the second level of the caches becomes unavailable, and with
	// nil when it is available again; sharedPoisoned is called with data on its server that no urnd has
	// written. nil is allowed.
	sharedState    func(err error)
	sharedPoisoned func(what string)
	// panicked is called with the value and the stack of a recovered panic.
	panicked func(value any, stack []byte)
	own      *netguard.OwnAddrs // the addresses that urnd listens on
	stopping <-chan struct{}    // closed when urnd stops; nil for commands
	previous *resolution        // that of the configuration in force before a reload; nil at the start
}

// newResolverDependencies returns the dependencies of a command without a daemon.
func newResolverDependencies() resolverDependencies {
	m := metrics.New(versionText())
	return resolverDependencies{
		now: time.Now, metrics: m, own: new(netguard.OwnAddrs), registryMade: func(string) {},
		panicked: func(any, []byte) { m.Panic() },
	}
}

// resolution is the resolver of a configuration with its caches and clients. It has no listener.
type resolution struct {
	resolver resolver.Resolver
	names    resolver.Names
	answers  resolver.AnswerCache

	// Systems with caches; nil if they are disabled.
	urns, uris *ddds.Resolver
	servers    *slp.Resolver
	records    observe.Cache[ddds.Records]
	found      observe.Cache[slp.Servers]

	// purged is called after purges of this process; a nil function is not.
	purged atomic.Pointer[func(resolver.Selection)]
	level  *valkey.Level // the second level of caches; nil for none
	limits limits
	dns    dnsClient
	guard  *netguard.Guard                 // for all outgoing connections but those to configured servers
	ready  func(ctx context.Context) error // queries the DNS servers; nil without any
	shared shared.Values                   // values that the next configuration may reuse
	// registry is the registry of the site; nil for none.
	registry *follow.Store
	own      *lookup.Resolver // by the registry; nil without a registry
	history  resolver.History // of the registry; nil without a registry
	// readiness are the reports of the parts: reasons why urnd is not ready, and why it is degraded.
	readiness []func() (unready, degraded []string)
	avoided   []avoidance // currently failing servers
	starters  []func()    // functions that start goroutines
	caches    []observe.Observed
	closers   []func()
}

// serverKind is the role of a server.
type serverKind uint8

const (
	dnsServer serverKind = iota
	resolutionServer
	directoryAgent
	origin // or the server of a gateway
)

// avoidance lists the currently failing servers of a kind.
type avoidance struct {
	is     serverKind
	needed bool // most names depend on all of them, not only on one of several
	list   func() []resolver.Avoided
}

// backoff returns the backoff of the servers of a kind.
func (r *resolution) backoff(is serverKind, c config.Resolve, d resolverDependencies) *resolver.Backoff {
	made := resolver.NewBackoff(c.Backoff, d.now)
	r.avoided = append(r.avoided, avoidance{is, false, made.Avoided})
	return made
}

// openResolution returns the resolution of names for a command, with the registry.
func openResolution(ctx context.Context, c config.Config, messages io.Writer) (cli.Resolution, error) {
	r, err := newResolution(c, newResolverDependencies())
	if err != nil {
		return cli.Resolution{}, err
	}
	r.openRegistry(ctx, messages)
	return cli.Resolution{Names: r.names, Resolver: r.resolver, Close: r.close}, nil
}

// reportPurged reports that the answers of a selection, whose name is canonical, were purged here.
func (r *resolution) reportPurged(s resolver.Selection) {
	if purged := r.purged.Load(); purged != nil {
		(*purged)(s)
	}
}

// reusable returns the values that the next configuration may reuse; nil for none.
func (r *resolution) reusable() *shared.Values {
	if r == nil {
		return nil
	}
	return &r.shared
}

// forNext returns what the next configuration takes over, without the functions of this one.
func (r *resolution) forNext() *resolution {
	return &resolution{shared: r.shared, limits: r.limits, answers: r.answers}
}

// close closes the parts in reverse order of their creation.
func (r *resolution) close() {
	r.shared.Close() // its loads use the other parts
	for i := len(r.closers) - 1; i >= 0; i-- {
		r.closers[i]()
	}
}

// newResolution wires a resolver: names go through the cache to a chain of systems, and URLs are their own
// locations.
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
	r.guard = netguard.New(c.Limits.ConnectTimeout,
		c.Access.AllowDestinations...).WithLookup(hosts.Lookup).WithoutOwn(d.own)
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
		Order: c.Order(), Orders: c.Orders(ruled()), Fallback: fallback, Unknown: unknown(c),
	}
	if r.own != nil {
		systems = systems.WithFirst(resolver.Member{Name: "registry", Resolver: r.own, History: true})
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
	r.answers = resolver.AnswerCache{Cache: answers.Cache, Entries: answers.Store, Variants: answers.Store.Keys}
	cached := func(next resolver.Resolver) resolver.Resolver {
		return resolver.NewCached(answers.Cache, next, r.limits.resolutions.Clients)
	}
	identifiers, err := identifierResolver(r, c, uris, cached)
	if err != nil {
		return err
	}
	split := &resolver.Mux{Names: cached(chain), Locations: scheme.NewSelf(), Own: identifiers, Owns: r.names.IsName}
	if uris != nil {
		split.Others = cached(uris)
	}
	if r.own != nil {
		opening := r.opening(d)
		r.history = follow.History{
			Opening: opening, Next: resolver.CanonicalHistory{
				Names: r.names, Clients: r.limits.resolutions.Clients,
				Next: r.own,
			},
		}
		r.resolver = resolver.NewCanonical(r.names, follow.Resolver{Opening: opening, Next: split})
		r.closers = append(r.closers, r.registry.Watch(r.invalidate))
		return nil
	}
	r.resolver = resolver.NewCanonical(r.names, split)
	return nil
}

// identifierResolver returns the resolver of names that are not URNs: by the registry, and outside of the
// prefixes that the site owns, by the DNS (uris, nil if it is disabled) and their public resolver.
func identifierResolver(
	r *resolution, c config.Config, uris resolver.Resolver, cached func(resolver.Resolver) resolver.Resolver,
) (resolver.Resolver, error) {
	systems := resolver.ChainConfig{Unknown: resolver.ErrNotFound}
	add := func(name string, next resolver.Resolver) {
		systems.Members, systems.Order = append(systems.Members, resolver.Member{Name: name, Resolver: next}),
			append(systems.Order, name)
	}
	if uris != nil {
		add("ddds", notLocations(uris))
	}
	add("public", resolver.NewPublicResolver(r.names.Identifiers, c.Resolve.RuleTTL))
	if r.own != nil {
		systems = systems.WithFirst(resolver.Member{Name: "registry", Resolver: r.own, History: true})
	}
	chain, err := resolver.NewChain(systems)
	if err != nil {
		return nil, err
	}
	next := cached(chain)
	if r.own != nil {
		alone := cached(lookup.Standalone{
			Resolver: r.own, TTL: c.Registry.TTL, ClientTTL: c.Registry.ClientTTL,
			SharedTTL: c.CDN.TTL,
		})
		claimed := lookup.Hosts{Resolver: alone, Names: c.Registry.HostPrefixes()}
		others := next
		next = resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
			if r.names.Claims(q.URI) {
				return claimed.Resolve(ctx, q)
			}
			return others.Resolve(ctx, q)
		})
	}
	return resolver.LocationFallback{Names: r.names, Next: next, Locations: scheme.NewSelf()}, nil
}

// notLocations returns a resolver that does not support URLs.
func notLocations(next resolver.Resolver) resolver.Resolver {
	return resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
		if q.URI.IsLocation() {
			return resolver.Answer{},
				&resolver.Negative{Kind: resolver.ErrUnsupported, Reason: "it is a URL", TTL: resolver.Forever}
		}
		return next.Resolve(ctx, q)
	})
}

// limited returns a resolver within the concurrency limit of resolutions.
func (r *resolution) limited(next resolver.Resolver) resolver.Resolver {
	return resolver.Limit{Semaphore: r.limits.resolutions.Semaphore, Next: next, Busy: errBusy}
}

// errBusy is the error at the limit of concurrent resolutions.
var errBusy = fmt.Errorf("%w: the limit of resolutions is reached (limits.requests)", resolver.ErrBusy)

// Limits of a list of locations (RFC 2169), in bytes and in locations: clients use only the first ones.
const (
	maxLocationList = 1 << 20
	maxLocations    = 100
)

// newTHTTP returns the client of resolution servers. It has a connection limit of its own, so that it never
// waits for fetches.
func newTHTTP(c config.Config, r *resolution, d resolverDependencies) *thttp.Client {
	web := schemehttp.New(schemehttp.Config{
		Dial:          r.guard.WithLimiter(r.limits.thttp).WithIdleTimeout(c.Limits.OriginIdle),
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

// maxIdle limits the idle connections.
const maxIdle = 256

// report returns the reasons why urnd is not ready, and why it is degraded, from the daemon and from each
// part. It is the only place that decides: /readyz, the page for operators, the metrics and the status for
// systemd show its result, which "urnd status" and load balancers read. docs/operations.md has a table of
// what each part reports.
func (r *resolution) report(daemon func() (unready, degraded []string)) (unready, degraded []string) {
	unready, degraded = daemon()
	for _, part := range r.readiness {
		no, but := part()
		unready, degraded = append(unready, no...), append(degraded, but...)
	}
	return unready, degraded
}

// degrading returns the report of a part whose failures never make urnd unready.
func degrading(problems func() []string) func() (unready, degraded []string) {
	return func() (unready, degraded []string) { return nil, problems() }
}
