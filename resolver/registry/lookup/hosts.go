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

// Hosts resolves the names of web hosts of the site, such as PURLs and short links. Who links to one may add a query to it, as campaigns
// do: where the name is not registered with that query, it is the one without it, and the query is added to its location. Both are
// asked for apart, so that each has an answer of its own in a cache, which a change of it alone removes.
type Hosts struct {
	resolver.Resolver
	// Names are what the names of these hosts begin with: "https://purl.example.org/".
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
		return answer, err // it was valid with the query
	}
	q.URI = without
	answer, err = h.Resolver.Resolve(ctx, q)
	if err == nil && q.Service.Locates() {
		answer.Locations, err = resolver.WithQuery(answer.Locations, query)
	}
	return answer, err
}

// isUnknown reports whether an error says that nothing is registered of a name.
func isUnknown(err error) bool {
	var n *resolver.Negative
	return errors.As(err, &n) && errors.Is(n.Kind, resolver.ErrNotFound) && n.Record == nil
}

// hasBeginning reports whether a name begins with one of some texts.
func hasBeginning(beginnings []string, name string) bool {
	return slices.ContainsFunc(beginnings, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}

// isAsUnknown reports whether a name of a web host has a query with which nothing is registered: neither the name, nor a prefix that
// begins in the query. What encloses the name is said of it without its query: see Hosts.
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
