package ddds

import "github.com/urnd/urnd/resolver"

// source is who says where things are: a root, by records that are authenticated or
// not. All answers share them.
type source struct {
	plain, authentic *resolver.Source
}

func newSource(name string) source {
	return source{&resolver.Source{Name: name}, &resolver.Source{Name: name, Authentic: true}}
}

// location returns one that the records say which were used so far.
func (w *walk) location(uri string) resolver.Location {
	if w.doubts {
		return resolver.Location{URI: uri, From: w.source.plain}
	}
	return resolver.Location{URI: uri, From: w.source.authentic}
}
