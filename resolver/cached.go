package resolver

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/cache"
)

// Locations is what the answer cache holds: all else of an Answer is the
// question's, or the moment's.
type Locations = []Location

// LocationsSize is the memory of a cached value, for a store.
func LocationsSize(locations Locations) int {
	const header = 24 // of a Location; sources are shared
	size := 0
	for _, l := range locations {
		size += header + len(l.URI)
	}
	return size
}

// Answers is the cache of answers, with what is needed to find all that it holds of one
// name.
type Answers struct {
	*cache.Cache[Locations]
	// Entries lists the entries of the store of the cache.
	Entries cache.Lister[Locations]
	// Variants returns the keys in the store that hold more than a name, by that name:
	// those for which NameOfKey returns it.
	Variants func(name string) []string
}

// Cached remembers the answers of its next resolver, negative ones included.
type Cached struct {
	cache *cache.Cache[Locations]
	next  Resolver
}

// NewCached returns a Cached in front of next. It does not own the cache.
func NewCached(c *cache.Cache[Locations], next Resolver) *Cached {
	return &Cached{cache: c, next: next}
}

// Resolve implements Resolver.
func (c *Cached) Resolve(ctx context.Context, q Query) (Answer, error) {
	key := q.Key()
	result, ok, err := c.cache.Hit(key)
	if !ok {
		result, err = c.get(ctx, key, q)
	}
	state := cacheState(result.Status)
	if t := TraceOf(ctx); t != nil {
		t.Add("cache", "%s %s, ttl %s", state, key, result.TTL.Round(time.Second))
	}
	if err != nil {
		return Answer{Cache: state}, negativeState(err, state, result.TTL)
	}
	return Answer{Locations: result.Value, TTL: result.TTL, Cache: state}, nil
}

// get returns a result of the cache that may have to be loaded.
func (c *Cached) get(ctx context.Context, key string, q Query) (cache.Result[Locations], error) {
	return c.cache.Get(ctx, key, func(ctx context.Context) (Locations, time.Duration, error) {
		answer, err := c.next.Resolve(ctx, q)
		if err != nil {
			return nil, storeTTL(err), err
		}
		return answer.Locations, answer.TTL, nil
	})
}

// negativeState notes in a copy of a remembered "no" what the cache did.
func negativeState(err error, state CacheState, ttl time.Duration) error {
	var n *Negative
	if !errors.As(err, &n) {
		return err
	}
	return n.WithTTL(ttl, state)
}
