package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/logs"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/observe/requests"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/internal/telemetry"
	"github.com/urnd/urnd/proxy"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/answer/gs1"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/certificate"
	"github.com/urnd/urnd/proxy/compress"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/proxy/upstream"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns/digitallink"
)

// dependencies are the dependencies of a configuration. All but the logs outlive it.
type dependencies struct {
	resolverDependencies
	log *slog.Logger
	// persistentLog is the log of the respective configuration in force, for values that outlive a reload. inForce
	// is its handler.
	persistentLog *slog.Logger
	inForce       *logs.Current
	access        accesslog.Set
	stderr        *os.File     // for logs without a file
	recent        *logs.Recent // warnings and errors of the log
	health        *daemon.Health
	via           httpmessage.ViaName // the Via name of this urnd, which a reload does not change
	snapshot      *daemon.Snapshot    // of answers
	// hookState is called with the index of a webhook and an error when its calls fail, and with nil when
	// they succeed again; hookLost is called with the number of tags that were not sent when urnd ended.
	hookState func(i int, err error)
	hookLost  func(i, tags int)
	started   time.Time                // start time of the daemon
	placed    map[string]*balance.Pool // service.placed of the previous configuration
	// origins returns those of the configuration that was read last; nil knows none.
	origins func() config.Origins
	// locate adds the file and line of a setting to an error about it, and warnings returns probable mistakes
	// in a configuration; nil is allowed.
	locate   func(error) error
	warnings func(config.Config) config.Diagnostics
}

// newDependencies returns the dependencies of a daemon that logs to standard error.
func newDependencies() dependencies {
	inForce := logs.NewCurrent(slog.DiscardHandler)
	d := dependencies{
		resolverDependencies: newResolverDependencies(), persistentLog: slog.New(inForce), inForce: inForce,
		log: slog.New(slog.DiscardHandler), stderr: os.Stderr, recent: new(logs.Recent),
		via: httpmessage.NewViaName(), snapshot: new(daemon.Snapshot),
		hookState: func(int, error) {}, hookLost: func(int, int) {},
	}
	d.started = d.now()
	d.health = daemon.NewHealth(d.now, redact.URLs)
	d.fields, d.queried = message.QueryFields(d.via), d.health.RecordQuery
	return d
}

// service is the handler of a configuration for clients.
type service struct {
	*proxy.Handler
	pages     *pages.Design
	responses *httpcache.Cache
	purges    *stored.Purges
	// refresh fetches the stored responses for a URI again.
	refresh func(ctx context.Context, key uri.URI) (int, error)
	explain stored.Explain
	checks  *health.Background
	pools   []*balance.Pool          // server pools of sites
	placed  map[string]*balance.Pool // the same by host and path, and those of upstream proxies
	lists   *ruleFiles               // of the rules
	helpers []namedPool
	// upstreams selects upstream proxies; nil for none.
	upstreams *upstream.Selector
	// authority is the ACME client; nil if it is disabled.
	authority *certificate.Manager
	closers   []func()
}

func (s *service) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
}

// batchTimeout limits the duration of a batch. Each of its names has resolve.timeout; clients request the
// remaining names again.
const batchTimeout = 2 * time.Minute

