package ddds

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/resolver"
)

// Records is a value of the cache of record sets: the records of one name and type.
type Records struct {
	naptr     []NAPTR
	srv       []SRV
	addrs     []netip.Addr
	authentic bool
}

// RecordsSize returns the size of a cached value in bytes, for the accounting of a store.
func RecordsSize(r Records) int {
	const naptrSize, srvSize, addrSize = 72, 24, 24
	const textOverhead = 8
	size := addrSize*cap(r.addrs) + naptrSize*cap(r.naptr) + srvSize*cap(r.srv)
	for _, n := range r.naptr {
		size += 2*textOverhead + len(n.Flags) + len(n.Services) + len(n.Regexp) + len(n.Replacement)
	}
	for _, s := range r.srv {
		size += textOverhead + len(s.Target)
	}
	return size
}

// recordCache caches record sets by name and type for their TTL, and negative answers for the TTL from the SOA
// record of the zone (RFC 2308 section 5).
type recordCache struct {
	cache  *cache.Cache[Records]
	bounds Bounds
}

// Cached is a Lookuper that caches the record sets of its next Lookuper.
type Cached struct {
	recordCache
	next Lookuper
}

// Bounds limits the TTL of cached records. The zero value has no limits.
type Bounds struct {
	MinTTL, MaxTTL time.Duration // 0 means no limit
	// Root separates the entries of roots with their own servers in a shared cache; "" is for all other roots.
	Root string
}

// NewCached returns a Cached in front of next. It does not own the cache.
func NewCached(c *cache.Cache[Records], next Lookuper, bounds Bounds) *Cached {
	return &Cached{recordCache{c, bounds}, next}
}

// CachedAddresses is an AddressLookuper that caches the addresses of its next AddressLookuper.
type CachedAddresses struct {
	recordCache
	next AddressLookuper
}

// NewCachedAddresses returns a CachedAddresses in front of next. It does not own the cache.
func NewCachedAddresses(c *cache.Cache[Records], next AddressLookuper, bounds Bounds) *CachedAddresses {
	return &CachedAddresses{recordCache{c, bounds}, next}
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

// Addresses implements AddressLookuper.
func (c *CachedAddresses) Addresses(ctx context.Context, name string, family Family) ([]netip.Addr, RRsetInfo, error) {
	rrtype := addressType
	if family == IPv6 {
		rrtype = address6Type
	}
	records, info, err := c.get(ctx, name, rrtype, func(ctx context.Context) (Records, time.Duration, error) {
		addrs, info, err := c.next.Addresses(ctx, name, family)
		return Records{addrs: addrs, authentic: info.Authentic}, info.TTL, err
	})
	return records.addrs, info, err
}

// The record types in keys and traces.
const naptrType, srvType, addressType, address6Type = "NAPTR", "SRV", "A", "AAAA"

// key returns the cache key of a record set.
func (c recordCache) key(name, rrtype string) string {
	if c.bounds.Root == "" {
		return name + " " + rrtype
	}
	return name + " " + rrtype + " " + c.bounds.Root
}

// staleTTL is the TTL of stale records that are used while no server answers: RFC 8767 section 4.
const staleTTL = 30 * time.Second

func (c recordCache) get(
	ctx context.Context, name, rrtype string, load cache.LoadFunc[Records],
) (Records, RRsetInfo, error) {
	result, err := resolver.Load(ctx, c.cache, c.key(name, rrtype),
		func(ctx context.Context) (Records, time.Duration, error) {
			records, ttl, err := load(ctx)
			if n := negative(err); n != nil {
				ttl = n.TTL
			} else if err != nil {
				return records, ttl, err
			}
			if ttl = c.bounds.limit(ttl); ttl <= 0 {
				// An answer that must not be cached still replaces the cached one (RFC 8767 section 4).
				ttl = cache.NoStore
			}
			return records, ttl, err
		})
	if t := resolver.TraceOf(ctx); t != nil && result.Status != cache.Miss {
		public := fmt.Sprintf("%s %s %s", name, rrtype, describeCached(result, nil))
		if resolver.PublicOutcome(err) == "" {
			public = ""
		}
		step := resolver.Step{Stage: "dns", Code: "dns_stored"}
		switch {
		case err != nil:
			step = resolver.FailedStep("dns", err)
		case result.Status == cache.Collapsed:
			step.Code = "dns_shared"
		}
		if step.Public = public; len(step.Values) == 0 {
			step.Values = []any{"Domain", name, "Type", rrtype}
		}
		t.Add(step, "%s %s %s", name, rrtype, describeCached(result, err))
	}
	if result.Status == cache.Stale {
		result.TTL = staleTTL
	}
	if n := negative(err); n != nil {
		return Records{}, RRsetInfo{}, n.WithTTL(max(result.TTL, 0), n.Cache)
	}
	return result.Value, RRsetInfo{TTL: max(result.TTL, 0), Authentic: result.Value.authentic}, err
}

// negative returns the negative answer in err, or nil.
func negative(err error) *resolver.Negative {
	if err == nil {
		return nil
	}
	var n *resolver.Negative
	errors.As(err, &n)
	return n
}

// describeCached describes a cached or shared result for a trace.
func describeCached(result cache.Result[Records], err error) string {
	if result.Status == cache.Collapsed {
		return "by a query already in flight"
	}
	what := fmt.Sprintf("from the cache, %s old, ttl %s", result.Age.Round(time.Second), result.TTL.Round(time.Second))
	if err != nil {
		return what + ", negative: " + err.Error()
	}
	r := result.Value
	return fmt.Sprintf("%s, %s, %s", what, countRecords(len(r.naptr)+len(r.srv)+len(r.addrs)), dnssec(r.authentic))
}

func countRecords(n int) string {
	if n == 1 {
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}

// dnssec describes the AD bit.
func dnssec(authentic bool) string {
	if authentic {
		return "authenticated"
	}
	return "not authenticated"
}
