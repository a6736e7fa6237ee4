package ddds

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/resolver"
)

// Records is a value of the cache of record sets: the records of one name and type.
type Records struct {
	naptr     []NAPTR
	srv       []SRV
	authentic bool
}

// RecordsSize returns the memory of a cached value in bytes, for a store.
func RecordsSize(r Records) int {
	const naptrSize, srvSize = 80, 32
	size := 0
	for _, n := range r.naptr {
		size += naptrSize + len(n.Flags) + len(n.Services) + len(n.Regexp) + len(n.Replacement)
	}
	for _, s := range r.srv {
		size += srvSize + len(s.Target)
	}
	return size
}

// Cached caches the record sets of its next Lookuper by name and type for their TTL, and
// negative answers for the TTL from the SOA record of the zone (RFC 2308 section 5).
type Cached struct {
	cache  *cache.Cache[Records]
	next   Lookuper
	bounds Bounds
}

// Bounds changes the TTL of cached records. The zero value does not.
type Bounds struct {
	MinTTL, MaxTTL time.Duration // 0 is no bound
	// Root separates the entries of roots with servers of their own, in a cache that they
	// share; "" is for all others.
	Root string
}

// NewCached returns a Cached in front of next. It does not own the cache.
func NewCached(c *cache.Cache[Records], next Lookuper, bounds Bounds) *Cached {
	return &Cached{cache: c, next: next, bounds: bounds}
}

func (b Bounds) limit(ttl time.Duration) time.Duration {
	ttl = max(ttl, b.MinTTL)
	if b.MaxTTL > 0 {
		ttl = min(ttl, b.MaxTTL)
	}
	return ttl
}

// NAPTR implements Lookuper.
func (c *Cached) NAPTR(ctx context.Context, name string) ([]NAPTR, RRsetInfo, error) {
	records, info, err := c.get(ctx, name, naptrType, func(ctx context.Context) (Records, time.Duration, error) {
		naptr, info, err := c.next.NAPTR(ctx, name)
		return Records{naptr: naptr, authentic: info.Authentic}, info.TTL, err
	})
	return records.naptr, info, err
}

// SRV implements Lookuper.
func (c *Cached) SRV(ctx context.Context, name string) ([]SRV, RRsetInfo, error) {
	records, info, err := c.get(ctx, name, srvType, func(ctx context.Context) (Records, time.Duration, error) {
		srv, info, err := c.next.SRV(ctx, name)
		return Records{srv: srv, authentic: info.Authentic}, info.TTL, err
	})
	return records.srv, info, err
}

// The types of records, in keys and traces.
const naptrType, srvType = "NAPTR", "SRV"

// key returns the key of a record set.
func (c *Cached) key(name, rrtype string) string {
	if c.bounds.Root == "" {
		return name + " " + rrtype
	}
	return name + " " + rrtype + " " + c.bounds.Root
}

// staleTTL is the TTL of stale records that are used while no server answers: RFC 8767
// section 4.
const staleTTL = 30 * time.Second

func (c *Cached) get(ctx context.Context, name, rrtype string, load cache.Load[Records]) (Records, RRsetInfo, error) {
	result, err := c.cache.Get(ctx, c.key(name, rrtype), func(ctx context.Context) (Records, time.Duration, error) {
		records, ttl, err := load(ctx)
		var n *resolver.Negative
		if errors.As(err, &n) {
			ttl = n.TTL
		}
		if err == nil || n != nil {
			ttl = c.bounds.limit(ttl)
		}
		if ttl <= 0 && (err == nil || n != nil) {
			// An answer that must not be cached still replaces the cached one
			// (RFC 8767 section 4).
			ttl = cache.NoStore
		}
		return records, ttl, err
	})
	if t := resolver.TraceOf(ctx); t != nil && result.Status != cache.Miss {
		t.Add("dns", "%s %s from the cache, ttl %s", name, rrtype, result.TTL.Round(time.Second))
	}
	if result.Status == cache.Stale {
		result.TTL = staleTTL
	}
	var n *resolver.Negative
	if errors.As(err, &n) {
		return Records{}, RRsetInfo{}, n.WithTTL(max(result.TTL, 0), n.Cache)
	}
	return result.Value, RRsetInfo{TTL: max(result.TTL, 0), Authentic: result.Value.authentic}, err
}
