package resolver

import "context"

// WithFresh returns a context in which the cache is bypassed for reading, but filled: all servers are queried
// again (RFC 9111 section 5.2.1.4, no-cache).
func WithFresh(ctx context.Context) context.Context {
	o := optionsOf(ctx)
	o.fresh = true
	return context.WithValue(ctx, optionsKey{}, o)
}

// IsFresh reports whether ctx comes from WithFresh.
func IsFresh(ctx context.Context) bool { return optionsOf(ctx).fresh }
