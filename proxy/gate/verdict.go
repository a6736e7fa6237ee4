package gate

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// Verdict is whether a client may ask something. Where the rules of the site depend on the address that is dialled, it carries
// what is checked then.
type Verdict struct {
	Step      Step      // that has refused, or the last one
	Err       error     // why it is refused; nil where it is not
	User      string    // who has logged in, "" for nobody
	Initiator Initiator // who made the client ask, of what is retrieved for readers of pages
	rule      string
	check     *check // nil where the address does not matter
	look      *look  // nil where it does not matter with what a tunnel begins
}

// check is what the rules of the site say of a request by the address that is dialled, in the background also after the end of
// the request.
type check struct {
	gate    *Gate
	asked   policy.Request
	decided atomic.Pointer[string] // the id of the rule
}

// Check returns what decides by the address that is dialled, nil for nothing.
func (v *Verdict) Check() func(netip.AddrPort) error {
	if v.check == nil {
		return nil
	}
	return v.check.of
}

// Rule returns the id of the rule of the site that has decided, "" for none.
func (v *Verdict) Rule() string {
	if v.look != nil {
		if id := v.look.decided.Load(); id != nil {
			return *id
		}
	}
	if v.check == nil {
		return v.rule
	}
	if id := v.check.decided.Load(); id != nil {
		return *id
	}
	return ""
}

// Allows reports whether the rules of the site allow a response that came from an address, which a cache has. It logs nothing: where it
// is not allowed, Check is called.
func (v *Verdict) Allows(from netip.Addr) bool {
	if v.check == nil {
		return true
	}
	decision := v.check.gate.config.Policy.DecideFor(v.check.asked, from)
	v.check.decided.Store(&decision.Rule)
	return !decision.Deny
}

// Clone makes the verdict last longer than the request that it is about: lasting returns a text that is the same, and lasts.
func (v *Verdict) Clone(lasting func(string) string) {
	if v.check != nil {
		asked := &v.check.asked
		asked.Method, asked.Scheme, asked.Host = lasting(asked.Method), lasting(asked.Scheme), lasting(asked.Host)
		asked.Path, asked.Query, asked.Sent = lasting(asked.Path), lasting(asked.Query), lasting(asked.Sent)
	}
}

func (c *check) of(at netip.AddrPort) error {
	decision := c.gate.config.Policy.DecideFor(c.asked, at.Addr())
	c.decided.Store(&decision.Rule)
	return c.gate.enforce(c.asked, decision)
}

// rules decides by the rules of the site, as far as they do not depend on the address that is dialled.
func (g *Gate) rules(ctx context.Context, v *Verdict, c *Client, a *route.Ask) error {
	if !hasRules(a) {
		return nil
	}
	asked, err := askedOf(v, c, a)
	if err != nil {
		return err
	}
	if err := g.complete(ctx, &asked, a.Kind != route.KindSite); err != nil {
		return err
	}
	if a.Kind == route.KindTunnel && g.config.Policy.HasTunnelNames() {
		v.look = &look{gate: g, asked: asked}
	}
	return g.decide(v, asked)
}

// Retrieve decides by the rules of the site whether a URI in normal form, to which a name leads, is retrieved for a client.
func (g *Gate) Retrieve(ctx context.Context, c *Client, user, method string, u uri.URI) (v Verdict) {
	v = Verdict{Step: StepRules, User: user}
	asked, err := policy.NewRequest(c.Addr, user, method, u)
	if err == nil {
		err = g.complete(ctx, &asked, true)
	}
	if err == nil {
		err = g.decide(&v, asked)
	}
	v.Err = err
	return v
}

// askedOf returns what is asked as rules compare it.
func askedOf(v *Verdict, c *Client, a *route.Ask) (policy.Request, error) {
	if a.Kind == route.KindTunnel {
		return policy.Request{Client: c.Addr, User: v.User, Method: http.MethodConnect, Host: a.To.Host, Port: a.To.Port}, nil
	}
	asked, err := policy.NewRequest(c.Addr, v.User, a.Method, a.Key)
	asked.Sent, _, _ = strings.Cut(a.Spelling, "?")
	return asked, err
}

// complete adds to what is asked what only some rules depend on. The users of sites are others than those whose groups are known. Where
// rules only report, an unknown group is none.
func (g *Gate) complete(ctx context.Context, asked *policy.Request, isOfAccess bool) (err error) {
	rules := g.config.Policy
	if rules.HasTimes() {
		asked.Time = g.config.Now()
	}
	groups := rules.Groups()
	if len(groups) == 0 || asked.User == "" || g.config.Access.Groups == nil || !isOfAccess {
		return nil
	}
	asked.Groups, err = g.config.Access.Groups.Of(ctx, asked.User, groups)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case rules.Mode() == policy.Enforce:
		return fmt.Errorf("%w: %w", problem.ErrLoginUnknown, err)
	}
	if g.config.Log != nil {
		g.config.Log.Warn("the groups of a user cannot be found out: rules with groups would refuse the request", "user", asked.User, "error", err)
	}
	return nil
}

func (g *Gate) decide(v *Verdict, asked policy.Request) error {
	decision := g.config.Policy.Decide(asked)
	if !decision.Final {
		v.check = &check{gate: g, asked: asked}
		return nil
	}
	v.rule = decision.Rule
	return g.enforce(asked, decision)
}

// enforce returns the error for a request that a rule denies, and logs it. It may be called after the end of the request.
func (g *Gate) enforce(asked policy.Request, decision policy.Decision) error {
	err := g.config.Policy.Err(decision)
	if decision.Deny && g.config.Log != nil {
		text := "a rule of the site denies a request"
		if err == nil {
			text = "a rule of the site would deny a request"
		}
		g.config.Log.Info(text, "rule", decision.Rule, "client", asked.Client, "user", asked.User, "method", asked.Method,
			"scheme", asked.Scheme, "host", asked.Host, "port", asked.Port)
	}
	return err
}
