// Package upstream selects the route of each outgoing request: through one of several upstream proxies, or a
// direct connection. A URI enters; a route leaves, whose proxies are tried in order. Rules match by the host of
// the URI, and a proxy that could not be connected to is skipped for a while. No RFC specifies it: the proxies
// themselves are those of RFC 9110 and RFC 1928.
package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/resolver"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// failureTime is the time for which a proxy that could not be connected to is skipped if there is an
// alternative.
const failureTime = 30 * time.Second

// NewFailures returns the memory of proxies that could not be connected to, which several Selectors may use.
func NewFailures(now func() time.Time) *resolver.Backoff {
	return resolver.NewBackoff(failureTime, now)
}

// HashKey selects the input of balance.Hash.
type HashKey uint8

// The keys.
const (
	ByURL  HashKey = iota // requests for a URL use the same proxy
	ByHost                // requests for a host use the same proxy
)

// Rule configures the proxies for requests to some hosts.
type Rule struct {
	Hosts []string // patterns as in policy.Rule; empty matches all
	// Servers are the proxies, with unique URLs; empty connects directly.
	Servers []Server
	// Direct connects directly if no proxy can be connected to.
	Direct   bool
	Method   balance.Method
	HashKey  HashKey       // input of balance.Hash
	Interval time.Duration // between probes of a proxy; 0 disables probes
	// Previous is the pool that the proxies of this rule replace: see balance.Config.Previous.
	Previous *balance.Pool
}

// Server is an upstream proxy.
type Server struct {
	URL      uri.URI // http, https or socks5, host and port
	Weight   int     // as in balance.Server
	Upstream *schemehttp.Upstream
}

// Config configures a Selector. Now is required.
type Config struct {
	Rules    []Rule            // the first rule with a matching host applies; without one, urnd connects directly
	Failures *resolver.Backoff // of NewFailures; nil is a new one
	Now      func() time.Time
	Log      *slog.Logger // nil for none
}

// Selector selects routes. It is safe for concurrent use.
type Selector struct {
	rules   *policy.Policy
	groups  []*group // by rule
	backoff *resolver.Backoff
}

// group is the proxies of a rule.
type group struct {
	Rule
	pool      *balance.Pool // nil for a rule without proxies
	upstreams map[uri.URI]*schemehttp.Upstream
	names     map[*schemehttp.Upstream]string
	backoff   *resolver.Backoff
}

// New returns a Selector, without connections or goroutines.
func New(config Config) (*Selector, error) {
	s := &Selector{backoff: config.Failures}
	if s.backoff == nil {
		s.backoff = NewFailures(config.Now)
	}
	rules := make([]policy.Rule, 0, len(config.Rules))
	for i, r := range config.Rules {
		rules = append(rules, policy.Rule{ID: strconv.Itoa(i), Hosts: r.Hosts})
		s.groups = append(s.groups, s.newGroup(r, config))
	}
	var err error
	if s.rules, err = policy.New(policy.ModeEnforce, rules); err != nil {
		return nil, fmt.Errorf("hosts of upstream proxies: %w", err)
	}
	return s, nil
}

func (s *Selector) newGroup(r Rule, config Config) *group {
	g := &group{
		Rule: r, upstreams: make(map[uri.URI]*schemehttp.Upstream), names: make(map[*schemehttp.Upstream]string),
		backoff: s.backoff,
	}
	if len(r.Servers) == 0 {
		return g
	}
	settings := balance.Config{
		Method: r.Method, HealthCheck: balance.HealthCheck{Interval: r.Interval}, Failing: s.backoff.Failing,
		Now: config.Now, Log: config.Log,
		Kind: "upstream proxy", Previous: r.Previous,
	}
	g.Previous = nil // not kept in memory
	for _, server := range r.Servers {
		url := server.URL.Normalize()
		settings.Servers = append(settings.Servers, balance.Server{URL: url, Weight: server.Weight})
		g.upstreams[url], g.names[server.Upstream] = server.Upstream, balance.NameOf(url)
	}
	g.pool = balance.New(settings)
	return g
}

// Pool returns the proxies of a rule, by its index; nil for a rule without proxies.
func (s *Selector) Pool(i int) *balance.Pool { return s.groups[i].pool }

// SetProbe replaces the function that connects to a proxy once to probe it: see balance.Pool.SetProbe. A proxy
// with a successful probe is no longer skipped.
func (s *Selector) SetProbe(probe func(ctx context.Context, u *schemehttp.Upstream) error) {
	for _, g := range s.groups {
		if g.pool == nil {
			continue
		}
		g.pool.SetProbe(func(ctx context.Context, server uri.URI, _ string) (int, error) {
			attempt := s.backoff.Begin(balance.NameOf(server))
			defer attempt.Abandon()
			if err := probe(ctx, g.upstreams[server]); err != nil {
				return 0, err
			}
			attempt.Answered()
			return http.StatusOK, nil
		})
	}
}

// Run probes the proxies until the context ends. It is called once.
func (s *Selector) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, g := range s.groups {
		if g.pool != nil {
			running.Go(func() { g.pool.Run(ctx) })
		}
	}
	running.Wait()
}

// Status returns a snapshot of the proxies, in the order of the rules and of their servers.
func (s *Selector) Status() (all []balance.ServerStatus) {
	for _, g := range s.groups {
		if g.pool != nil {
			all = append(all, g.pool.Status()...)
		}
	}
	return all
}

// Route returns the route to the server of a URI; nil connects directly. For a URI that rules cannot be
// compared with, the route is empty.
func (s *Selector) Route(u uri.URI) schemehttp.Route {
	u = u.Normalize()
	r, err := policy.NewRequest(netip.Addr{}, "", "", u)
	if err != nil {
		return noRoute{}
	}
	number, err := strconv.Atoi(s.rules.Decide(r).Rule)
	if err != nil { // no rule matches
		return nil
	}
	g := s.groups[number]
	if g.pool == nil {
		return nil
	}
	key := r.Host
	if g.HashKey == ByURL {
		key = u.String()
	}
	return &route{group: g, key: key}
}

// noRoute is an empty route, which fails the request.
type noRoute struct{}

// Next implements schemehttp.Route.
func (noRoute) Next() (u *schemehttp.Upstream, ok bool) { return nil, false }

// Failed implements schemehttp.Route.
func (noRoute) Failed(*schemehttp.Upstream, error) {}

// route is the route of one request.
type route struct {
	group *group
	key   string
	tried balance.Tried
}

// Next implements schemehttp.Route. If the rule allows direct connections, proxies that are down or failing are
// skipped.
func (r *route) Next() (u *schemehttp.Upstream, ok bool) {
	pick := r.group.pool.Pick
	if r.group.Direct {
		pick = r.group.pool.PickAvailable
	}
	picked, ok := pick(r.key, &r.tried)
	if !ok {
		return nil, r.group.Direct
	}
	picked.Release()
	return r.group.upstreams[picked.Server], true
}

// Failed implements schemehttp.Route.
func (r *route) Failed(u *schemehttp.Upstream, err error) {
	attempt := r.group.backoff.Begin(r.group.names[u])
	attempt.Unreachable(err)
	for url, upstream := range r.group.upstreams {
		if upstream == u {
			r.group.pool.Report(url, err)
		}
	}
}
