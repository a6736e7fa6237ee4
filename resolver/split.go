package resolver

import "context"

// Split sends URNs to one resolver, URLs to another, and what is neither, such as
// "cid:", to a third: a name has to be looked up, a location locates itself and need
// not be remembered.
type Split struct {
	Names     Resolver
	Locations Resolver
	Others    Resolver // nil: as Locations
}

// Resolve implements Resolver.
func (s Split) Resolve(ctx context.Context, q Query) (Answer, error) {
	switch {
	case q.IsURN():
		return s.Names.Resolve(ctx, q)
	case s.Others != nil && !isLocation(q.URI):
		return s.Others.Resolve(ctx, q)
	default:
		return s.Locations.Resolve(ctx, q)
	}
}
