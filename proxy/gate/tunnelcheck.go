package gate

import (
	"errors"
	"net/netip"
	"sync/atomic"

	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/uri"
)

// tunnelCheck applies the policy rules to an open tunnel, by the first bytes that its client sends.
type tunnelCheck struct {
	gate    *Gate
	request policy.Request
	decided atomic.Pointer[string] // the identifier of the rule that ended the tunnel
}

// TunnelCheck returns the function that decides about a tunnel by its first bytes. Its arguments are the kind of
// these bytes, the server name in them, "" for none, and the address of the server: rules about hosts apply
// as if CONNECT had this host. TunnelCheck returns nil if no rule depends on that.
func (v *Verdict) TunnelCheck() func(hello policy.Hello, name string, at netip.AddrPort) error {
	if v.tunnelCheck == nil {
		return nil
	}
	return v.tunnelCheck.decide
}

func (l *tunnelCheck) decide(hello policy.Hello, name string, at netip.AddrPort) error {
	requested := l.request
	requested.Hello = hello
	if name = uri.CanonicalHost(name); name != "" {
		requested.Host = name
	}
	if hello == policy.HelloNamed && requested.Host == l.request.Host { // CONNECT was decided by the same host
		return nil
	}
	rules := l.gate.config.Policy
	decision := rules.Decide(requested)
	if !decision.Final {
		decision = rules.DecideFor(requested, l.destination(at))
	}
	switch {
	case decision.Deny:
		l.decided.Store(&decision.Rule)
		return l.gate.enforce(requested, decision)
	case hello == policy.HelloUnreadable:
		return l.unreadable(requested)
	default:
		return nil
	}
}

// destination returns the address of the server. If an upstream proxy hides it, it is that of CONNECT, or unknown.
func (l *tunnelCheck) destination(at netip.AddrPort) netip.Addr {
	if at.IsValid() {
		return at.Addr()
	}
	return l.request.Literal()
}

var errUnreadable = errors.New("the ClientHello cannot be parsed, so rules with hosts cannot be evaluated")

// unreadable denies a tunnel in which the server may find a name that the rules cannot see, and logs that.
func (l *tunnelCheck) unreadable(requested policy.Request) error {
	if log := l.gate.config.Log; log != nil {
		log.Info("tunnel ClientHello cannot be parsed, rules with hosts are not evaluated", "client", requested.Client,
			"user", requested.User, "host", requested.Host, "port", requested.Port)
	}
	if l.gate.config.Policy.Mode() != policy.ModeEnforce {
		return nil
	}
	return errUnreadable
}
