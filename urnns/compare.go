package urnns

import (
	"fmt"

	"github.com/urnd/urnd/uri"
)

// Compare compares two URIs for an objective, by the rules of package uri and of namespaces. Names that break
// the rules of their namespace are compared without them.
func (s *Set) Compare(o uri.Objective, a, b uri.URI) uri.Comparison {
	c := uri.CompareFor(o, a, b)
	if c.Rung != uri.RungDifferent {
		return c
	}
	x, restX, okX := s.canonical(o, a)
	y, restY, okY := s.canonical(o, b)
	if !okX || !okY || restX != restY {
		return c
	}
	r := s.find(x.NID())
	if x == y {
		return uri.Comparison{
			Rung:   uri.RungNamespace,
			Reason: fmt.Sprintf("equal by the rules of namespace %q (%s)", r.ns.NID, r.ns.Source),
		}
	}
	comparable := r != nil && x.NID() == y.NID() && r.check.identity != nil && r.verify(x) == nil && r.verify(y) == nil
	if comparable && r.check.identity(x.NSS()) == r.check.identity(y.NSS()) {
		return uri.Comparison{
			Rung: uri.RungFunctional,
			Reason: fmt.Sprintf("two names of the same resource in namespace %q (%s): not "+
				"lexically equivalent", r.ns.NID, r.ns.Source),
		}
	}
	return c
}

// canonical returns the canonical name of a URN, and for uri.ObjectiveCaching also its components that are compared.
func (s *Set) canonical(o uri.Objective, u uri.URI) (name uri.URN, rest string, ok bool) {
	v, err := u.URN()
	if err != nil {
		return uri.URN{}, "", false
	}
	if o == uri.ObjectiveCaching {
		form := v.CacheName().URI().Normalize()
		rest = form.String()[len(v.Name().URI().String()):]
	}
	name, err = s.Canonical(v)
	return name, rest, err == nil
}
