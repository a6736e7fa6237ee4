package resolver

import (
	"context"
	"time"

	"github.com/urnd/urnd/cache"
)

// Load returns the value of key from a cache, or from load on a miss or if ctx comes from WithCacheBypass. The
// context of load keeps only the values of this package, which do not change the result: its observers
// (WithTrace, WithSpan), and that all servers are queried again (WithCacheBypass), which suits every caller waiting
// for the load. Data of a client reaches load only through the key.
func Load[V any](ctx context.Context, c *cache.Cache[V], key string, load cache.LoadFunc[V]) (cache.Result[V], error) {
	o := optionsOf(ctx)
	if o != (options{}) {
		observed := load
		load = func(ctx context.Context) (V, time.Duration, error) {
			return observed(context.WithValue(ctx, optionsKey{}, o))
		}
	}
	if o.bypass {
		return c.Renew(ctx, key, load)
	}
	return c.Get(ctx, key, load)
}
