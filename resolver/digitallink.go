package resolver

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns/digitallink"
)

// IsLink reports whether a URI, valid or not, is below a root of identifiers in web addresses, such as GS1
// Digital Link.
func (n Names) IsLink(u uri.URI) bool {
	return len(n.Roots) > 0 && !u.IsURN() && n.Roots.Find(u) != nil
}

// Link returns the identifier in a web address that a URI is, and its root. The root is nil if the URI is below
// none. The error is a *uri.ParseError.
func (n Names) Link(u uri.URI) (digitallink.Link, *digitallink.Root, error) {
	if len(n.Roots) == 0 || u.IsURN() {
		return digitallink.Link{}, nil, nil
	}
	root := n.Roots.Find(u)
	if root == nil {
		return digitallink.Link{}, nil, nil
	}
	link, err := root.Parse(u)
	return link, root, err
}

// publicLink maps the URL of an identifier at the public resolver of its scheme to the URL below the site's own
// root.
func (n Names) publicLink(u uri.URI) (uri.URI, bool) {
	if !u.IsLocation() || n.IsLink(u) {
		return uri.URI{}, false
	}
	for i := range n.Roots {
		root := &n.Roots[i]
		if root.Scheme.PublicResolver == "" {
			continue
		}
		rest, ok := strings.CutPrefix(u.WithoutFragment().Normalize().String(), root.Scheme.PublicResolver)
		if !ok {
			continue
		}
		if own, err := uri.Parse(root.URL() + rest); err == nil && n.IsLink(own) && n.isCanonical(own) {
			return own, true
		}
	}
	return uri.URI{}, false
}

// linkName returns the canonical name of an identifier in a web address. All its spellings have one name. It
// has no query, since the query only selects among the targets. ok reports whether the URI is such an
// identifier.
func (n Names) linkName(u uri.URI) (name uri.URI, ok bool, err error) {
	link, root, err := n.Link(u)
	if err != nil || root == nil {
		return uri.URI{}, root != nil, err
	}
	name, err = uri.Parse(root.Name(link))
	return name, true, err
}

// Levels returns the canonical names at which the links of a canonical name are registered, the most specific
// first; nil for a name that is no identifier in a web address.
func (n Names) Levels(name string) []string {
	if len(n.Roots) == 0 {
		return nil
	}
	u, err := uri.Parse(name)
	if err != nil {
		return nil
	}
	link, root, err := n.Link(u)
	if err != nil || root == nil {
		return nil
	}
	links := link.Levels()
	levels := make([]string, len(links))
	for i := range links {
		levels[i] = root.Name(links[i])
	}
	return levels
}

// CheckLevel returns an error if links cannot be registered at a canonical name (GS1-Conformant Resolver
// standard section 2.5.9); nil if they can, or if the name is no identifier in a web address.
func (n Names) CheckLevel(name string) error {
	u, err := uri.Parse(name)
	if err != nil {
		return err
	}
	link, root, err := n.Link(u)
	if err != nil || root == nil || link.IsLevel() {
		return err
	}
	return fmt.Errorf("links are registered at %s (GS1-Conformant Resolver standard section 2.5.9)",
		strings.Join(n.Levels(name), ", or "))
}

// PrimaryKey returns the canonical name of the primary key of an identifier in a web address. Names whose answers
// depend on the same registered names are this name itself, or continue it with a slash. It is "" for other
// names.
func (n Names) PrimaryKey(name string) string {
	for i := range n.Roots {
		root := n.Roots[i].URL()
		rest, ok := strings.CutPrefix(name, root)
		if !ok {
			continue
		}
		code, rest, ok := strings.Cut(rest, "/")
		if !ok || code == "" {
			return ""
		}
		value, _, _ := strings.Cut(rest, "/")
		return name[:len(root)+len(code)+1+len(value)]
	}
	return ""
}

// withLinkQuery returns locations with the query of the requested identifier in a web address, unchanged:
// GS1-Conformant Resolver standard section 2.12.
func (n Names) withLinkQuery(locations []Location, requested uri.URI) ([]Location, error) {
	query, _ := requested.Query()
	if query == "" || len(n.Roots) == 0 || n.Roots.Find(requested) == nil {
		return locations, nil
	}
	return WithQuery(locations, query)
}

// WithQuery returns locations with a query added to those of http and https. Locations that become too long are
// left out; if none remains, the error is a *Negative.
func WithQuery(locations []Location, query string) ([]Location, error) {
	if query == "" {
		return locations, nil
	}
	all := make([]Location, 0, len(locations))
	for _, l := range locations {
		if uri.EqualFold(l.URI[:min(len(l.URI), len("http"))], "http") {
			l.URI = AddQuery(l.URI, query)
		}
		if len(l.URI) <= MaxLocation {
			all = append(all, l)
		}
	}
	if len(all) == 0 && len(locations) > 0 {
		return nil, &Negative{
			Kind: ErrNotFound, Reason: "location too long with this query",
			Code: "location_too_long_by_query",
		}
	}
	return all, nil
}
