package ddds

import (
	"context"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// Purge removes all record sets from the cache that the rules for the given canonical names lead to, and
// returns their number. It follows cached records only, and sends no queries.
func (r *Resolver) Purge(ctx context.Context, names []resolver.Query) int {
	n := 0
	for i, lookup := range r.lookups {
		cached, ok := lookup.(*Cached)
		if !ok {
			continue // without a cache
		}
		found := cacheOnly{cached, make(map[string]bool)}
		for _, q := range names {
			for _, q.Service = range []resolver.Service{resolver.I2L, resolver.I2Ls, resolver.I2C, resolver.I2Ns} {
				w := r.walk(i, q)
				w.lookup, w.queryFunc, w.fallback, w.observer = found, nil, true, Observer{}
				_, _ = w.run(ctx, r.firstKey(q)+"."+r.config.Roots[i]) // only to collect the looked-up keys
			}
		}
		n += cached.purge(found.keys)
	}
	return n
}

// IsFirstKey reports whether a key of the cache of record sets is a first key of a namespace, below one of the
// roots.
func (r *Resolver) IsFirstKey(key, nid string) bool {
	name, rrtype, _ := strings.Cut(key, " ")
	if r.config.BySchemes || !strings.HasPrefix(rrtype, naptrType) {
		return false
	}
	for _, root := range r.config.Roots {
		if first := nid + "." + root; name == first || strings.HasSuffix(name, "."+first) {
			return true
		}
	}
	return false
}

func (c recordCache) purge(keys map[string]bool) int {
	n := 0
	for key := range keys {
		if c.cache.Purge(key, false) {
			n++
		}
	}
	return n
}

// cacheOnly is a Lookuper that reads from the cache only, and collects the keys.
type cacheOnly struct {
	cached *Cached
	keys   map[string]bool
}

// NAPTR implements Lookuper.
func (r cacheOnly) NAPTR(_ context.Context, name string) ([]NAPTR, RRsetInfo, error) {
	records, err := r.get(name, naptrType)
	return records.naptr, RRsetInfo{}, err
}

// SRV implements Lookuper.
func (r cacheOnly) SRV(_ context.Context, name string) ([]SRV, RRsetInfo, error) {
	records, err := r.get(name, srvType)
	return records.srv, RRsetInfo{}, err
}

func (r cacheOnly) get(name, rrtype string) (Records, error) {
	key := r.cached.key(name, rrtype)
	r.keys[key] = true // even if not cached: a load may be running
	e := r.cached.cache.Lookup(key)
	if e == nil {
		return Records{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: name + " is not cached"}
	}
	return e.Value, e.Err()
}
