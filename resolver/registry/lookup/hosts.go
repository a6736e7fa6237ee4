package lookup

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// Hosts resolves the names of web hosts of the site, such as PURLs and short links. Links to these may carry an
// additional query, as in campaigns: if the name with the query is not registered, the name without the query
// is resolved, and the query is appended to its location. The two names are separate queries with separate
// cache entries, each of which is removed only by changes of its own name.
type Hosts struct {
	resolver.Resolver
	// Names are the beginnings of the names of these hosts: "https://purl.example.org/".
	Names []string
}

// Resolve implements resolver.Resolver for canonical names.
func (h Hosts) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	answer, err := h.Resolver.Resolve(ctx, q)
	if err == nil {
		return answer, nil
	}
	name, query, ok := strings.Cut(q.URI.String(), "?")
	if !ok || !hasBeginning(h.Names, name) || !isUnknown(err) {
		return answer, err
	}
	without, parseErr := uri.Parse(name)
	if parseErr != nil {
		return answer, err // unreachable: the name was valid with the query
	}
	q.URI = without
	answer, err = h.Resolver.Resolve(ctx, q)
	if err == nil && q.Service.Locates() {
		answer.Locations, err = resolver.WithQuery(answer.Locations, query)
	}
	return answer, err
}

// isUnknown reports whether an error means that nothing is registered for a name.
func isUnknown(err error) bool {
	var n *resolver.Negative
	return errors.As(err, &n) && errors.Is(n.Kind, resolver.ErrNotFound) && n.Record == nil
}

// hasBeginning reports whether a name begins with one of some texts.
func hasBeginning(beginnings []string, name string) bool {
	return slices.ContainsFunc(beginnings, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}

// isAsUnknown reports whether a name of a web host has a query, and neither the name nor a prefix that ends
// inside the query is registered. Shorter prefixes apply to the name without its query: see Hosts.
func (r *Resolver) isAsUnknown(s state, name string) (bool, error) {
	if !strings.Contains(name, "?") || !hasBeginning(r.config.Hosts, name) {
		return false, nil
	}
	e, err := s.entry(registry.Name(name))
	if err != nil || e.Exists() {
		return false, err
	}
	p, err := s.prefix(name)
	return !strings.Contains(p.Name, "?"), err
}
