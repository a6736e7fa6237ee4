package policy

import (
	"fmt"
	"net/netip"
	"slices"
)

// Match is a rule that may decide a request, with the reason.
type Match struct {
	Rule    string
	Deny    bool
	Because []Condition // those that hold; empty for a rule without
	// Destinations are those of the rule: it decides only if the connection goes to one of them.
	// Empty: it decides all requests that come to it.
	Destinations []netip.Prefix
}

// Condition is a condition that holds, with the value for which it does.
type Condition struct {
	Name  string // "clients", "users", "methods", "schemes", "hosts", "ports"
	Value string
}

// String returns the condition as "ports 443".
func (c Condition) String() string { return c.Name + " " + c.Value }

// Explain returns the rules that may decide a request, in order: those whose conditions hold apart from
// the destination, to the first that has no destinations. It is for people: it is slow.
func (p *Policy) Explain(r Request) []Match {
	if p.Mode() == Open {
		return nil
	}
	var found []Match
	for i := range p.rules {
		rule := &p.rules[i]
		because, ok := rule.because(r)
		if !ok {
			continue
		}
		found = append(found, Match{Rule: rule.ID, Deny: rule.Deny, Because: because, Destinations: rule.Destinations})
		if len(rule.Destinations) == 0 {
			break
		}
	}
	return found
}

// because compares a request with a rule value by value, and returns those that hold.
func (r *rule) because(request Request) ([]Condition, bool) {
	c := conditions{}
	addCondition(&c, "clients", r.Clients, func(p netip.Prefix) bool { return p.Contains(plain(request.Client)) })
	addCondition(&c, "users", r.Users, func(user string) bool { return user == request.User })
	addCondition(&c, "methods", r.Methods, func(method string) bool { return r.isMethod(method, request.Method) })
	addCondition(&c, "schemes", r.Schemes, func(word string) bool { return schemeOf(word) == request.Scheme })
	literal := request.literal()
	addCondition(&c, "hosts", r.Hosts, func(text string) bool {
		h, err := parseHost(text)
		return err == nil && h.holds(request.Host, literal)
	})
	addCondition(&c, "ports", r.Ports, func(p PortRange) bool { return hasPort([]PortRange{p}, request.Port) })
	return c.holding, !c.failed
}

type conditions struct {
	holding []Condition
	failed  bool
}

// addCondition adds the first of the values that holds.
func addCondition[T any](c *conditions, name string, values []T, holds func(T) bool) {
	i := slices.IndexFunc(values, holds)
	switch {
	case i >= 0:
		c.holding = append(c.holding, Condition{name, fmt.Sprint(values[i])})
	case len(values) > 0:
		c.failed = true
	}
}
