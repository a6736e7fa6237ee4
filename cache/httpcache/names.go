package httpcache

import (
	"net/http"
	"slices"

	"github.com/urnd/urnd/internal/httpmessage"
)

// maxFewNames is how many names are compared one by one: more than programs send.
const maxFewNames = 32

// nameSet is a set of names of fields. Few of them are compared one by one; of many, which an origin may send to make that slow,
// there is a map.
type nameSet struct {
	few  []string
	many map[string]bool // as net/http spells them
}

func newNameSet(names []string) nameSet {
	if len(names) <= maxFewNames {
		return nameSet{few: names}
	}
	set := nameSet{many: make(map[string]bool, len(names))}
	for _, name := range names {
		set.many[http.CanonicalHeaderKey(name)] = true
	}
	return set
}

// has reports whether the name of a field is in the set.
func (s nameSet) has(f httpmessage.Field) bool {
	if s.many != nil {
		return s.many[f.Canonical()]
	}
	return slices.ContainsFunc(s.few, f.Is)
}

// without returns a copy of fields without those of some names.
func without(fields httpmessage.Fields, names ...string) httpmessage.Fields {
	set := newNameSet(names)
	return fields.Filter(func(f httpmessage.Field) bool { return !set.has(f) })
}

// only returns a copy of the fields of some names.
func only(fields httpmessage.Fields, names ...string) httpmessage.Fields {
	set := newNameSet(names)
	return fields.Filter(set.has)
}
