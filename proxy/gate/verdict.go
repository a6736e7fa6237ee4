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

// Verdict is the decision about a request. If policy rules depend on the destination address, it carries the
// check of that address.
type Verdict struct {
	Step         Step      // the step that denied the request, or the last one
	Err          error     // why the request is denied; nil if it is admitted
	User         string    // the authenticated user, "" for none
	Initiator    Initiator // the initiator of a request that retrieves for readers of pages
	rule         string
	addressCheck *addressCheck // nil if the address does not matter
	tunnelCheck  *tunnelCheck  // nil if the first bytes of a tunnel do not matter
}

// addressCheck applies the policy rules to the destination address of a request, which may happen in the background
// after the end of the request.
type addressCheck struct {
	gate    *Gate
	request policy.Request
	// literal is the destination if an upstream proxy hides it: the requested host. It is the zero value for a name,
	// which the proxy looks up.
	literal netip.Addr
	decided atomic.Pointer[string] // the identifier of the rule
}

// AddressCheck returns the function that decides by the destination address, nil if the address does not matter.
func (v *Verdict) AddressCheck() func(netip.AddrPort) error {
	if v.addressCheck == nil {
		return nil
	}
	return v.addressCheck.decide
}

// Rule returns the identifier of the policy rule that decided, "" for none.
func (v *Verdict) Rule() string {
	if v.tunnelCheck != nil {
		if id := v.tunnelCheck.decided.Load(); id != nil {
			return *id
		}
	}
	if v.addressCheck == nil {
		return v.rule
	}
	if id := v.addressCheck.decided.Load(); id != nil {
		return *id
	}
	return ""
}

// Allows reports whether the policy rules allow a cached response that came from an address. It logs nothing:
// the function of AddressCheck is called if the response is not allowed.
func (v *Verdict) Allows(from netip.Addr) bool {
	if v.addressCheck == nil {
		return true
	}
	return !v.addressCheck.decideFor(from).Deny
}

// Clone copies the strings of the verdict, so that it stays valid after its request. copyText returns a copy
// of a string.
func (v *Verdict) Clone(copyText func(string) string) {
	if v.addressCheck != nil {
		requested := &v.addressCheck.request
		requested.Method, requested.Scheme, requested.Host = copyText(requested.Method), copyText(requested.Scheme),
			copyText(requested.Host)
		requested.Path, requested.Query, requested.SentPath = copyText(requested.Path), copyText(requested.Query),
			copyText(requested.SentPath)
	}
}

func (c *addressCheck) decide(at netip.AddrPort) error {
	return c.gate.enforce(c.request, c.decideFor(at.Addr()))
}

func (c *addressCheck) decideFor(destination netip.Addr) policy.Decision {
	if !destination.IsValid() {
		destination = c.literal
	}
	decision := c.gate.config.Policy.DecideFor(c.request, destination)
	c.decided.Store(&decision.Rule)
	return decision
}

// rules decides by the policy rules as far as they do not depend on the destination address.
func (g *Gate) rules(ctx context.Context, v *Verdict, c *Client, a *route.Request) error {
	if !hasRules(a) {
		return nil
	}
	requested, err := newPolicyRequest(v, c, a)
	if err != nil {
		return err
	}
	if err := g.complete(ctx, &requested, a.Kind != route.KindSite); err != nil {
		return err
	}
	if a.Kind == route.KindTunnel && g.config.Policy.HasTunnelNames() {
		v.tunnelCheck = &tunnelCheck{gate: g, request: requested}
	}
	err = g.decide(v, requested)
	if v.addressCheck != nil && a.Kind == route.KindSite { // urnd connects to its servers, not to its host
		v.addressCheck.literal = netip.Addr{}
	}
	return err
}

// Retrieve decides by the policy rules whether a URI in normal form, a location of a name, may be retrieved
// for a client.
func (g *Gate) Retrieve(ctx context.Context, c *Client, user, method string, u uri.URI) (v Verdict) {
	v = Verdict{Step: StepRules, User: user}
	requested, err := policy.NewRequest(c.Addr, user, method, u)
	if err == nil {
		err = g.complete(ctx, &requested, true)
	}
	if err == nil {
		err = g.decide(&v, requested)
	}
	v.Err = err
	return v
}

// newPolicyRequest returns the request in the form that rules compare.
func newPolicyRequest(v *Verdict, c *Client, a *route.Request) (policy.Request, error) {
	if a.Kind == route.KindTunnel {
		return policy.Request{
			Client: c.Addr, User: v.User, Method: http.MethodConnect, Host: a.Authority.Host,
			Port: a.Authority.Port,
		}, nil
	}
	requested, err := policy.NewRequest(c.Addr, v.User, a.Method, a.Key)
	requested.SentPath, _, _ = strings.Cut(a.Spelling, "?")
	return requested, err
}

// complete adds the properties that only some rules depend on: time and groups. The groups of users of sites
// are unknown; isOfAccess is whether the user is one of Access. In report-only mode, groups that cannot be
// determined are empty.
func (g *Gate) complete(ctx context.Context, requested *policy.Request, isOfAccess bool) (err error) {
	rules := g.config.Policy
	if rules.HasTimes() {
		requested.Time = g.config.Now()
	}
	groups := rules.Groups()
	if len(groups) == 0 || requested.User == "" || g.config.Access.Groups == nil || !isOfAccess {
		return nil
	}
	requested.Groups, err = g.config.Access.Groups.Memberships(ctx, requested.User, groups)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case rules.Mode() == policy.ModeEnforce:
		return fmt.Errorf("%w: %w", problem.ErrLoginUnavailable, err)
	}
	if g.config.Log != nil {
		g.config.Log.Warn("user group lookup failed, rules with groups would deny the request", "user", requested.User,
			"error", err)
	}
	return nil
}

func (g *Gate) decide(v *Verdict, requested policy.Request) error {
	decision := g.config.Policy.Decide(requested)
	if !decision.Final {
		v.addressCheck = &addressCheck{gate: g, request: requested, literal: requested.Literal()}
		return nil
	}
	v.rule = decision.Rule
	return g.enforce(requested, decision)
}

// enforce returns the error for a request that a rule denies, and logs it. It may be called after the end of
// the request.
func (g *Gate) enforce(requested policy.Request, decision policy.Decision) error {
	err := g.config.Policy.Err(decision)
	if decision.Deny && g.config.Log != nil {
		text := "request denied by rule"
		if err == nil {
			text = "request would be denied by rule"
		}
		g.config.Log.Info(text, "rule", decision.Rule, "client", requested.Client, "user", requested.User, "method",
			requested.Method,
			"scheme", requested.Scheme, "host", requested.Host, "port", requested.Port)
	}
	return err
}
