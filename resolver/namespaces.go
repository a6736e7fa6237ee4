package resolver

import (
	"context"
	"fmt"
	"time"

	"github.com/urnd/urnd/urnns"
)

// Namespaces resolves by the rules and templates of a urnns.Set.
type Namespaces struct {
	set     *urnns.Set
	ttl     time.Duration
	sources map[string]string // what is said of locations, by NID: shared by answers
}

// NewNamespaces returns a Namespaces whose answers live for ttl: rules carry
// no TTL of their own.
func NewNamespaces(set *urnns.Set, ttl time.Duration) *Namespaces {
	n := &Namespaces{set: set, ttl: ttl, sources: make(map[string]string)}
	for _, nid := range set.NIDs() {
		n.sources[nid] = "namespace " + nid
	}
	return n
}

// Resolve implements Resolver for URNs in canonical form.
func (n *Namespaces) Resolve(_ context.Context, q Query) (Answer, error) {
	v, err := q.URI.URN()
	if err != nil {
		return Answer{}, err
	}
	ns, ok := n.set.Lookup(v.NID())
	if !ok {
		return Answer{}, &Negative{Kind: ErrUnsupported, Reason: fmt.Sprintf("no rules for namespace %q", v.NID()), TTL: Forever}
	}
	targets, err := n.set.Targets(v, q.Component())
	if err != nil {
		return Answer{}, fmt.Errorf("resolving %s by the rules of its namespace: %w", q.URI, err)
	}
	var locations []Location
	for _, target := range targets {
		// A template may let a name choose its scheme; no name may choose any.
		if CheckLocation(target) == nil {
			locations = append(locations, Location{URI: target, Source: n.sources[ns.NID]})
		}
	}
	if len(locations) == 0 {
		return Answer{}, &Negative{Kind: ErrUnsupported, Reason: fmt.Sprintf("namespace %q has no target for this name", ns.NID), TTL: Forever}
	}
	return Answer{Locations: locations, TTL: n.ttl}, nil
}
