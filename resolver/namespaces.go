package resolver

import (
	"context"
	"fmt"
	"time"

	"github.com/urnd/urnd/urnns"
)

// Namespaces resolves by the rules and templates of a urnns.Set.
type Namespaces struct {
	set *urnns.Set
	ttl time.Duration
}

// NewNamespaces returns a Namespaces whose answers live for ttl: rules carry
// no TTL of their own.
func NewNamespaces(set *urnns.Set, ttl time.Duration) *Namespaces {
	return &Namespaces{set: set, ttl: ttl}
}

// Resolve implements Resolver for URNs in canonical form.
func (n *Namespaces) Resolve(_ context.Context, q Query) (Answer, error) {
	v, err := q.URI.URN()
	if err != nil {
		return Answer{}, err
	}
	ns, ok := n.set.Lookup(v.NID())
	if !ok {
		return Answer{}, &Negative{Kind: ErrUnsupported, Reason: fmt.Sprintf("no rules for namespace %q", v.NID())}
	}
	targets, err := n.set.Targets(v)
	if err != nil {
		return Answer{}, fmt.Errorf("resolving %s by the rules of its namespace: %w", q.URI, err)
	}
	if len(targets) == 0 {
		return Answer{}, &Negative{Kind: ErrUnsupported, Reason: fmt.Sprintf("namespace %q has no target for this name", ns.NID)}
	}
	locations := make([]Location, len(targets))
	for i, target := range targets {
		locations[i] = Location{URI: target, Source: "namespace " + ns.NID}
	}
	return Answer{Locations: locations, TTL: n.ttl}, nil
}
