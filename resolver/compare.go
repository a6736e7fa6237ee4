package resolver

import "github.com/urnd/urnd/uri"

// Compare compares two identifiers for an objective, by the rules of namespaces, whatever their spelling is: see
// Identify. For uri.ObjectiveNaming those with one canonical name are equivalent, unless they differ in fragments that
// count.
func (n Names) Compare(o uri.Objective, a, b uri.URI) uri.Comparison {
	a, b = n.Identify(Query{URI: a}).URI, n.Identify(Query{URI: b}).URI
	c := n.Set.Compare(o, a, b)
	if c.Rung != uri.RungDifferent || o != uri.ObjectiveNaming || a.IsURN() || b.IsURN() {
		return c
	}
	fragmentA, hasA := a.Fragment()
	fragmentB, hasB := b.Fragment()
	if fragmentA != fragmentB || hasA != hasB {
		return c
	}
	x, errX := n.CanonicalName(a)
	y, errY := n.CanonicalName(b)
	if errX != nil || errY != nil || x != y {
		return c
	}
	return uri.Comparison{Rung: uri.RungScheme, Reason: "equal as names: their canonical name is " + x.String()}
}
