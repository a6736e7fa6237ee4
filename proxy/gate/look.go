package gate

import (
	"net/netip"
	"sync/atomic"

	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/uri"
)

// look is what the rules of the site say of a tunnel by what its client begins it with, when it is open already.
type look struct {
	gate    *Gate
	asked   policy.Request
	decided atomic.Pointer[string] // the id of the rule that ends it
}

// Look returns what decides by with what a client begins a tunnel to a server at an address, and by the name of the server in it,
// "" for none: the host rules hold for it as if CONNECT had named it. It is nil where no rule depends on that.
func (v *Verdict) Look() func(hello policy.Hello, name string, at netip.AddrPort) error {
	if v.look == nil {
		return nil
	}
	return v.look.at
}

func (l *look) at(hello policy.Hello, name string, at netip.AddrPort) error {
	asked := l.asked
	asked.Hello = hello
	if name = uri.CanonicalHost(name); name != "" {
		asked.Host = name
	}
	if hello == policy.Named && asked.Host == l.asked.Host { // it was decided before
		return nil
	}
	rules := l.gate.config.Policy
	decision := rules.Decide(asked)
	if !decision.Final {
		decision = rules.DecideFor(asked, at.Addr())
	}
	if !decision.Deny {
		return nil
	}
	l.decided.Store(&decision.Rule)
	return l.gate.enforce(asked, decision)
}
