package rules

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// fieldSet is a set of field names and of prefixes of names.
type fieldSet struct {
	names    map[string]bool // in the canonical form of net/http
	prefixes []string        // in the canonical form of net/http
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

// has reports whether a field name, in the canonical form of net/http, is in the set.
func (s *fieldSet) has(name string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return s.names[name] || slices.ContainsFunc(s.prefixes, begins)
}

// folded returns a field name with "-" for "_": CGI, WSGI and PHP do not distinguish them (RFC 3875 section
// 4.1.18).
func folded(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Safelist are the request fields that cannot cause a response which other clients must not get: those of
// httpmessage.Safelisted, and configured ones.
type Safelist struct{ configured *fieldSet }

// NewSafelist returns the safelist with additional names, or prefixes of names ending with "*".
func NewSafelist(names []string) *Safelist { return &Safelist{newFieldSet(names)} }

// has reports whether a request field is safelisted, that is, cannot cause a response which other clients must
// not get. A name that an application may take for a built-in safelisted name ("_" for "-") is not: no Vary
// names it, and no rule of the cache has checked it.
func (l *Safelist) has(f httpmessage.Field, r *httpmessage.Request, added []string) bool {
	switch {
	case httpmessage.UseOf(f.Name)&httpmessage.Safelisted != 0: // true for most fields
		return true
	case l.configured.has(http.CanonicalHeaderKey(folded(f.Name))), slices.ContainsFunc(added, f.HasName):
		return true
	default:
		return f.HasName("Content-Type") && r.Method == http.MethodPost // of a body: RFC 9110 section 9.3.3
	}
}

// Unkeyed returns the names of the request fields that may have affected the response and are in no cache key,
// in the canonical form of net/http. added are the fields that the client did not send.
func (l *Safelist) Unkeyed(r *httpmessage.Request, added []string) []string {
	var names []string
	for _, f := range r.Fields {
		if !hopField(f) && !l.has(f, r, added) {
			names = append(names, f.Canonical())
		}
	}
	return names
}
