package ddds

import "github.com/urnd/urnd/resolver"

// source has the two Sources of a root, for records that are authenticated or not. All
// answers share them.
type source struct {
	plain, authentic *resolver.Source
}

func newSource(name string) source {
	return source{&resolver.Source{Name: name}, &resolver.Source{Name: name, Authentic: true}}
}

// location returns a location from the records used so far.
func (w *walk) location(uri string) resolver.Location {
	if w.unauthenticated {
		return resolver.Location{URI: uri, From: w.source.plain}
	}
	return resolver.Location{URI: uri, From: w.source.authentic}
}
