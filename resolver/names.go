package resolver

import (
	"errors"
	"strings"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
	"github.com/urnd/urnd/urnns/digitallink"
)

// Names decides which identifiers are accepted, and which of them are equivalent. It is safe for concurrent
// use.
type Names struct {
	Set    *urnns.Set
	Accept uri.Conformance // specifications of URNs; each part of a URN must conform to one of them
	// Identifiers are those in common use without "urn:", such as "doi:10.1000/1"; nil has none.
	Identifiers *urnns.Identifiers
	// OwnedPrefixes are the prefixes of names that the site declares to be in its registry, not only of URNs; nil means
	// all URNs.
	OwnedPrefixes []string
	// RegisteredPrefixes are the prefixes of the other names in the registry; nil if the registry is queried for
	// Own alone.
	RegisteredPrefixes *PrefixSet
	// Roots are the roots of identifiers in web addresses, such as GS1 Digital Link. Every URI below a root is
	// such an identifier.
	Roots digitallink.Roots
}

// Canonical returns q with the canonical name. For a URN it follows the rules of the namespace, and drops
// components but for ResolutionParams. For other URIs it is the normal form without fragment: ARKs for which
// the registry is queried also lose their query, and identifiers in web addresses follow their scheme. Call
// Identify first, to map other spellings. The error is a *uri.ParseError.
func (n Names) Canonical(q Query) (Query, error) {
	if !q.IsURN() {
		if err := q.URI.Check(); err != nil {
			return Query{}, err
		}
		requested := q.URI.WithoutFragment()
		if name, ok, err := n.linkName(requested); ok {
			q.URI = name
			return q, err
		}
		if q.URI = requested.Normalize(); n.Owns(requested) {
			q.URI = requested.Name()
		}
		if q.Spelling.IsLocation() { // see Identify
			return q, nil
		}
		if q.Spelling = (uri.URI{}); n.Owns(requested) || n.Identifiers.HasResolver(requested) {
			if spelling := requested.Spelling(); spelling != q.URI {
				q.Spelling = spelling
			}
		}
		return q, nil
	}
	if err := q.URN.Require(n.Accept); err != nil {
		return Query{}, err
	}
	v, err := n.Set.Canonical(q.URN)
	if err != nil {
		return Query{}, err
	}
	q.ResolutionParams = resolutionParams(q.URN)
	q.URI, q.URN = v.URI(), v
	return q, nil
}

// CanonicalName returns the canonical name of u. The error is a *uri.ParseError.
func (n Names) CanonicalName(u uri.URI) (uri.URI, error) {
	q, err := NewQuery(u, I2L)
	if err != nil {
		return uri.URI{}, err
	}
	q, err = n.Canonical(n.Identify(q))
	return q.URI, err
}

// CanonicalPrefix returns the prefix of canonical names that corresponds to the prefix text of names. The error
// is a *uri.ParseError.
func (n Names) CanonicalPrefix(text string) (string, error) {
	const end = "0" // a name has at least one character after "urn:nid:"
	if beginning, ok := n.Identifiers.PrefixURI(text); ok {
		text = beginning
	}
	u, err := uri.Parse(text + end)
	if err != nil {
		return "", err
	}
	if !u.IsURN() {
		u = n.Identify(Query{URI: u}).URI
	}
	if !u.IsURN() {
		prefix, ok := strings.CutSuffix(u.Normalize().String(), end)
		if !ok { // the text that follows changes the host, the port or a byte
			return "", &uri.ParseError{Input: text, Offset: len(text), Rule: rulePrefix}
		}
		return prefix, nil
	}
	v, err := u.URN()
	if err == nil {
		v, err = n.Set.Fold(v)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(v.URI().String(), end), nil
}

var rulePrefix = uri.Rule{
	Code: "prefix_end", Name: "prefix", Section: "urnd's registry",
	Requirement: `a prefix includes the whole authority, as in "https://example.org/", and does not end within "%41"`,
}

// Warnings returns the rules that q breaks although it is accepted: reserved NIDs (RFC 8141 section 5), and
// checks of a lenient namespace.
func (n Names) Warnings(q Query) []uri.Rule {
	if !q.IsURN() {
		return nil
	}
	var warnings []uri.Rule
	if rule := uri.LintNID(q.NID()); rule != (uri.Rule{}) {
		warnings = append(warnings, rule)
	}
	var warning *uri.ParseError
	if errors.As(n.Set.Warning(q.URN), &warning) {
		warnings = append(warnings, warning.Rule)
	}
	return warnings
}

// Description is the metadata of an identifier that needs no resolution: I2C of RFC 2483 section 4.5.
type Description struct {
	Name      uri.URI   // the canonical name
	Conforms  []string  // the specifications of URNs that the name conforms to
	Namespace string    // the NID, "" for other URIs
	Document  string    // specification of the namespace, "" if there is none
	Others    []uri.URI // other names of the same resource
	Warnings  []uri.Rule
}

// Describe returns the Description of an identifier without resolving it. Its errors are those of Canonical.
func (n Names) Describe(q Query) (Description, error) {
	q = n.Identify(q)
	canonical, err := n.Canonical(q)
	if err != nil {
		return Description{}, err
	}
	d := Description{Name: canonical.URI, Warnings: n.Warnings(q)}
	if !canonical.IsURN() {
		return d, nil
	}
	v := canonical.URN
	d.Conforms, d.Namespace = v.Conforms().Names(), v.NID()
	if ns, ok := n.Set.Lookup(v.NID()); ok {
		d.Document = ns.Source
	}
	for _, other := range n.Set.EquivalentNames(v) {
		d.Others = append(d.Others, other.URI())
	}
	return d, nil
}
