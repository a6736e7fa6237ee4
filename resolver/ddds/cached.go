package ddds

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/resolver"
)

// Records is what the cache of record sets holds: those of one name and type.
type Records struct {
	naptr     []NAPTR
	srv       []SRV
	authentic bool
}

// RecordsSize is the memory of a cached value, for a store.
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

// Cached remembers the record sets of its next Lookuper by name and type, for
// their TTL; names that do not exist for the TTL of their zone's SOA.
type Cached struct {
	cache  *cache.Cache[Records]
	next   Lookuper
	bounds Bounds
}

// Bounds are how records are remembered. The zero value keeps to their TTL.
type Bounds struct {
	MinTTL, MaxTTL time.Duration // 0 is no bound
	// Realm tells apart what several Cached have in one cache.
	Realm string
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
func (c *Cached) NAPTR(ctx context.Context, name string) ([]NAPTR, Proof, error) {
	records, proof, err := c.get(ctx, name, naptrType, func(ctx context.Context) (Records, time.Duration, error) {
		naptr, proof, err := c.next.NAPTR(ctx, name)
		return Records{naptr: naptr, authentic: proof.Authentic}, proof.TTL, err
	})
	return records.naptr, proof, err
}

// SRV implements Lookuper.
func (c *Cached) SRV(ctx context.Context, name string) ([]SRV, Proof, error) {
	records, proof, err := c.get(ctx, name, srvType, func(ctx context.Context) (Records, time.Duration, error) {
		srv, proof, err := c.next.SRV(ctx, name)
		return Records{srv: srv, authentic: proof.Authentic}, proof.TTL, err
	})
	return records.srv, proof, err
}

// The types of records, as they stand in keys and traces.
const naptrType, srvType = "NAPTR", "SRV"

// key returns the key of a record set.
func (c *Cached) key(name, rrtype string) string { return name + " " + rrtype + c.bounds.Realm }

// staleTTL is what is left to records that serve although they have expired,
// while nobody can be asked: RFC 8767 section 4.
const staleTTL = 30 * time.Second

func (c *Cached) get(ctx context.Context, name, rrtype string, load cache.Load[Records]) (Records, Proof, error) {
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
			// An answer that may not be remembered is an answer: what was
			// remembered must not stand in for it (RFC 8767 section 4).
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
		return Records{}, Proof{}, n.WithTTL(max(result.TTL, 0), n.Cache)
	}
	return result.Value, Proof{TTL: max(result.TTL, 0), Authentic: result.Value.authentic}, err
}
