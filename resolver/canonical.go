package resolver

import (
	"context"
)

// Canonical asks its next resolver for the canonical name instead of the one
// that was given: URNs by the rules of their namespace, other URIs in normal
// form. What is for the resolution service goes with it, the q-component and the
// fragment are added to the locations of the answer.
type Canonical struct {
	names Names
	next  Resolver
}

// NewCanonical returns a Canonical in front of next.
func NewCanonical(names Names, next Resolver) *Canonical {
	return &Canonical{names: names, next: next}
}

// Resolve implements Resolver. Its own errors are of type *uri.ParseError.
func (c *Canonical) Resolve(ctx context.Context, q Query) (Answer, error) {
	trace := TraceOf(ctx)
	if trace != nil {
		for _, change := range q.URI.ExplainNormalize() {
			trace.Add("normalize", "%s: %s -> %s", change.Step, change.Before, change.After)
		}
	}
	canonical, err := c.names.Canonical(q)
	if err != nil {
		return Answer{}, err
	}
	if trace != nil {
		trace.Add("canonical", "%s", canonical.URI)
		for _, warning := range c.names.Warnings(q) {
			trace.Add("warning", "%s: %s (%s)", warning.Name, warning.Says, warning.Section)
		}
	}
	answer, err := c.next.Resolve(ctx, canonical)
	answer.Name = canonical.URI
	if q.URI != canonical.URI {
		answer.Locations = withComponents(answer.Locations, q)
	}
	return answer, err
}
