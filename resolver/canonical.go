package resolver

import (
	"context"
)

// Canonical is a Resolver that passes the canonical name to its next resolver: for URNs by the rules of their
// namespace, for other URIs the normal form. It passes on parameters for the resolution service, and adds the
// q-component and the fragment to the locations of the answer.
type Canonical struct {
	names Names
	next  Resolver
}

// NewCanonical returns a Canonical in front of next.
func NewCanonical(names Names, next Resolver) *Canonical {
	return &Canonical{names: names, next: next}
}

// Resolve implements Resolver. The error for an invalid name is a *uri.ParseError; an I2L answer without a
// location becomes a *Negative.
func (c *Canonical) Resolve(ctx context.Context, q Query) (Answer, error) {
	q = c.names.Identify(q)
	trace := TraceOf(ctx)
	if trace != nil {
		for _, change := range q.URI.ExplainNormalize() {
			trace.Add(Step{
				Stage: "normalize", Code: "normalized",
				Values: []any{"Before", change.Before, "After", change.After},
			}, "%s: %s -> %s", change.Step,
				change.Before, change.After)
		}
	}
	canonical, err := c.names.Canonical(q)
	if err != nil {
		return Answer{}, err
	}
	if trace != nil {
		trace.Add(Step{Stage: "canonical", Code: "canonical", Values: []any{"Name", canonical.URI.String()}}, "%s",
			canonical.URI)
		for _, warning := range c.names.Warnings(q) {
			trace.Add(Step{
				Stage: "warning", Code: "breaks_rule",
				Values: []any{"Rule", warning, "Section", warning.Section},
			}, "%s: %s (%s)", warning.Name,
				warning.Requirement, warning.Section)
		}
	}
	answer, err := c.next.Resolve(ctx, canonical)
	if err == nil && len(answer.Locations) == 0 && q.Service == I2L { // a list may be empty: RFC 2483 section 4.2
		err = &Negative{Kind: ErrNotFound, Reason: "the name has no location", Code: "no_location"}
	}
	answer.Name = canonical.URI
	if q.URI != canonical.URI && q.Service.Locates() {
		answer.Locations = withComponents(answer.Locations, q)
		if err == nil {
			answer.Locations, err = c.names.withLinkQuery(answer.Locations, q.URI)
		}
	}
	return answer, err
}
