package resolver

import "context"

// Split passes URNs to one resolver, URLs to another, and other URIs, such as "cid:", to
// a third: a name must be looked up, while a URL is its own location and needs no cache.
type Split struct {
	Names     Resolver
	Locations Resolver
	Others    Resolver // nil means Locations
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
