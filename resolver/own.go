package resolver

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Owning returns n with what the names begin with that the registry of the site is asked for, in the form that canonical names have.
func (n Names) Owning(beginnings []string) Names {
	n.Own = make([]string, len(beginnings))
	for i, beginning := range beginnings {
		canonical, err := n.CanonicalPrefix(beginning)
		if err != nil { // "urn:" and the beginning of a NID are not that of a URN yet
			if canonical = beginning; uri.EqualFold(canonical[:min(len(canonical), len("urn:"))], "urn:") {
				canonical = strings.ToLower(canonical)
			}
		}
		n.Own[i] = canonical
	}
	return n
}

// Owns reports whether a name is one that the registry of the site is asked for, although it is not
// a URN.
func (n Names) Owns(u uri.URI) bool {
	return len(n.Own) > 0 && !u.IsURN() && n.hasBeginning(u.Name().String())
}

// OwnsARKs reports whether the registry of the site is asked for ARKs.
func (n Names) OwnsARKs() bool {
	return slices.ContainsFunc(n.Own, func(beginning string) bool { return strings.HasPrefix(beginning, "ark:") })
}

// hasBeginning reports whether a canonical name begins as those of the registry do.
func (n Names) hasBeginning(name string) bool {
	return slices.ContainsFunc(n.Own, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}

// Spelling returns what a name, or a prefix of names, would be in the registry without the rules by which its scheme calls more names
// equal, as it was before urnd had these rules; "" where there is no such rule.
func (n Names) Spelling(text string, isPrefix bool) string {
	const end = "0" // see CanonicalPrefix
	if isPrefix {
		text += end
	}
	u, err := uri.Parse(text)
	if err != nil || u.IsURN() {
		return ""
	}
	u = u.WithoutFragment()
	spelling := u.Spelling()
	if spelling == u.Name() {
		return ""
	}
	if isPrefix {
		return strings.TrimSuffix(spelling.String(), end)
	}
	return spelling.String()
}

// Named returns a query about a URL as one about the ARK in it, if that has a NAAN that Own names; else it returns q. It is for who
// resolves names: the URL as such is that of a resource, to which a proxy forwards.
func (n Names) Named(q Query) Query {
	if len(n.Own) == 0 || q.IsURN() {
		return q
	}
	ark, ok := q.URI.ARK()
	if !ok {
		return q
	}
	parts := strings.SplitAfterN(ark.Name().String(), "/", 3) // "ark:/", the NAAN and what follows
	naan := strings.Join(parts[:min(len(parts), 2)], "")
	if len(parts) == 3 && slices.ContainsFunc(n.Own, func(beginning string) bool { return strings.HasPrefix(beginning, naan) }) {
		q.URI = ark
	}
	return q
}
