package rules

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// fieldSet is a set of names of fields, and of their beginnings.
type fieldSet struct {
	names    map[string]bool // as net/http spells them
	prefixes []string        // likewise
}

func newFieldSet(names []string) *fieldSet {
	set := &fieldSet{names: make(map[string]bool, len(names))}
	for _, name := range names {
		set.add(http.CanonicalHeaderKey(folded(name)))
	}
	return set
}

func (s *fieldSet) add(name string) {
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		s.prefixes = append(s.prefixes, http.CanonicalHeaderKey(prefix))
		return
	}
	s.names[name] = true
}

// has reports whether a field is in the set, by its name as net/http spells it.
func (s *fieldSet) has(name string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return s.names[name] || slices.ContainsFunc(s.prefixes, begins)
}

// folded returns the name of a field with "-" for "_": CGI, WSGI and PHP take them for the same (RFC 3875
// section 4.1.18).
func folded(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Safelist are the fields of requests that cannot have made a response which others must not get: those that
// httpmessage.Safelisted says, and some that are configured.
type Safelist struct{ configured *fieldSet }

// NewSafelist returns the safelist with further names, or beginnings of names where they end with "*".
func NewSafelist(names []string) *Safelist { return &Safelist{newFieldSet(names)} }

// has reports whether a field of a request cannot have made a response that others must not get. One that an
// application takes for another field is not safelisted as that one is: no Vary names it, and no rule of the cache has
// seen it.
func (l *Safelist) has(f httpmessage.Field, r *httpmessage.Request, added []string) bool {
	switch {
	case httpmessage.UseOf(f.Name)&httpmessage.Safelisted != 0: // nearly all are
		return true
	case l.configured.has(http.CanonicalHeaderKey(folded(f.Name))), slices.ContainsFunc(added, f.Is):
		return true
	default:
		return f.Is("Content-Type") && r.Method == http.MethodPost // of a body: RFC 9110 section 9.3.3
	}
}

// Unkeyed returns the fields of a request that could have made its response, and are in no key, as net/http spells
// them. added are fields that are not the client's.
func (l *Safelist) Unkeyed(r *httpmessage.Request, added []string) []string {
	var names []string
	for _, f := range r.Fields {
		if !hopField(f) && !l.has(f, r, added) {
			names = append(names, f.Canonical())
		}
	}
	return names
}
