package resolver

import (
	"context"
	"errors"
)

// LocationFallback is a Resolver for names that are not URNs. An unregistered name resolves to the URL that it is, or
// the URL it was requested by, unless the site claims the name, or the client may only be redirected to names.
// All fields must be set.
type LocationFallback struct {
	Names     Names
	Next      Resolver
	Locations Resolver // resolves URLs
}

// Resolve implements Resolver for canonical names.
func (o LocationFallback) Resolve(ctx context.Context, q Query) (Answer, error) {
	answer, err := o.Next.Resolve(ctx, q)
	if !errors.Is(err, ErrNotFound) || RecordOf(err) != nil || q.NamesOnly || !q.At.IsZero() {
		return answer, err
	}
	claimed := o.Names.Claims(q.URI) && !o.Names.IsLink(q.URI) // identifiers in web addresses have a public resolver
	if q.Spelling.IsLocation() {
		q.URI = q.Spelling.Normalize()
	}
	if claimed || !q.URI.IsLocation() || o.Names.Claims(q.URI) {
		return answer, err
	}
	return o.Locations.Resolve(ctx, q)
}
