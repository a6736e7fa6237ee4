package resolver

import (
	"errors"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// Names decides which identifiers are accepted, and which of them are equivalent. It is
// safe for concurrent use.
type Names struct {
	Set    *urnns.Set
	Accept uri.Conformance // specifications of URNs; each part of a URN must satisfy one of them
}

// Canonical returns q with the canonical name: for a URN by the rules of its namespace and
// without components, of which only ResolutionParams remains; for other URIs the normal
// form without fragment. The error is a *uri.ParseError.
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
	return Query{URI: v.URI(), URN: v, Service: q.Service, ResolutionParams: resolutionParams(q.URN)}, nil
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

// Warnings returns the rules that q breaks although it is accepted: reserved NIDs (RFC
// 8141 section 5), and checks of a lenient namespace.
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
