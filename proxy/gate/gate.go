// Package gate is the access control of urnd. A client, described by its address and the header of its
// request, and a classified request (route.Request) enter; a Verdict leaves: nil, or the error of the first of
// several named steps that denies the request, in a fixed order. The same steps serve requests and the
// commands that explain a decision. It evaluates Forwarded (RFC 7239), Basic credentials (RFC 7617),
// Negotiate (RFC 4559), Fetch Metadata, and the site's policy rules (package policy).
package gate

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
)

// Step is one of the checks. The values are in the order of evaluation.
type Step uint8

// The steps.
const (
	StepHost           Step = iota // the host that the request names, and the page that initiated it
	StepClient                     // the rights of the client's address
	StepUser                       // the login
	StepUserActivation             // user activation for retrieved resources
	StepRate                       // the request rate of the client
	StepRules                      // the policy rules of the site
)

var stepNames = [...]string{"host", "client", "user", "person", "rate", "rules"}

// String returns the step in one word.
func (s Step) String() string { return stepNames[s] }

// Config configures a Gate. Access and Now must be set.
type Config struct {
	Access   Access
	OwnHosts route.OwnHosts
	Policy   *policy.Policy // the rules for clients of the proxy and of sites; nil allows all
	// Sites restrict the clients of each site, by route.Site.Index. A missing one admits all clients that may
	// resolve names.
	Sites []SiteAccess
	// NetworkFactor is the multiple of Access.Rate that the addresses of a /64 network of IPv6 have together;
	// 0 means 1.
	NetworkFactor int
	Now           func() time.Time
	Log           *slog.Logger // gets denials by rules; nil logs nothing
	// Step is called with the outcome of each step, nil for one that admits; a nil Step is not called.
	Step func(step Step, err error)
}

// Gate decides about requests. It is safe for concurrent use.
type Gate struct {
	config        Config
	allMayResolve bool        // all clients may resolve names
	rate          *quota.Rate // nil for no limit
}

// New returns a Gate.
func New(config Config) *Gate {
	g := &Gate{config: config, allMayResolve: config.Access.AllMayResolve()}
	if rate := config.Access.Rate; rate > 0 {
		g.rate = quota.NewRate(rate, config.NetworkFactor, config.Now)
	}
	return g
}

// Admit decides about a request, step by step, and counts it. The steps before the rate deny it without counting.
func (g *Gate) Admit(ctx context.Context, c *Client, a *route.Request) (v Verdict) {
	for v.Step = StepHost; ; v.Step++ {
		v.Err = g.take(ctx, &v, c, a)
		g.observe(v.Step, v.Err)
		if v.Err != nil || v.Step == StepRules {
			return v
		}
	}
}

// Waits reports whether Admit may block, as when it compares a password.
func (g *Gate) Waits(c *Client, a *route.Request) bool {
	return c.User == "" && (g.usersOf(a) != nil || g.negotiates(a))
}

// take evaluates one step.
func (g *Gate) take(ctx context.Context, v *Verdict, c *Client, a *route.Request) error {
	switch v.Step {
	case StepHost:
		return g.host(v, c, a)
	case StepClient:
		return g.client(c, a)
	case StepUser:
		return g.user(ctx, v, c, a)
	case StepUserActivation:
		if a.Kind == route.KindFetch && a.Err == nil {
			return MayRetrieve(v.Initiator, a.Target.Query.URI, a.Target.CrossSiteRedirect)
		}
		return nil
	case StepRate:
		if !g.AllowsRate(c.Addr) {
			return problem.ErrTooManyRequests
		}
		return nil
	default:
		return g.rules(ctx, v, c, a)
	}
}

func (g *Gate) observe(step Step, err error) {
	if g.config.Step != nil {
		g.config.Step(step, err)
	}
}

// AllowsRate counts one more request of a client, and reports whether it is within the rate.
func (g *Gate) AllowsRate(client netip.Addr) bool { return g.rate.Allow(client) }

// needsProxy reports whether the request needs the right to use the proxy.
func needsProxy(a *route.Request) bool {
	switch a.Kind {
	case route.KindForward, route.KindTunnel, route.KindFetch, route.KindRedirect:
		return true
	case route.KindPurge:
		return a.Site == nil
	case route.KindName:
		return a.Retrieves
	default:
		return false
	}
}

// needsResolver reports whether the request needs the right to resolve names.
func needsResolver(a *route.Request) bool {
	switch a.Kind {
	case route.KindName, route.KindRedirect, route.KindBatch, route.KindPage, route.KindSite, route.KindServer:
		return true
	case route.KindPurge:
		return a.Site != nil
	default:
		return false
	}
}

// hasRules reports whether policy rules apply to the request itself. They apply to the locations of a name
// when these are known.
func hasRules(a *route.Request) bool {
	return a.Err == nil && (a.Key.IsValid() || a.Kind == route.KindTunnel)
}

// host decides by the host that the request names: a page of another site may have sent a browser on this
// machine here by it.
func (g *Gate) host(v *Verdict, c *Client, a *route.Request) error {
	if a.Kind == route.KindFetch || a.Retrieves {
		if err := g.initiated(v, c); err != nil {
			return err
		}
	}
	isList := a.Target.Names != nil && !isForAll(g.config.Access.Browse)
	if a.UnknownHost && (needsProxy(a) || needsResolver(a) && !g.allMayResolve || isList) {
		return problem.ErrUnknownHost
	}
	return nil
}

// client decides by the address of the client.
func (g *Gate) client(c *Client, a *route.Request) error {
	access := &g.config.Access
	switch {
	case needsResolver(a) && !access.mayResolve(c):
		return problem.ErrResolveClient
	case a.Kind == route.KindSite && !g.siteAccess(a.Site).mayAccess(c):
		return problem.ErrSiteClient
	case a.Target.Names != nil && !access.mayBrowse(c):
		return problem.ErrBrowseClient
	case needsProxy(a) && !access.MayProxy(c):
		return problem.ErrProxyClient
	case a.Kind == route.KindPurge && !access.mayPurge(c):
		return problem.ErrPurgeClient
	default:
		return nil
	}
}

// MayBrowse reports whether a client may list names of the registry. It counts no request.
func (g *Gate) MayBrowse(c *Client, a *route.Request) bool {
	requested := route.Request{
		Kind: route.KindPage, UnknownHost: a.UnknownHost,
		Target: route.Target{Names: &route.Names{}},
	}
	return g.host(&Verdict{}, c, &requested) == nil && g.client(c, &requested) == nil
}

// MayBrowseAll reports whether a client may also list reserved, withdrawn and temporary names. It counts no request.
func (g *Gate) MayBrowseAll(c *Client, a *route.Request) bool {
	return !a.UnknownHost && !c.Unknown && !c.Relayed && Contains(g.config.Access.BrowseAll, c.Addr)
}

// MayProxy returns the error for a client that may not request redirects of URLs, nil for one that may. It
// counts no request.
func (g *Gate) MayProxy(ctx context.Context, c *Client, a *route.Request) error {
	requested := route.Request{Kind: route.KindRedirect, UnknownHost: a.UnknownHost}
	v := Verdict{}
	for _, v.Step = range [...]Step{StepHost, StepClient, StepUser} {
		if err := g.take(ctx, &v, c, &requested); err != nil {
			return err
		}
	}
	return nil
}
