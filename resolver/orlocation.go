package resolver

import (
	"context"
	"errors"
)

// OrLocation resolves names that are no URNs. What is not registered leads to the URL that it is, or that it was asked for by, unless the site claims to
// have it, or the client may be led to names alone. All fields must be set.
type OrLocation struct {
	Names     Names
	Next      Resolver
	Locations Resolver // of URLs
}

// Resolve implements Resolver for canonical names.
func (o OrLocation) Resolve(ctx context.Context, q Query) (Answer, error) {
	answer, err := o.Next.Resolve(ctx, q)
	if !errors.Is(err, ErrNotFound) || RecordOf(err) != nil || q.NamesOnly || !q.At.IsZero() {
		return answer, err
	}
	isClaimed := o.Names.Claims(q.URI) && !o.Names.IsLink(q.URI) // identifiers in web addresses have a public resolver
	if q.Spelling.IsLocation() {
		q.URI = q.Spelling.Normalize()
	}
	if isClaimed || !q.URI.IsLocation() || o.Names.Claims(q.URI) {
		return answer, err
	}
	return o.Locations.Resolve(ctx, q)
}
