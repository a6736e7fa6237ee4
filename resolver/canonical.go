package resolver

import (
	"context"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// Canonical asks its next resolver for the canonical name instead of the one
// that was given: URNs by the rules of their namespace, other URIs in normal
// form. Components and fragments have no part in that, and are added to the
// locations of the answer.
type Canonical struct {
	set  *urnns.Set
	next Resolver
}

// NewCanonical returns a Canonical in front of next.
func NewCanonical(set *urnns.Set, next Resolver) *Canonical {
	return &Canonical{set: set, next: next}
}

// Resolve implements Resolver. Its own errors are of type *uri.ParseError.
func (c *Canonical) Resolve(ctx context.Context, q Query) (Answer, error) {
	if t := TraceOf(ctx); t != nil {
		for _, change := range q.URI.ExplainNormalize() {
			t.Add("normalize", "%s: %s -> %s", change.Step, change.Before, change.After)
		}
	}
	name, err := Name(c.set, q.URI)
	if err != nil {
		return Answer{}, err
	}
	if t := TraceOf(ctx); t != nil {
		t.Add("canonical", "%s", name)
	}
	asked := q.URI
	if asked != name { // only then it has a query or a fragment
		q.Service = serviceOf(asked, q.Service)
	}
	q.URI = name
	answer, err := c.next.Resolve(ctx, q)
	answer.Name = name
	if asked != name {
		answer.Locations = withComponents(answer.Locations, asked)
	}
	return answer, err
}

// Name returns the canonical name of u, the key without the service. The error
// is a *uri.ParseError.
func Name(set *urnns.Set, u uri.URI) (uri.URI, error) {
	if !u.IsURN() {
		if err := u.Check(); err != nil {
			return uri.URI{}, err
		}
		return u.WithoutFragment().Normalize(), nil
	}
	v, err := u.URN()
	if err != nil {
		return uri.URI{}, err
	}
	if v, err = set.Canonical(v); err != nil {
		return uri.URI{}, err
	}
	return v.URI(), nil
}
