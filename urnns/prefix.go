package urnns

import "github.com/urnd/urnd/uri"

// Fold returns v normalized like a canonical name, without the checks of its namespace: v may be a prefix of a
// name.
func (s *Set) Fold(v uri.URN) (uri.URN, error) {
	nid, nss := v.Parts()
	if r := s.find(nid); r != nil {
		return v.Canonical(r.foldingOf(nss))
	}
	return v.Canonical(uri.Folding{})
}
