// Package resolver is the domain of urnd: an identifier becomes a small,
// immutable, cacheable Answer. Resolvers are composed: Canonical names the
// thing, Cached remembers, Chain asks one system after another.
//
// It resolves and never retrieves: no byte of a resource passes through here.
package resolver

import "context"

// Resolver answers queries. Resolve is safe for concurrent use and returns
// when ctx ends. It fails with a *uri.ParseError for a name that cannot be,
// with a *Negative (ErrUnsupported, ErrNotFound, ErrService) for a "no", and
// with any other error where it could not find out.
type Resolver interface {
	Resolve(ctx context.Context, q Query) (Answer, error)
}

// Func makes a function a Resolver.
type Func func(ctx context.Context, q Query) (Answer, error)

// Resolve calls f.
func (f Func) Resolve(ctx context.Context, q Query) (Answer, error) { return f(ctx, q) }
