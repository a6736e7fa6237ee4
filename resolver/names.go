package resolver

import (
	"errors"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// Names says which identifiers are accepted, and which of them are equivalent. It is a
// value, and safe for concurrent use.
type Names struct {
	Set    *urnns.Set
	Accept uri.Conformance // the specifications of URNs, one of which each part of a URN satisfies
}

// Canonical returns q for the canonical name of what it asks for: URNs by the rules of
// their namespace and without components, of which Passed remains; other URIs in normal
// form and without fragment. The error is a *uri.ParseError.
func (n Names) Canonical(q Query) (Query, error) {
	if !q.IsURN() {
		if err := q.URI.Check(); err != nil {
			return Query{}, err
		}
		q.URI = q.URI.WithoutFragment().Normalize()
		return q, nil
	}
	if err := q.URN.Require(n.Accept); err != nil {
		return Query{}, err
	}
	v, err := n.Set.Canonical(q.URN)
	if err != nil {
		return Query{}, err
	}
	return Query{URI: v.URI(), URN: v, Service: q.Service, Passed: passed(q.URN)}, nil
}

// Key returns the canonical name of u. The error is a *uri.ParseError.
func (n Names) Key(u uri.URI) (uri.URI, error) {
	q, err := NewQuery(u, I2L)
	if err != nil {
		return uri.URI{}, err
	}
	q, err = n.Canonical(q)
	return q.URI, err
}

// Warnings returns the rules that q breaks although it is accepted: NIDs that RFC
// 8141 reserves, and checks of a lenient namespace.
func (n Names) Warnings(q Query) []uri.Rule {
	if !q.IsURN() {
		return nil
	}
	var warnings []uri.Rule
	if rule := uri.LintNID(q.NID()); rule != (uri.Rule{}) {
		warnings = append(warnings, rule)
	}
	var doubt *uri.ParseError
	if errors.As(n.Set.Doubt(q.URN), &doubt) {
		warnings = append(warnings, doubt.Rule)
	}
	return warnings
}
