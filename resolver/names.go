package resolver

import (
	"errors"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// Names says which identifiers are accepted, and which of them are one. It is a
// value, and safe for concurrent use.
type Names struct {
	Set    *urnns.Set
	Accept uri.Conformance // the specifications of URNs, one of which each part of a URN satisfies
}

// Key returns the canonical name of u, which is the key of its answers but for
// the service: URNs by the rules of their namespace and without components,
// other URIs in normal form and without fragment. The error is a
// *uri.ParseError.
func (n Names) Key(u uri.URI) (uri.URI, error) {
	if !u.IsURN() {
		if err := u.Check(); err != nil {
			return uri.URI{}, err
		}
		return u.WithoutFragment().Normalize(), nil
	}
	v, err := u.URN()
	if err != nil {
		return uri.URI{}, err
	}
	if err := v.Require(n.Accept); err != nil {
		return uri.URI{}, err
	}
	if v, err = n.Set.Canonical(v); err != nil {
		return uri.URI{}, err
	}
	return v.URI(), nil
}

// Doubts returns the rules that u breaks although it is accepted: NIDs that RFC
// 8141 reserves, and checks of a lenient namespace.
func (n Names) Doubts(u uri.URI) []uri.Rule {
	v, err := u.URN()
	if err != nil {
		return nil
	}
	var doubts []uri.Rule
	if rule := uri.LintNID(v.NID()); rule != (uri.Rule{}) {
		doubts = append(doubts, rule)
	}
	var doubt *uri.ParseError
	if errors.As(n.Set.Doubt(v), &doubt) {
		doubts = append(doubts, doubt.Rule)
	}
	return doubts
}
