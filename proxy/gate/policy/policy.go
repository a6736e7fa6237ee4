// Package policy decides which requests the forward proxy passes on, by the rules of the site. It
// is pure: it resolves no name and opens no connection.
//
// The first rule whose conditions all hold decides; where there is none, the request is allowed. A
// rule may depend on the address that is dialled, which is not known before the host was resolved:
// see Policy.Decide.
package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// Mode says what becomes of the decisions.
type Mode uint8

// The modes.
const (
	Enforce Mode = iota // requests that a rule denies are refused
	Report              // they are passed on, and the caller logs what would have been denied
	Open                // the rules are not evaluated
)

var modeNames = [...]string{"enforce", "report", "open"}

// String returns the mode in one word.
func (m Mode) String() string { return modeNames[m] }

// ParseMode returns the mode that String calls name.
func ParseMode(name string) (Mode, error) {
	for i, known := range modeNames {
		if name == known {
			return Mode(i), nil
		}
	}
	return Enforce, fmt.Errorf("%q is not a mode of the policy", name)
}

// Policy is a list of rules. It is immutable and safe for concurrent use; nil allows all requests.
type Policy struct {
	mode  Mode
	rules []rule
	// inside has the rules that deny some destinations, and ends the others: where one of these holds, no other behind it counts.
	ends, inside index
	groups       []string // of the conditions of all rules
	hasTimes     bool
	hasNames     bool // a rule depends on the host or the ClientHello of a tunnel
}

// New returns a policy of rules, the first of which goes first. The error names every rule that is
// not valid.
func New(mode Mode, rules []Rule) (*Policy, error) {
	if int(mode) >= len(modeNames) {
		return nil, fmt.Errorf("%d is not a mode of the policy", mode)
	}
	p := &Policy{mode: mode, rules: make([]rule, len(rules))}
	seen := make(map[string]bool, len(rules))
	shared := newCrowds(rules)
	var faults []error
	for i, r := range rules {
		compiled, all, err := compile(r)
		if err == nil && seen[r.ID] {
			err = errors.New("there is another rule of this id")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("rule %d, %q: %w", i+1, r.ID, err))
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
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return p, nil
}

// note notes what of a request its rules need to know.
func (p *Policy) note(r *Rule) {
	for _, group := range r.Groups {
		if !slices.Contains(p.groups, group) {
			p.groups = append(p.groups, group)
		}
	}
	p.hasTimes = p.hasTimes || len(r.Times) > 0
	p.hasNames = p.hasNames || len(r.Hosts)+len(r.HostLists)+len(r.Hellos) > 0
}

// Groups returns the groups that rules name, of which Request.Groups needs those of the user. It must not be changed.
func (p *Policy) Groups() []string {
	if p.Mode() == Open {
		return nil
	}
	return p.groups
}

// HasTimes reports whether a rule depends on Request.Time.
func (p *Policy) HasTimes() bool { return p.Mode() != Open && p.hasTimes }

// HasTunnelNames reports whether rules depend on the server name in a tunnel, or on what else it begins with.
func (p *Policy) HasTunnelNames() bool { return p.Mode() != Open && p.hasNames }

// Mode returns the mode, Open for nil.
func (p *Policy) Mode() Mode {
	if p == nil {
		return Open
	}
	return p.mode
}

// Decision is what a policy says of a request. The mode does not change it, except that in Open
// nothing is denied.
type Decision struct {
	Rule string // the id of the rule that decides; "" for none
	Deny bool
	// Reason is what the site says of the rule to readers.
	Reason string
	// Final is whether the decision is made. Where it is false, the request depends on the address
	// that is dialled, the other fields are zero, and DecideFor decides.
	Final bool
}

// Decide decides what does not depend on the destination. A request that is denied at every
// destination is denied at once, by the rule without destinations, so that its host is not even
// looked up: a query, too, tells something to who answers it. It does not allocate.
func (p *Policy) Decide(r Request) Decision {
	if p.Mode() == Open {
		return Decision{Final: true}
	}
	s := search{rules: p.rules, request: r, literal: r.literal(), first: nowhere}
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

// DecideFor decides a request whose connection goes to an address; it is always final. It is asked
// for each address that is dialled, that of a connection which is used again and that of a stored
// response. Where the address is not known, the zero Addr is in all ranges that are denied, and in none
// that are allowed. It does not allocate.
func (p *Policy) DecideFor(r Request, destination netip.Addr) Decision {
	if p.Mode() == Open {
		return Decision{Final: true}
	}
	s := search{rules: p.rules, request: r, literal: r.literal(), dialled: true, destination: plain(destination), first: nowhere}
	s.first = p.ends.first(s)
	if s.first = p.inside.first(s); s.first == nowhere {
		return Decision{Final: true}
	}
	rule := &p.rules[s.first]
	return rule.decision()
}

// Err returns the error for a request that is refused: a *Denied where the decision denies it and
// the mode is Enforce, else nil.
func (p *Policy) Err(d Decision) error {
	if d.Deny && p.Mode() == Enforce {
		return d.Denied()
	}
	return nil
}

// Denied returns the error for a request that a decision denies.
func (d Decision) Denied() *Denied { return &Denied{Rule: d.Rule, Reason: d.Reason} }

func (r *rule) decision() Decision {
	return Decision{Rule: r.ID, Deny: r.Deny, Reason: r.Reason, Final: true}
}
