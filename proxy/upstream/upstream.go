// Package upstream selects the ways on which requests leave: through one of several upstream proxies, by the host of the request, or by
// none. A URI goes in, and a route comes out, whose proxies are tried one after another; what could not be connected to is left out for
// a while.
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

// failureTime is how long a proxy that could not be connected to is left out where there is another way.
const failureTime = 30 * time.Second

// Key is by what a hash selects a proxy.
type Key uint8

// The keys.
const (
	ByURL  Key = iota // all requests for a URL go by the same proxy
	ByHost            // all requests for a host do
)

// Rule says on which ways requests for some hosts go.
type Rule struct {
	Hosts []string // as those of policy.Rule; empty: all
	// Servers are the proxies, each with another URL; none: urnd connects by itself.
	Servers []Server
	// Direct is whether urnd connects by itself where no proxy can be connected to.
	Direct   bool
	Method   balance.Method
	Key      Key           // of balance.Hash
	Interval time.Duration // between the probes of a proxy; 0 is no probes
}

// Server is an upstream proxy.
type Server struct {
	URL      uri.URI // http, https or socks5, host and port
	Weight   int     // as that of balance.Server
	Upstream *schemehttp.Upstream
}

// Config is what New needs. Now is required.
type Config struct {
	Rules []Rule // the first whose hosts match decides; where there is none, urnd connects by itself
	Now   func() time.Time
	Log   *slog.Logger // nil for none
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
	pool      *balance.Pool // nil for none
	upstreams map[uri.URI]*schemehttp.Upstream
	names     map[*schemehttp.Upstream]string
	backoff   *resolver.Backoff
}

// New returns a Selector. It opens and starts nothing.
func New(config Config) (*Selector, error) {
	s := &Selector{backoff: resolver.NewBackoff(failureTime, config.Now)}
	rules := make([]policy.Rule, 0, len(config.Rules))
	for i, r := range config.Rules {
		rules = append(rules, policy.Rule{ID: strconv.Itoa(i), Hosts: r.Hosts})
		s.groups = append(s.groups, s.newGroup(r, config))
	}
	var err error
	if s.rules, err = policy.New(policy.Enforce, rules); err != nil {
		return nil, fmt.Errorf("hosts of upstream proxies: %w", err)
	}
	return s, nil
}

func (s *Selector) newGroup(r Rule, config Config) *group {
	g := &group{
		Rule: r, upstreams: make(map[uri.URI]*schemehttp.Upstream), names: make(map[*schemehttp.Upstream]string), backoff: s.backoff,
	}
	if len(r.Servers) == 0 {
		return g
	}
	settings := balance.Config{
		Method: r.Method, Check: balance.Check{Interval: r.Interval}, Failing: s.backoff.Failing, Now: config.Now, Log: config.Log,
		Kind: "an upstream proxy",
	}
	for _, server := range r.Servers {
		url := server.URL.Normalize()
		settings.Servers = append(settings.Servers, balance.Server{URL: url, Weight: server.Weight})
		g.upstreams[url], g.names[server.Upstream] = server.Upstream, balance.NameOf(url)
	}
	g.pool = balance.New(settings)
	return g
}

// SetProbe sets what connects to a proxy once, by which all are probed from now on: see balance.Pool.SetProbe. A proxy that it could
// connect to is not left out any more.
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

// Status returns what is known of the proxies, each rule's in its order.
func (s *Selector) Status() (all []balance.ServerStatus) {
	for _, g := range s.groups {
		if g.pool != nil {
			all = append(all, g.pool.Status()...)
		}
	}
	return all
}

// Route returns the ways to the server of a URI, nil where urnd connects by itself, and none for a URI that no rule can be compared with.
func (s *Selector) Route(u uri.URI) schemehttp.Route {
	u = u.Normalize()
	r, err := policy.NewRequest(netip.Addr{}, "", "", u)
	if err != nil {
		return noWay{}
	}
	number, err := strconv.Atoi(s.rules.Decide(r).Rule)
	if err != nil { // no rule
		return nil
	}
	g := s.groups[number]
	if g.pool == nil {
		return nil
	}
	key := r.Host
	if g.Key == ByURL {
		key = u.String()
	}
	return &route{group: g, key: key}
}

// noWay is a route without ways.
type noWay struct{}

// Next implements schemehttp.Route.
func (noWay) Next() (u *schemehttp.Upstream, ok bool) { return nil, false }

// Failed implements schemehttp.Route.
func (noWay) Failed(*schemehttp.Upstream, error) {}

// route is the ways of one request.
type route struct {
	group *group
	key   string
	tried balance.Tried
}

// Next implements schemehttp.Route. Where urnd may connect by itself, proxies that are down or failing are not tried at all.
func (r *route) Next() (u *schemehttp.Upstream, ok bool) {
	pick := r.group.pool.Pick
	if r.group.Direct {
		pick = r.group.pool.PickUp
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
