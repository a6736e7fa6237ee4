package resolver

import "context"

// WithCacheBypass returns a context in which the cache is bypassed for reading, but filled: all servers are queried
// again (RFC 9111 section 5.2.1.4, no-cache).
func WithCacheBypass(ctx context.Context) context.Context {
	o := optionsOf(ctx)
	o.bypass = true
	return context.WithValue(ctx, optionsKey{}, o)
}

// BypassesCache reports whether ctx comes from WithCacheBypass.
func BypassesCache(ctx context.Context) bool { return optionsOf(ctx).bypass }
