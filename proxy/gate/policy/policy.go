// Package policy evaluates the rules of a site: which requests clients may send through the forward proxy and
// to sites. A Request and, when it is known, the destination address enter; a Decision leaves, with the rule
// that decided. It is no implementation of a standard; paths, hosts and ports are compared in the normal form
// of RFC 3986 section 6. The package resolves no name and opens no connection.
//
// The first rule whose conditions all hold decides; if there is none, the request is allowed. A rule may
// depend on the destination address, which is unknown before the host is resolved: see Policy.Decide.
package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// Mode selects whether decisions are enforced.
type Mode uint8

// The modes.
const (
	ModeEnforce Mode = iota // requests that a rule denies are rejected
	ModeReport              // they are forwarded, and the caller logs the denial
	ModeOpen                // the rules are not evaluated
)

var modeNames = [...]string{"enforce", "report", "open"}

// String returns the mode in one word.
func (m Mode) String() string { return modeNames[m] }

// ParseMode is the reverse of Mode.String.
func ParseMode(name string) (Mode, error) {
	for i, known := range modeNames {
		if name == known {
			return Mode(i), nil
		}
	}
	return ModeEnforce, fmt.Errorf("%q is not a mode of the policy", name)
}

// Policy is a list of rules. It is immutable and safe for concurrent use; nil allows all requests.
type Policy struct {
	mode  Mode
	rules []rule
	// inside has the rules that deny some destinations, ends all others: if a rule of ends holds, no later
	// rule matters.
	ends, inside index
	groups       []string // in the conditions of all rules
	hasTimes     bool
	hasNames     bool // a rule depends on the host or the ClientHello of a tunnel
}

// New returns a policy with rules in order of precedence. The error names every invalid rule.
func New(mode Mode, rules []Rule) (*Policy, error) {
	if int(mode) >= len(modeNames) {
		return nil, fmt.Errorf("%d is not a mode of the policy", mode)
	}
	p := &Policy{mode: mode, rules: make([]rule, len(rules))}
	seen := make(map[string]bool, len(rules))
	shared := newCrowds(rules)
	var failures []error
	for i, r := range rules {
		compiled, all, err := compile(r)
		if err == nil && seen[r.ID] {
			err = errors.New("duplicate rule id")
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("rule %d, %q: %w", i+1, r.ID, err))
		}
		seen[r.ID] = true
		p.rules[i] = compiled
		p.note(&r)
		into := &p.ends
		if r.Deny && compiled.hasDestinations() {
			into = &p.inside
		}
		into.add(&p.rules[i], all, int32(i), shared)
	}
	if len(failures) > 0 {
		return nil, errors.Join(failures...)
	}
	return p, nil
}

// note records which optional properties of a request the rules need.
func (p *Policy) note(r *Rule) {
	for _, group := range r.Groups {
		if !slices.Contains(p.groups, group) {
			p.groups = append(p.groups, group)
		}
	}
	p.hasTimes = p.hasTimes || len(r.Times) > 0
	p.hasNames = p.hasNames || len(r.Hosts)+len(r.HostLists)+len(r.Hellos) > 0
}

// Groups returns the groups in the rules; Request.Groups has to contain those of them that the user is in. It
// must not be changed.
func (p *Policy) Groups() []string {
	if p.Mode() == ModeOpen {
		return nil
	}
	return p.groups
}

// HasTimes reports whether a rule depends on Request.Time.
func (p *Policy) HasTimes() bool { return p.Mode() != ModeOpen && p.hasTimes }

// HasTunnelNames reports whether a rule depends on the server name in a tunnel, or on the kind of its first bytes.
func (p *Policy) HasTunnelNames() bool { return p.Mode() != ModeOpen && p.hasNames }

// Mode returns the mode, ModeOpen for nil.
func (p *Policy) Mode() Mode {
	if p == nil {
		return ModeOpen
	}
	return p.mode
}

// Decision is the result of a policy for a request. It does not depend on the mode, except that ModeOpen denies
// nothing.
type Decision struct {
	Rule string // the identifier of the rule that decides; "" for none
	Deny bool
	// Reason is the site's explanation of the rule for readers.
	Reason string
	// Final is whether the request is decided. If false, the request depends on the destination address, the
	// other fields are zero, and DecideFor decides.
	Final bool
}

// Decide decides as far as the decision does not depend on the destination. A request that is denied at every
// destination is denied by the rule without destinations, before its host is resolved: a DNS query, too,
// reveals something to its servers. It does not allocate.
func (p *Policy) Decide(r Request) Decision {
	if p.Mode() == ModeOpen {
		return Decision{Final: true}
	}
	s := search{rules: p.rules, request: r, literal: r.Literal(), first: nowhere}
	s.first = p.ends.first(s)
	depends := p.inside.first(s) < s.first
	if s.first == nowhere {
		return Decision{Final: !depends}
	}
	rule := &p.rules[s.first]
	if rule.hasDestinations() || depends && !rule.Deny {
		return Decision{}
	}
	return rule.decision()
}

// DecideFor decides a request whose connection goes to an address; it is always final. It is called for each address
// that is dialled, for that of a reused connection and for that of a stored response. An unknown address, the zero
// Addr, matches all ranges of denying rules, and none of allowing rules. It does not allocate.
func (p *Policy) DecideFor(r Request, destination netip.Addr) Decision {
	if p.Mode() == ModeOpen {
		return Decision{Final: true}
	}
	s := search{
		rules: p.rules, request: r, literal: r.Literal(), dialled: true, destination: plain(destination),
		first: nowhere,
	}
	s.first = p.ends.first(s)
	if s.first = p.inside.first(s); s.first == nowhere {
		return Decision{Final: true}
	}
	rule := &p.rules[s.first]
	return rule.decision()
}

// Err returns a *Denied if the decision denies the request and the mode is ModeEnforce, else nil.
func (p *Policy) Err(d Decision) error {
	if d.Deny && p.Mode() == ModeEnforce {
		return d.Denied()
	}
	return nil
}

// Denied returns the error of a denying decision.
func (d Decision) Denied() *Denied { return &Denied{Rule: d.Rule, Reason: d.Reason} }

func (r *rule) decision() Decision {
	return Decision{Rule: r.ID, Deny: r.Deny, Reason: r.Reason, Final: true}
}
