package resolver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urnd/urnd/urnns"
)

// Namespaces is a Resolver that applies the rules and templates of a urnns.Set.
type Namespaces struct {
	set     *urnns.Set
	ttl     time.Duration
	sources map[string][]*Source // by NID, one for each target; shared by answers
}

// NewNamespaces returns a Namespaces. ttl is the TTL of its answers, since rules have none.
func NewNamespaces(set *urnns.Set, ttl time.Duration) *Namespaces {
	n := &Namespaces{set: set, ttl: ttl, sources: make(map[string][]*Source)}
	for _, nid := range set.NIDs() {
		ns, _ := set.Lookup(nid)
		for _, target := range ns.Targets {
			source := &Source{Name: "namespace " + nid, Type: target.Type, Language: target.Language}
			if target.Rel != "" || target.Title != "" || target.Context != "" {
				source.Relation = &Relation{Rel: target.Rel, Title: target.Title, Context: target.Context}
			}
			n.sources[nid] = append(n.sources[nid], source)
		}
	}
	return n
}

// Resolve implements Resolver for URNs in canonical form.
func (n *Namespaces) Resolve(ctx context.Context, q Query) (Answer, error) {
	ns, ok := n.set.Lookup(q.NID())
	if !ok {
		return Answer{}, &Negative{
			Kind: ErrUnsupported, Reason: fmt.Sprintf("no rules for namespace %q", q.NID()),
			Code: "no_rule_of_namespace", Values: []string{"Namespace", q.NID()}, TTL: Forever,
		}
	}
	if !q.Service.Locates() {
		return Answer{}, notByRules(q.Service)
	}
	var room [4]urnns.ResolvedTarget
	leads, err := n.set.AppendTargets(room[:0], q.URN, q.Component())
	switch {
	case errors.Is(err, urnns.ErrGone):
		return Answer{}, &Negative{
			Kind: ErrGone, Reason: fmt.Sprintf("gone by the rules of namespace %q", ns.NID),
			Code: "gone_by_rule", Values: []string{"Namespace", ns.NID}, TTL: n.ttl,
		}
	case err != nil:
		return Answer{}, fmt.Errorf("%w: resolving %s by the rules of its namespace: %w", ErrUnreachable, q.URI, err)
	}
	found := n.follow(ctx, ns.NID, leads)
	if len(found.locations) == 0 && found.long > 0 {
		return Answer{}, fmt.Errorf("%w: by the rules of namespace %q, every location exceeds the limit of "+
			"%d bytes", ErrUnreachable, ns.NID, MaxLocation)
	}
	if len(found.locations) == 0 {
		return Answer{}, &Negative{
			Kind: ErrUnsupported, Reason: fmt.Sprintf("namespace %q has no target for this name", ns.NID),
			Code: "no_target_by_rule", Values: []string{"Namespace", ns.NID}, TTL: Forever,
		}
	}
	if len(found.others) > 0 {
		found.locations[0].From = found.locations[0].From.withOthers(found.others)
	}
	return Answer{Locations: found.locations, TTL: n.ttl}, nil
}

// ruleAnswer is the result of the rules of a namespace for a name.
type ruleAnswer struct {
	locations []Location
	others    []Link // links that the name does not resolve to
	long      int    // number of locations left out as too long
}

// follow separates the targets of rules into locations and other links.
func (n *Namespaces) follow(ctx context.Context, nid string, leads []urnns.ResolvedTarget) (found ruleAnswer) {
	if len(leads) > 0 {
		found.locations = make([]Location, 0, len(leads))
	}
	room := MaxAnswer // limits the other links; bounded limits the locations of all resolvers
	for _, lead := range leads {
		if len(lead.URI) > MaxLocation {
			TraceOf(ctx).Add(Step{Stage: "namespace", Code: "location_left_out"},
				"omitted a location of %d bytes: the limit is %d", len(lead.URI), MaxLocation)
			found.long++
			continue
		}
		// A template may take the scheme from the name, but only an allowed scheme.
		if CheckLocation(lead.URI) != nil {
			continue
		}
		location := Location{URI: lead.URI, From: n.sources[nid][lead.Target]}
		if r := location.From.Relation; r == nil || RelationResolves(r.Rel) {
			found.locations = append(found.locations, location)
		} else if room -= len(lead.URI); room >= 0 {
			found.others = append(found.others, location.ToLink())
		}
	}
	return found
}

// withOthers returns a copy of a source for one name, with its links to which it does not resolve.
func (s *Source) withOthers(others []Link) *Source {
	own := *s
	relation := Relation{OtherLinks: others}
	if s.Relation != nil {
		relation.Rel, relation.Title, relation.Context = s.Relation.Rel, s.Relation.Title, s.Relation.Context
	}
	own.Relation = &relation
	return &own
}

// NewFallback returns the last member of a chain: for every name, its answer is a location at another resolver.
// ttl is the TTL of its answers.
func NewFallback(fallback *urnns.Fallback, ttl time.Duration) Resolver {
	source := &Source{Name: "fallback"}
	return Func(func(_ context.Context, q Query) (Answer, error) {
		if !q.Service.Locates() {
			return Answer{}, notByRules(q.Service)
		}
		location, err := fallback.Location(q.URN)
		if err == nil {
			err = CheckLocation(location)
		}
		if err == nil && len(location) > MaxLocation {
			err = fmt.Errorf("location exceeds %d bytes", MaxLocation)
		}
		if err != nil {
			return Answer{}, &Negative{Kind: ErrUnsupported, Reason: err.Error(), Code: "no_fallback", TTL: Forever}
		}
		return Answer{Locations: []Location{{URI: location, From: source}}, TTL: ttl}, nil
	})
}

// notByRules returns the negative answer of rules to services that need more than a template.
func notByRules(service Service) error {
	return &Negative{
		Kind: ErrUnsupported, Reason: "namespace rules do not offer " + service.String(),
		Code: "service_not_for_name", Values: []string{"Service", service.String()}, TTL: Forever,
	}
}
