package main

import (
	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/shared"
)

// newCache returns the cache of that name: the one of the previous configuration where
// nothing that its contents rest on has changed.
func newCache[V any](
	r *resolution, c config.Config, d resolverDependencies, name string, of config.Contents, refresh bool, bounds memory.Config[V],
) (observe.Cache[V], error) {
	made, err := shared.Reuse(&r.shared, d.previous.reusable(), name, c.Basis(of), func() (observe.Cache[V], func(), error) {
		store, err := memory.New(bounds)
		if err != nil {
			return observe.Cache[V]{}, nil, err
		}
		made := cache.New(cache.Config[V]{
			Store: store, Now: d.now, RefreshAhead: refresh,
			Panicked: d.panicked, LoadTimeout: c.Resolve.Timeout, StaleFor: c.Cache.StaleFor, RetryAfter: c.Cache.RetryAfter,
		})
		return observe.Cache[V]{Cache: made, Store: store, Name: name}, func() { made.Close(); store.Close() }, nil
	})
	if err == nil {
		r.caches = append(r.caches, made)
	}
	return made, err
}
