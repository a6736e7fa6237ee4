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

// Config is the configuration of a Resolver.
type Config struct {
	Lookup Lookuper
	// Lookups overrides Lookup for the roots that are its keys, and for all domains that their rules lead to.
	Lookups map[string]Lookuper
	// Roots are the domains below which NIDs are first keys, queried in order: "urn.example.org.", then
	// "urn.arpa." (RFC 3404 section 4.5).
	Roots []string
	// BySchemes selects the URI Resolution application: first keys are schemes, below roots such as
	// "uri.arpa.". It is not for URNs, whose first key is the NID by a shortcut (RFC 3404 section 3).
	BySchemes bool
	// FirstKey returns the first key of a URN, without the root; nil means its NID.
	FirstKey func(name uri.URN) string
	// Query queries a server of a terminal rule by THTTP. If it is nil, the answer has locations at the server
	// instead.
	Query resolver.QueryFunc
	// Fallback continues with the next record of an order after a failure, as in RFC 6116 section 5.2.1;
	// without it the failure is returned.
	Fallback bool
	// Observer is called with events, for metrics.
	Observer Observer
	// MaxDomains limits the domains that the rules for one name lead through.
	MaxDomains int
}

// Resolver resolves URNs by the URN Resolution application of RFC 3404, which starts at the NID, or other URIs
// by the URI Resolution application.
type Resolver struct {
	config  Config
	lookups []Lookuper // one for each root
	sources []source   // one for each root

	expressions expressions
}

// New returns a Resolver.
func New(config Config) *Resolver {
	config.Roots = slices.Clone(config.Roots)
	r := &Resolver{config: config}
	for i, root := range config.Roots {
		lookup := config.Lookup
		for name, other := range config.Lookups {
			if uri.SameHost(name, root) {
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
	if r.config.FirstKey != nil {
		return r.config.FirstKey(q.URN)
	}
	return q.NID()
}

// walk returns the initial state for a query from one of the roots.
func (r *Resolver) walk(root int, q resolver.Query) *walk {
	return &walk{
		lookup: r.lookups[root], queryFunc: r.config.Query, limit: r.config.MaxDomains, fallback: r.config.Fallback,
		query: q, aus: q.URI.String(), source: r.sources[root], observer: r.config.Observer,
		expressions: &r.expressions,
	}
}

// Resolve implements resolver.Resolver for URIs in canonical form. The error for a namespace, or a scheme, that
// no root delegates is resolver.ErrUnsupported.
func (r *Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	if !r.config.BySchemes && !q.IsURN() {
		_, err := q.URI.URN() // for its *uri.ParseError
		return resolver.Answer{}, err
	}
	key := r.firstKey(q)
	if _, err := domainName(key + ".example"); err != nil && !r.config.BySchemes {
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrUnsupported, Reason: err.Error(),
			Code: "no_domain_name", TTL: resolver.Forever,
		}
	}
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
		Kind: resolver.ErrUnsupported, Reason: strings.Join(reasons, ", "), Code: "not_delegated", TTL: max(ttl, 0),
	}
}

// limited limits the TTL of an outcome to that of earlier roots without the namespace, since such a root has
// precedence once it delegates the namespace. A negative ttl means no limit.
func limited(answer resolver.Answer, err error, ttl time.Duration) (resolver.Answer, error) {
	if ttl < 0 {
		return answer, err
	}
	return answer.LimitTTL(ttl), resolver.LimitTTL(err, ttl)
}

// Observer has functions that a Resolver calls, for metrics. They must be safe for concurrent use, and may be
// nil.
type Observer struct {
	Step    func()              // called for each lookup of the rules of a domain
	Skipped func(reason Reason) // called for each skipped record
}

func (o Observer) step() {
	if o.Step != nil {
		o.Step()
	}
}

func (o Observer) skipped(s selection) {
	if o.Skipped == nil {
		return
	}
	for _, p := range s.skipped {
		o.Skipped(p.kind)
	}
	for range s.excess - 1 { // s.skipped has the first one
		o.Skipped(ReasonExcess)
	}
}

// source has the values of resolver.Source of a root, with and without authentication, for locations of resources
// and of descriptions. They are shared by all answers.
type source struct {
	plain, authentic, describing, authenticDescribing *resolver.Source
}

func newSource(name string) source {
	described := &resolver.Relation{Rel: "describedby"}
	return source{
		plain: &resolver.Source{Name: name}, authentic: &resolver.Source{Name: name, Authentic: true},
		describing:          &resolver.Source{Name: name, Relation: described},
		authenticDescribing: &resolver.Source{Name: name, Authentic: true, Relation: described},
	}
}

// location returns a location with the authentication of the records used so far. For the services I2C and I2Cs
// it is a description of the resource; for others the relation is unspecified.
func (w *walk) location(uri string) resolver.Location {
	from := w.source.authentic
	switch describes := w.query.Service == resolver.I2C || w.query.Service == resolver.I2Cs; {
	case describes && w.unauthenticated:
		from = w.source.describing
	case describes:
		from = w.source.authenticDescribing
	case w.unauthenticated:
		from = w.source.plain
	}
	return resolver.Location{URI: uri, From: from}
}
