package urnns

import "github.com/urnd/urnd/uri"

// Fold returns v normalized like a canonical name, without the checks of its namespace: v may be a prefix of a
// name. Of a namespace that folds up to a hyphen, what lacks one is folded as a whole: the hyphen follows in the names,
// but for a few, which have digits there (urn:nbn:hr:162:276509).
func (s *Set) Fold(v uri.URN) (uri.URN, error) {
	nid, nss := v.Parts()
	if r := s.find(nid); r != nil {
		if r.ns.Fold == FoldPrefix {
			return v.Canonical(r.folding)
		}
		return v.Canonical(r.foldingOf(nss))
	}
	return v.Canonical(uri.Folding{})
}