// newService wires the handler for clients: the proxy queries the resolver, and only the proxy fetches
// resources. After an error, all of its resources are closed, since each failed reload wires another one.
func newService(c config.Config, r *resolution, d dependencies) (_ *service, err error) {
	s := &service{placed: make(map[string]*balance.Pool)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.authority, err = wireAuthority(c, r, d); err != nil {
		return nil, err
	}
	access, err := accessOf(c, s, r, d)
	if err != nil {
		return nil, err
	}
	spans, err := wireTelemetry(s, c, d)
	if err != nil {
		return nil, err
	}
	web, err := newOriginClient(c, s, r, d)
	if err != nil {
		return nil, err
	}
	tunnels, err := newTunnelClient(c, s, r, d)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, web.Close, tunnels.Close)
	handlers, err := newGateways(s, c, r, d)
	if err != nil {
		return nil, err
	}
	handlers["http"], handlers["https"] = web, web
	rules, err := wireRules(s, c, r, d)
	if err != nil {
		return nil, err
	}
	sites, failures, err := wireSites(s, c, r, d)
	if err != nil {
		return nil, err
	}
	responses, err := newResponses(c, r, sharedObjects(c, r.level), d.resolverDependencies, d.persistentLog)
	if err != nil {
		return nil, err
	}
	s.purges = newPurges(c, responses.Cache, s, r.level, d)
	answered, err := wireCounts(r, c, d.resolverDependencies, d.persistentLog)
	if err != nil {
		return nil, err
	}
	if s.checks = wireHealth(c, r, d.resolverDependencies, d.log); s.checks != nil {
		s.closers = append(s.closers, s.checks.Close)
	}
	if s.pages, err = pagesOf(c); err != nil {
		return nil, err
	}
	lists := wireLists(s, c, r, d)
	hosts := c.Registry.WebHosts()
	if r.own == nil { // nothing would resolve their names
		hosts = nil
	}
	handler := proxy.New(proxy.Config{
		Resolver: r.resolver, Finder: &resolver.Finder{Names: r.names, Cache: r.answers.Cache}, Names: r.names,
		History: r.history, Handles: handlesOf(c, r.names), Lists: lists, LookupNames: knownBy(r, d),
		DescribedPrefixes: r.names.WithOwnedPrefixes(c.Registry.Describe).OwnedPrefixes,
		RuleTTL:           c.Resolve.RuleTTL, ListingTTL: c.Gateways.TTL, ListingSize: int64(c.Gateways.MaxListing),
		DocumentMemory: r.limits.documents.WithBusy(problem.ErrDocuments),
		Fetch:          observed(handlers, d),
		Schemes:        gatewayInfos(c),
		Policy:         rules, Sites: sites, Failures: failures, PAC: pacOf(c.Proxy),
		Spelling: spellings()[c.Proxy.Spelling],
		Forward: forward.Config{
			Cache: responses.Cache, Purge: func(ctx context.Context, key uri.URI) int {
				return s.purges.Purge(ctx, adminapi.ResponseSelection{URI: key}, false)
			},
			Forwarded: forwardings()[c.Proxy.Forwarded], Underscores: c.Proxy.Underscores,
			Fetches: r.limits.fetches.WithBusy(problem.ErrTooManyFetches),
			Streams: r.limits.streams.WithBusy(problem.ErrTooManyStreams),
			Bound:   r.limits.bound.WithBusy(problem.ErrTooManyBoundConnections),
			Tunnel:  tunnelBy(tunnels), TunnelPort: config.InRanges(c.Proxy.ConnectPorts),
			TunnelIdle: c.Limits.TunnelIdle,
		},
		Log: d.log, Now: d.now,
		Observers: proxy.Observers{
			Observe:   requests.Observer(d.metrics, d.access, d.now),
			StartSpan: spans.begin, SkipSpan: spans.untraced, Answered: answered, Unhealthy: s.checks.Unhealthy(),
			Panicked: d.panicked,
		},
		Compress: compress.New(compress.Config{
			Codings: c.Compression.Codings, Types: c.Compression.Types, WithCredentials: c.Compression.WithCredentials,
			Compressed: d.metrics.Compressed,
		}),
		Tags: tagsOf(c.CDN), SendRequestID: len(d.access) > 0, Access: access, OwnHosts: ownHosts(c.Listen, hosts...),
		Hosts: hosts, Identifiers: identifierSites(c.Registry, r.names.Roots), CORS: c.Access.CORS, Via: d.via,
		ClientQuotaPercent: c.Limits.ClientShare, NetworkFactor: c.Limits.NetworkFactor, BatchTimeout: batchTimeout,
		MaxTarget:   int(c.Limits.Target),
		RedirectTLS: c.Listen.RedirectTLS, TLSPort: tlsPort(c.Listen.TLS), HSTS: hsts(c.Listen.HSTS),
		Challenge: challengeOf(s.authority), PublicURL: c.Listen.PublicURL, SecurityContact: c.Access.SecurityContact,
		Support: answer.Support{
			Who: c.ARK.SupportWho, What: c.ARK.SupportWhat, When: c.ARK.SupportWhen,
			Where: c.ARK.SupportWhere,
		},
		Pages: s.pages,
	})
	s.Handler, s.responses, s.refresh, s.explain = handler, responses.Cache, handler.Refresh,
		explainer(c.Proxy, handler)
	return s, nil
}

// tlsPort returns the port of the first TLS listener, "" for the default port, or for a socket of systemd.
func tlsPort(addresses []string) string {
	if len(addresses) == 0 {
		return ""
	}
	_, port, err := net.SplitHostPort(addresses[0])
	if err != nil || port == "443" || port == "0" {
		return ""
	}
	return port
}

// accessOf returns the access rules of a configuration.
func accessOf(all config.Config, s *service, r *resolution, d dependencies) (gate.Access, error) {
	c := all.Access
	a := gate.Access{
		Resolve: c.ResolveClients, Proxy: c.ProxyClients, Trusted: c.TrustedProxies, BypassCache: c.FreshClients,
		Browse: c.BrowseClients, BrowseAll: c.BrowseAllClients, Purge: c.PurgeClients, Embedders: c.Embedders,
		Rate: all.Limits.Rate,
	}
	var err error
	if a.Groups, err = memberships(all, s, r, d); err != nil {
		return a, err
	}
	if a.Negotiate, a.LoginTTL, err = negotiations(all, s, r, d); err != nil {
		return a, err
	}
	if c.ProxyUsers == "" {
		a.Users, err = passwordsOf(all, s, r, d)
		return a, err
	}
	users, err := usersOf("access.proxy_users", c.ProxyUsers, r, d)
	if err != nil {
		return a, err
	}
	a.Users = users
	return a, nil
}

