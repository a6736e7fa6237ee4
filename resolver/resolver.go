// Package resolver is the domain of urnd: it resolves an identifier to a small, immutable, cacheable Answer. A
// Query (a URI and a service of RFC 2483) enters, an Answer with locations or a Negative leaves. Resolvers are
// composed: Canonical normalizes the name (RFC 8141, RFC 3986), Cached caches answers, Chain queries several
// resolvers in order.
//
// It never retrieves: it does not read the resource itself.
package resolver

import (
	"context"

	"github.com/urnd/urnd/uri"
)

// Resolver answers queries. Resolve is safe for concurrent use and returns when ctx ends. Its error is a
// *uri.ParseError for an invalid name, a *Negative (ErrUnsupported, ErrNotFound, ErrGone, ErrService) for a
// negative answer, and any other error if it got no answer.
type Resolver interface {
	Resolve(ctx context.Context, q Query) (Answer, error)
}

// Func is an adapter from a function to a Resolver.
type Func func(ctx context.Context, q Query) (Answer, error)

// Resolve calls f.
func (f Func) Resolve(ctx context.Context, q Query) (Answer, error) { return f(ctx, q) }

// Mux dispatches queries by the kind of their URI: URNs, URLs, and other URIs such as "cid:". A name must be
// looked up, while a URL is its own location and needs no cache.
type Mux struct {
	Names     Resolver
	Locations Resolver
	Others    Resolver // nil means Locations
	// Own resolves names that are not URNs: those for which Owns returns true. Owns may be nil.
	Own  Resolver
	Owns func(u uri.URI) bool
}

// Resolve implements Resolver.
func (s *Mux) Resolve(ctx context.Context, q Query) (Answer, error) {
	switch {
	case q.IsURN():
		return s.Names.Resolve(ctx, q)
	case s.Owns != nil && s.Owns(q.URI):
		return s.Own.Resolve(ctx, q)
	case s.Others != nil && !q.URI.IsLocation():
		return s.Others.Resolve(ctx, q)
	default:
		return s.Locations.Resolve(ctx, q)
	}
}
