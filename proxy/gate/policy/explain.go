package policy

import (
	"fmt"
	"net/netip"
	"slices"
)

// Match is a rule that may decide a request, with the reason.
type Match struct {
	Rule       string
	Deny       bool
	Conditions []Condition // the conditions that hold; empty for a rule without conditions
	// Destinations are those of the rule: it decides only if the connection goes to one of them. If empty, it
	// decides all requests that reach it.
	Destinations []string
}

// Condition is a condition that holds, with the matching value.
type Condition struct {
	Name  string // the name of its setting: "clients", "users", "hosts_from"
	Value string
}

// String returns the condition in the form "ports 443".
func (c Condition) String() string { return c.Name + " " + c.Value }

// Explain returns the rules that may decide a request, in order: those whose conditions hold, regardless of
// the destination, up to the first without destinations. It is meant for explanations, and slow.
func (p *Policy) Explain(r Request) []Match {
	if p.Mode() == ModeOpen {
		return nil
	}
	var found []Match
	for i := range p.rules {
		rule := &p.rules[i]
		because, ok := rule.because(r)
		if !ok {
			continue
		}
		found = append(found, Match{
			Rule: rule.ID, Deny: rule.Deny, Conditions: because,
			Destinations: rule.destinationTexts(),
		})
		if !rule.hasDestinations() {
			break
		}
	}
	return found
}

// destinationTexts returns the destination ranges and lists of a rule as texts.
func (r *rule) destinationTexts() (texts []string) {
	for _, prefix := range r.Destinations {
		texts = append(texts, prefix.String())
	}
	for _, list := range r.DestinationLists {
		texts = append(texts, list.String())
	}
	return texts
}

// because compares a request with a rule value by value, and returns the conditions that hold; false if one does not.
func (r *rule) because(request Request) ([]Condition, bool) {
	client, literal := plain(request.Client), request.Literal()
	isHost := func(text string) bool {
		h, err := parseHost(text)
		return err == nil && h.holds(request.Host, literal)
	}
	isPath := func(pattern string) bool {
		return (&rule{Rule: Rule{Deny: r.Deny, Paths: []string{pattern}}}).hasPath(&request)
	}
	isURL := func(l URLList) bool {
		return (&rule{Rule: Rule{Deny: r.Deny, URLLists: []URLList{l}}}).hasURL(&request, literal)
	}
	var all conditions
	all.add(valuesOf("clients", r.Clients, func(p netip.Prefix) bool { return p.Contains(client) }),
		valuesOf("clients_from", r.ClientLists, func(l AddressList) bool { return l.Has(client) }))
	all.add(valuesOf("users", r.Users, func(user string) bool { return user == request.User }))
	all.add(valuesOf("groups", r.Groups, func(group string) bool { return slices.Contains(request.Groups, group) }))
	all.add(valuesOf("methods", r.Methods, func(method string) bool { return r.isMethod(method, request.Method) }))
	all.add(valuesOf("schemes", r.Schemes, func(word string) bool { return schemeOf(word) == request.Scheme }))
	all.add(valuesOf("hosts", r.Hosts, isHost),
		valuesOf("hosts_from", r.HostLists, func(l HostList) bool { return l.Has(request.Host, literal) }))
	all.add(valuesOf("ports", r.Ports, func(p PortRange) bool { return hasPort([]PortRange{p}, request.Port) }))
	all.add(valuesOf("paths", r.Paths, isPath))
	all.add(valuesOf("urls_from", r.URLLists, isURL))
	all.add(valuesOf("times", r.Times, func(w Window) bool { return w.Has(request.Time) }))
	all.add(valuesOf("client_hello", r.Hellos, request.Hello.is))
	return all.holding, !all.failed
}

// conditions are the conditions of a rule that hold, and whether another one does not.
type conditions struct {
	holding []Condition
	failed  bool
}

// values are the number of values of a condition, and those that hold.
type values struct {
	count   int
	holding []Condition
}

func valuesOf[T any](name string, all []T, holds func(T) bool) values {
	v := values{count: len(all)}
	for _, one := range all {
		if holds(one) {
			v.holding = append(v.holding, Condition{name, fmt.Sprint(one)})
		}
	}
	return v
}

// add adds a condition, whose alternatives may be values and lists: the first one that holds.
func (c *conditions) add(alternatives ...values) {
	count := 0
	for _, v := range alternatives {
		if len(v.holding) > 0 {
			c.holding = append(c.holding, v.holding[0])
			return
		}
		count += v.count
	}
	c.failed = c.failed || count > 0
}