// groupsOf returns the group file of the proxy, nil for none.
func groupsOf(c config.Config) (gate.GroupFile, error) {
	if c.Access.ProxyGroups == "" {
		return nil, nil //nolint:nilnil // no groups are configured, which is no error
	}
	text, err := secret.Read("access.proxy_groups", c.Access.ProxyGroups)
	if err != nil {
		return nil, err
	}
	groups, err := gate.ParseGroups(text)
	if err != nil {
		return nil, fmt.Errorf("access.proxy_groups: %w", err)
	}
	return groups, nil
}

// usersOf returns the users of a password file. Those of the previous configuration are reused if the file is
// unchanged, with their cache of correct passwords.
func usersOf(setting, file string, r *resolution, d dependencies) (*gate.Users, error) {
	text, err := secret.Read(setting, file)
	if err != nil {
		return nil, err
	}
	users, err := gate.ParseUsers(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return shared.Reuse(&r.shared, d.previous.reusable(), "users of "+setting, string(text),
		func() (*gate.Users, func(), error) {
			return users, func() {}, nil
		})
}

// observed returns a Handler whose exchanges are counted.
func observed(h scheme.Handler, d dependencies) scheme.Handler {
	return observe.Handler{Handler: h, Observe: observe.Exchanges(d.metrics, "fetch"), Now: d.now}
}

// tracing are the functions that start spans, and count requests without one: nil if telemetry is disabled.
type tracing struct {
	begin    func(string, httpmessage.Header, time.Time, bool) proxy.Span
	untraced func() bool
}

// instanceOf returns the name of this instance: that of the machine, with the port of its first listener for
// clients.
func instanceOf(c config.Listen) string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	for _, address := range append(slices.Clone(c.Service), c.TLS...) {
		if _, port, err := net.SplitHostPort(address); err == nil {
			return net.JoinHostPort(name, port)
		}
	}
	return name
}

// wireTelemetry returns the functions for spans.
func wireTelemetry(s *service, c config.Config, d dependencies) (tracing, error) {
	if c.Telemetry.Endpoint == "" {
		return tracing{}, nil
	}
	settings := telemetryConfig(c)
	settings.Failed = func(err error) { d.log.Warn("trace export failed, spans dropped", "error", err) }
	tracer, err := telemetry.New(settings)
	if err != nil {
		return tracing{}, fmt.Errorf("telemetry.endpoint: %w", err)
	}
	s.closers = append(s.closers, tracer.Close)
	return tracing{requests.Spans(tracer), tracer.Untraced}, nil
}

// telemetryConfig returns the configuration of the exporter of traces.
func telemetryConfig(c config.Config) telemetry.Config {
	guard := netguard.NewUnrestricted(c.Limits.ConnectTimeout)
	return telemetry.Config{
		Endpoint: c.Telemetry.Endpoint, Sample: uint64(c.Telemetry.Sample), //nolint:gosec // it is not negative
		Version: versionText(), Instance: instanceOf(c.Listen), Dial: guard.DialContext,
	}
}

// identifierSites describes the resolvers of identifiers in web addresses. Those of schemes other than GS1's
// have no description file.
func identifierSites(c config.Registry, roots digitallink.Roots) (sites []gs1.Site) {
	for i := range roots {
		d := c.DigitalLink[i]
		if cmp.Or(d.Scheme, config.SchemeGS1) != config.SchemeGS1 {
			continue
		}
		sites = append(sites, gs1.Site{
			Host: roots[i].Host(), Root: roots[i].URL(), Keys: roots[i].Scheme.Codes(), Name: d.Name,
			Contact: d.Contact, Terms: d.Terms, Contexts: d.Contexts,
		})
	}
	return sites
}

// handlesOf returns the mapping from handles to names of the registry.
func handlesOf(c config.Config, names resolver.Names) (handles route.Handles) {
	for _, h := range c.Registry.Handles {
		beginning := h.NamePrefix()
		if canonical, err := names.CanonicalPrefix(beginning); err == nil {
			beginning = canonical
		}
		handles = append(handles, route.HandlePrefix{Prefix: h.Prefix, Names: beginning})
	}
	return handles
}

// dnsProbeEvery is the interval of the probes while no DNS server responds.
const dnsProbeEvery = 2 * time.Second

// probeDNS queries a root while no DNS server responds, so that health detects their recovery even without
// requests for names.
func probeDNS(r *resolution, roots []string, health *daemon.Health) {
	ask := ddds.QueryRoot(r.dns, append(slices.Clone(roots), ".")[0])
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	r.starters = append(r.starters, func() {
		running.Go(func() {
			every := time.NewTicker(dnsProbeEvery)
			defer every.Stop()
			for {
				select {
				case <-every.C:
				case <-ctx.Done():
					return
				}
				if health.AwaitsDNS() {
					_ = ask(ctx) // health receives its result
				}
			}
		})
	})
	r.closers = append(r.closers, func() {
		cancel()
		running.Wait()
	})
}
