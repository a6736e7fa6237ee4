package resolver

import (
	"context"
	"time"

	"github.com/urnd/urnd/cache"
)

// Load returns the value of key from a cache, or from load where there is none, or where ctx
// is one of WithFresh. Of the values of ctx, load sees those of this package alone, which change
// no outcome: who observes it (WithTrace, WithSpan), and that it asks all servers again
// (WithFresh), as all who wait for it want. What a client sent reaches it only by the key.
func Load[V any](ctx context.Context, c *cache.Cache[V], key string, load cache.Load[V]) (cache.Result[V], error) {
	o := optionsOf(ctx)
	if o != (options{}) {
		observed := load
		load = func(ctx context.Context) (V, time.Duration, error) {
			return observed(context.WithValue(ctx, optionsKey{}, o))
		}
	}
	if o.fresh {
		return c.Renew(ctx, key, load)
	}
	return c.Get(ctx, key, load)
}
