package resolver

import "context"

// Split sends URNs to one resolver and all other URIs to another: a name has
// to be looked up, a location locates itself and need not be remembered.
type Split struct {
	Names     Resolver
	Locations Resolver
}

// Resolve implements Resolver.
func (s Split) Resolve(ctx context.Context, q Query) (Answer, error) {
	if q.URI.IsURN() {
		return s.Names.Resolve(ctx, q)
	}
	return s.Locations.Resolve(ctx, q)
}
