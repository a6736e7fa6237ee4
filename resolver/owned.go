package resolver

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// WithOwnedPrefixes returns n with the prefixes of its own names set to the canonical forms of beginnings.
func (n Names) WithOwnedPrefixes(beginnings []string) Names {
	own := make([]string, len(beginnings))
	for i, beginning := range beginnings {
		canonical, err := n.CanonicalPrefix(beginning)
		if err != nil { // "urn:" and the beginning of a NID do not parse as a URN yet
			if canonical = beginning; uri.EqualFold(canonical[:min(len(canonical), len("urn:"))], "urn:") {
				canonical = strings.ToLower(canonical)
			}
		}
		own[i] = canonical
	}
	n.OwnedPrefixes = own
	return n
}

// RegistryPrefixes returns the prefixes of the names for which the registry is queried; nil means all names in it.
func (n Names) RegistryPrefixes() []string {
	switch {
	case n.RegisteredPrefixes != nil:
		return nil
	case len(n.OwnedPrefixes) == 0:
		return []string{"urn:"}
	default:
		return n.OwnedPrefixes
	}
}

// IsName reports whether a URI is a name that is resolved, rather than the URL of a resource: a URN, a name for
// which the registry is queried, or one of a scheme with a public resolver.
func (n Names) IsName(u uri.URI) bool { return u.IsURN() || n.Owns(u) || n.Identifiers.HasResolver(u) }

// Owns reports whether u is a name other than a URN for which the registry is queried.
func (n Names) Owns(u uri.URI) bool {
	if u.IsURN() || len(n.OwnedPrefixes) == 0 && n.RegisteredPrefixes == nil {
		return false
	}
	name := u.Name().String()
	return n.RegisteredPrefixes.Contains(name) || hasBeginning(n.OwnedPrefixes, name)
}

// Claims reports whether u is a name other than a URN with a prefix that the site declares as its own (Own). If
// it is not registered, no other resolver is queried.
func (n Names) Claims(u uri.URI) bool {
	return len(n.OwnedPrefixes) > 0 && !u.IsURN() && hasBeginning(n.OwnedPrefixes, u.Name().String())
}

// OwnsARKs reports whether the registry is, or may be, queried for ARKs.
func (n Names) OwnsARKs() bool {
	return n.RegisteredPrefixes != nil ||
		slices.ContainsFunc(n.OwnedPrefixes,
			func(beginning string) bool { return strings.HasPrefix(beginning, "ark:") })
}

func hasBeginning(beginnings []string, name string) bool {
	return slices.ContainsFunc(beginnings, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}

// Identify returns a query for another spelling of a name as the query for the name: a label such as "doi:", the
// URL of a public resolver, for ARKs of any resolver if the registry has names of their NAAN, or a URL of a
// host of the site. It returns other queries unchanged. A URI below a root of identifiers in web addresses is
// always such an identifier. Use it to resolve names only: to a forward proxy the URL is that of a resource.
func (n Names) Identify(q Query) Query {
	if q.IsURN() || n.IsLink(q.URI) {
		return q
	}
	if site, ok := siteURL(q.URI); ok && n.IsLink(site) {
		q.URI = site
		return q
	}
	if normal := q.URI.Normalize(); n.IsLink(normal) { // a root may have a path
		q.URI = normal
		return q
	}
	name, ok := n.publicLink(q.URI)
	if !ok {
		name, ok = n.nameIn(q.URI)
	}
	if !ok {
		return q
	}
	named, err := NewQuery(name, q.Service)
	if err != nil {
		return q
	}
	if !named.IsURN() && q.URI.IsLocation() {
		named.Spelling = withoutLinkQuery(q.URI, n.IsLink(name))
	}
	named.Hops, named.At, named.Client, named.NamesOnly, named.QuotaErr = q.Hops, q.At, q.Client, q.NamesOnly,
		q.QuotaErr
	return named
}

// withoutLinkQuery returns a URL without its fragment. The URL of an identifier in a web address also loses its
// query, which is added to the locations.
func withoutLinkQuery(u uri.URI, isLink bool) uri.URI {
	u = u.WithoutFragment()
	text, _, hasQuery := strings.Cut(u.String(), "?")
	if !isLink || !hasQuery {
		return u
	}
	without, err := uri.Parse(text)
	if err != nil {
		return u
	}
	return without
}

// nameIn returns the name of which a URI is another spelling.
func (n Names) nameIn(u uri.URI) (uri.URI, bool) {
	if ark, ok := u.Normalize().ARK(); ok && n.ownsNAAN(ark) {
		return ark, true
	}
	if n.Claims(u) {
		return uri.URI{}, false
	}
	// A URL that is no valid name resolves to itself.
	if name, ok := n.Identifiers.FromURI(u); ok && (!u.IsLocation() || n.isCanonical(name)) {
		return name, !uri.EqualFold(name.Scheme(), u.Scheme()) || name.Normalize() != u.Normalize()
	}
	if site, ok := siteURL(u); ok && n.Owns(site) {
		return site, true
	}
	return uri.URI{}, false
}

// isCanonical reports whether a URI is a valid name.
func (n Names) isCanonical(u uri.URI) bool {
	q, err := NewQuery(u, I2L)
	if err == nil {
		_, err = n.Canonical(q)
	}
	return err == nil
}

// ownsNAAN reports whether the registry has ARKs with the NAAN of this ARK.
func (n Names) ownsNAAN(ark uri.URI) bool {
	name := ark.Name().String()
	parts := strings.SplitAfterN(name, "/", 3) // "ark:/", the NAAN and the rest
	if len(parts) < 3 {
		return false
	}
	naan := parts[0] + parts[1]
	return n.RegisteredPrefixes.Contains(name) || hasBeginning(n.OwnedPrefixes, name) ||
		slices.ContainsFunc(n.OwnedPrefixes, func(beginning string) bool { return strings.HasPrefix(beginning, naan) })
}

// siteURL returns a web URL in the form that names of web hosts have: https, whatever the scheme of the
// request, without port and final dot. ok is false if the URL is in this form already, or is no web URL.
func siteURL(u uri.URI) (site uri.URI, ok bool) {
	host, _ := u.Host()
	secure := uri.EqualFold(u.Scheme(), "https")
	hasForm := !strings.HasSuffix(host, ".") && !strings.Contains(host, "%") // the final dot may be encoded
	if secure && hasForm || !secure && !u.IsWeb() {
		return uri.URI{}, false
	}
	_, rest, _ := strings.Cut(u.NormalizeSteps(uri.AllSteps&^uri.SchemeForm).String(), "://")
	host, path, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(host, "@:?#") {
		return uri.URI{}, false
	}
	site, err := uri.Parse("https://" + strings.TrimSuffix(host, ".") + "/" + path)
	return site, err == nil
}
