package resolver

import (
	"context"

	"github.com/urnd/urnd/cache"
)

// WithFresh returns a context in which caches are not used, but filled: all servers are asked
// again (RFC 9111 section 5.2.1.4, no-cache).
func WithFresh(ctx context.Context) context.Context {
	o := optionsOf(ctx)
	o.fresh = true
	return context.WithValue(ctx, optionsKey{}, o)
}

// IsFresh reports whether ctx is one of WithFresh.
func IsFresh(ctx context.Context) bool { return optionsOf(ctx).fresh }

// Load returns the value of key from a cache, or from load where there is none, or where ctx
// is one of WithFresh.
func Load[V any](ctx context.Context, c *cache.Cache[V], key string, load cache.Load[V]) (cache.Result[V], error) {
	if IsFresh(ctx) {
		return c.Renew(ctx, key, load)
	}
	return c.Get(ctx, key, load)
}
