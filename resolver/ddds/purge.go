package ddds

import (
	"context"

	"github.com/urnd/urnd/resolver"
)

// Purge removes from the cache all record sets to which the rules lead from the given
// names, which are canonical, and returns how many. It follows what is cached, and sends
// no questions.
func (r *Resolver) Purge(ctx context.Context, names []resolver.Query) int {
	n := 0
	for i, lookup := range r.lookups {
		cached, ok := lookup.(*Cached)
		if !ok {
			continue // nothing else remembers anything
		}
		found := recall{cached, make(map[string]bool)}
		for _, q := range names {
			for _, q.Service = range []resolver.Service{resolver.I2L, resolver.I2Ls} {
				w := r.walk(i, q)
				w.lookup, w.ask, w.fallback, w.observer = found, nil, true, Observer{}
				_, _ = w.run(ctx, r.firstKey(q)+"."+r.config.Roots[i]) // only what it looks up counts
			}
		}
		n += cached.purge(found.keys)
	}
	return n
}

// PurgeNamespace removes the record sets from the cache with which the rules for a
// namespace begin, and returns how many.
func (r *Resolver) PurgeNamespace(nid string) int {
	n := 0
	for i, lookup := range r.lookups {
		if cached, ok := lookup.(*Cached); ok && !r.config.BySchemes {
			n += cached.purge(map[string]bool{cached.key(nid+"."+r.config.Roots[i], naptrType): true})
		}
	}
	return n
}

func (c *Cached) purge(keys map[string]bool) int {
	n := 0
	for key := range keys {
		if c.cache.Purge(key, false) {
			n++
		}
	}
	return n
}

// recall is a Lookuper that answers from a cache alone, and notes the keys.
type recall struct {
	cached *Cached
	keys   map[string]bool
}

// NAPTR implements Lookuper.
func (r recall) NAPTR(_ context.Context, name string) ([]NAPTR, Proof, error) {
	records, err := r.get(name, naptrType)
	return records.naptr, Proof{}, err
}

// SRV implements Lookuper.
func (r recall) SRV(_ context.Context, name string) ([]SRV, Proof, error) {
	records, err := r.get(name, srvType)
	return records.srv, Proof{}, err
}

func (r recall) get(name, rrtype string) (Records, error) {
	key := r.cached.key(name, rrtype)
	r.keys[key] = true // also where a load of it runs
	e := r.cached.cache.Lookup(key)
	if e == nil {
		return Records{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: name + " is not cached"}
	}
	return e.Value, e.Err()
}
