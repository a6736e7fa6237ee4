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
	if t := TraceOf(ctx); t != nil {
		for _, change := range q.URI.ExplainNormalize() {
			t.Add("normalize", "%s: %s -> %s", change.Step, change.Before, change.After)
		}
	}
	name, err := c.names.Key(q.URI)
	if err != nil {
		return Answer{}, err
	}
	if t := TraceOf(ctx); t != nil {
		t.Add("canonical", "%s", name)
		for _, doubt := range c.names.Doubts(q.URI) {
			t.Add("warning", "%s: %s (%s)", doubt.Name, doubt.Says, doubt.Section)
		}
	}
	asked := q.URI
	q.URI, q.Passed = name, passed(asked)
	answer, err := c.next.Resolve(ctx, q)
	answer.Name = name
	if asked != name {
		answer.Locations = withComponents(answer.Locations, asked)
	}
	return answer, err
}
