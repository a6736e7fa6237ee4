package resolver

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/uri"
)

// Locations is the cached part of an Answer: the rest depends on the query or on the time.
type Locations = []Location

// LocationsSize returns the size of a cached value in bytes, for the accounting of a store.
func LocationsSize(locations Locations) int {
	const header, textOverhead, source = 24, 8, 104 // sizes of a Location, of its string, and of a Source
	size := 0
	var from *Source
	var record *Record
	for _, l := range locations {
		size += header + len(l.URI) + textOverhead
		relation := l.From.Relation
		// Other answers share the source.
		if l.From == from || l.From.Content == "" && l.From.Record == nil &&
			(relation == nil || len(relation.OtherLinks) == 0) {
			continue
		}
		from = l.From
		size += source + len(from.Content) + relation.size()
		if from.Record != record {
			record = from.Record
			size += record.size()
		}
	}
	return size
}

// AnswerCache is the cache of answers, with access to its entries by name.
type AnswerCache struct {
	*cache.Cache[Locations]
	// Entries lists the entries of the store of the cache.
	Entries cache.Lister[Locations]
	// Variants returns the keys in the store that extend the name: those for which NameOfKey returns name.
	Variants func(name string) []string
}

// Cached is a Resolver that caches the answers of its next resolver, negative ones included.
type Cached struct {
	cache   *cache.Cache[Locations]
	next    Resolver
	clients *quota.ClientLimits
}

// NewCached returns a Cached in front of next. It does not own the cache. clients limits the concurrent queries
// of each client that are not cache hits; nil means no limit.
func NewCached(c *cache.Cache[Locations], next Resolver, clients *quota.ClientLimits) *Cached {
	return &Cached{cache: c, next: next, clients: clients}
}

// Resolve implements Resolver.
func (c *Cached) Resolve(ctx context.Context, q Query) (Answer, error) {
	if !q.At.IsZero() {
		return c.then(ctx, q)
	}
	key := q.Key()
	var result cache.Result[Locations]
	var ok bool
	var err error
	o := optionsOf(ctx)
	if !o.bypass {
		result, ok, err = c.hit(key, q)
	}
	if !ok {
		permit, busy := c.permit(key, q)
		if busy == nil {
			defer permit.Release()
			result, err = c.get(ctx, key, q)
		} else if result, ok, err = c.cache.GetCached(key); !ok {
			return c.withoutPermit(ctx, q, busy)
		}
	}
	state := cacheState(result.Status)
	if o.trace != nil {
		c.trace(ctx, o.trace, key, q, result)
	}
	if err != nil {
		return Answer{Cache: state}, negativeState(err, state, result.TTL)
	}
	return Answer{Locations: result.Value, TTL: result.TTL, Cache: state}, nil
}

// then resolves a query as of a time, which is not cached: it may read many versions.
func (c *Cached) then(ctx context.Context, q Query) (Answer, error) {
	permit, busy := c.clients.Acquire(q.Client)
	if busy != nil {
		return Answer{}, busy
	}
	defer permit.Release()
	return c.next.Resolve(ctx, q)
}

// withoutPermit resolves a query of a client that has reached its quota: only local rules, which need no limit,
// can answer it.
func (c *Cached) withoutPermit(ctx context.Context, q Query, busy error) (Answer, error) {
	q.QuotaErr = busy
	answer, err := c.next.Resolve(ctx, q)
	if err != nil {
		return answer, err
	}
	return bounded(ctx, answer)
}

// trace adds the cache state of the answer to a trace. An explanation also resolves a name with a cached answer
// once more, to show the steps; the response remains the cached answer.
func (c *Cached) trace(ctx context.Context, t *Trace, key string, q Query, result cache.Result[Locations]) {
	state := cacheState(result.Status)
	ttl := result.TTL.Round(time.Second)
	if state != CacheHit && state != CacheStale {
		t.Add(Step{Stage: "cache", Code: "not_stored"}, "%s %s, ttl %s", state, key, ttl)
		return
	}
	t.Add(Step{Stage: "cache", Code: "stored", Values: []any{"Age", result.Age}}, "%s %s, %s old, ttl %s", state, key,
		result.Age.Round(time.Second), ttl)
	if !t.explains.Load() {
		return
	}
	permit, busy := c.clients.Acquire(q.Client)
	if busy != nil {
		t.Add(Step{Stage: "cache", Code: "steps_not_shown"}, "steps not shown: %s", busy)
		return
	}
	defer permit.Release()
	t.Add(Step{Stage: "cache", Code: "steps_follow"},
		"cached; the following steps resolve the name again, only for this trace")
	ctx, cancel := context.WithTimeout(ctx, explainTimeout)
	defer cancel()
	if _, err := c.next.Resolve(ctx, q); err != nil && !errors.As(err, new(*Negative)) {
		t.Add(Step{Stage: "cache", Code: "failed", Public: "resolution failed"}, "resolution failed: %s", err)
	}
}

// explainTimeout limits the resolution that an explanation repeats.
const explainTimeout = 10 * time.Second

// hit returns a cached result without a load. An entry loaded for a query without hops also serves queries with
// hops.
func (c *Cached) hit(key string, q Query) (result cache.Result[Locations], ok bool, err error) {
	if q.Hops > 0 {
		direct := q
		direct.Hops = 0
		if result, ok, err = c.cache.Hit(direct.Key()); ok {
			return result, ok, err
		}
	}
	return c.cache.Hit(key)
}

// permit acquires a permit for the client of a query. A query that joins a load in progress needs none.
func (c *Cached) permit(key string, q Query) (quota.Permit, error) {
	if c.cache.Loading(key) {
		return quota.Permit{}, nil
	}
	return c.clients.Acquire(q.Client)
}

// get returns a result of the cache, loading it if needed.
func (c *Cached) get(ctx context.Context, key string, q Query) (cache.Result[Locations], error) {
	requested := cacheQueryOf(&q)
	return Load(ctx, c.cache, key, func(ctx context.Context) (Locations, time.Duration, error) {
		answer, err := c.next.Resolve(ctx, requested.query())
		if err == nil {
			answer, err = bounded(ctx, answer)
		}
		if err != nil {
			return nil, storeTTL(err), err
		}
		return answer.Locations, answer.TTL, nil
	})
}

// cacheQuery is the part of a query that a load depends on: exactly what is in its key. It is small, so that the
// closure of the load retains little.
type cacheQuery struct {
	uri, spelling    uri.URI
	urn              uri.URN
	service          Service
	resolutionParams string
	hops             uint8
}

func cacheQueryOf(q *Query) cacheQuery {
	return cacheQuery{q.URI, q.Spelling, q.URN, q.Service, q.ResolutionParams, q.Hops}
}

func (q cacheQuery) query() Query {
	return Query{
		URI: q.uri, Spelling: q.spelling, URN: q.urn, Service: q.service, ResolutionParams: q.resolutionParams,
		Hops: q.hops,
	}
}

// negativeState returns a copy of a negative answer with the cache state. It returns any other error unchanged.
func negativeState(err error, state CacheState, ttl time.Duration) error {
	var n *Negative
	if !errors.As(err, &n) {
		return err
	}
	return n.WithTTL(ttl, state)
}
