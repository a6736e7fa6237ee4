package ddds

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Config says where DDDS begins.
type Config struct {
	Lookup Lookuper
	// Lookups take the place of Lookup for some roots, and for all domains to which
	// their rules lead.
	Lookups map[string]Lookuper
	// Roots are the domains below which NIDs are first keys, asked in order:
	// "urn.example.org.", then "urn.arpa." (RFC 3404 section 4.5).
	Roots []string
	// BySchemes makes it the URI Resolution application: first keys are schemes,
	// below roots such as "uri.arpa.", and URNs have no part in it: their NID is a
	// shortcut (RFC 3404 section 3).
	BySchemes bool
	// Ask asks the server at base, such as "http://a.example:8080", by THTTP: the
	// protocol of S and A rules. nil leads clients there instead.
	Ask resolver.Ask
	// Fallback goes on with the next record of an order where one leads to a
	// failure, as RFC 6116 section 5.2.1 does; otherwise that is reported.
	Fallback bool
	// Observer is called with what happens.
	Observer Observer
	// MaxDomains bounds the domains that the rules for one name lead through.
	MaxDomains int
}

// Resolver resolves URNs by the URN Resolution application of RFC 3404, which
// begins at the NID, or other URIs by the URI Resolution application.
type Resolver struct {
	config  Config
	lookups []Lookuper // of each root
	sources []source   // for locations below each root
}

// New returns a Resolver.
func New(config Config) *Resolver {
	config.Roots = slices.Clone(config.Roots)
	r := &Resolver{config: config}
	for i, root := range config.Roots {
		lookup := config.Lookup
		for name, other := range config.Lookups {
			if uri.CanonicalDomain(name) == uri.CanonicalDomain(root) {
				lookup = other
			}
		}
		config.Roots[i] = uri.CanonicalDomain(root)
		r.lookups = append(r.lookups, lookup)
		r.sources = append(r.sources, newSource("ddds "+config.Roots[i]))
	}
	return r
}

// firstKey returns the first key of a name, without the root: RFC 3404 section 4.2.
func (r *Resolver) firstKey(q resolver.Query) string {
	if r.config.BySchemes {
		return q.URI.Scheme()
	}
	return q.NID()
}

// walk returns the way to be taken from one of the roots.
func (r *Resolver) walk(root int, q resolver.Query) *walk {
	return &walk{
		lookup: r.lookups[root], ask: r.config.Ask, limit: r.config.MaxDomains, fallback: r.config.Fallback,
		query: q, aus: q.URI.String(), source: r.sources[root], observer: r.config.Observer,
	}
}

// Resolve implements resolver.Resolver for URIs in canonical form. A namespace, or a
// scheme, that is delegated below none of the roots is resolver.ErrUnsupported.
func (r *Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	if !r.config.BySchemes && !q.IsURN() {
		_, err := q.URI.URN() // which says what is wrong with it
		return resolver.Answer{}, err
	}
	key := r.firstKey(q)
	var reasons []string
	ttl := time.Duration(-1)
	for i, root := range r.config.Roots {
		answer, err := r.walk(i, q).run(ctx, key+"."+root)
		if !errors.Is(err, errNoDelegation) {
			return limited(answer, err, ttl)
		}
		var n *resolver.Negative
		if errors.As(err, &n) {
			reasons = append(reasons, n.Reason)
			if ttl < 0 || n.TTL < ttl {
				ttl = n.TTL
			}
		}
	}
	return resolver.Answer{}, &resolver.Negative{
		Kind: resolver.ErrUnsupported, Reason: strings.Join(reasons, ", "), TTL: max(ttl, 0),
	}
}

// limited limits an outcome to the TTL of the roots that did not have the namespace:
// when one of them has it, that one counts. Below 0 is no limit.
func limited(answer resolver.Answer, err error, ttl time.Duration) (resolver.Answer, error) {
	if ttl < 0 {
		return answer, err
	}
	return answer.AtMost(ttl), resolver.AtMost(err, ttl)
}
