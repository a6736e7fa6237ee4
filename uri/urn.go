package uri

import "strings"

// URN is the view of a URI as a URN: RFC 8141, with the directives of
// draft-ietf-urnbis-rfc2141bis-urn-03. It is a comparable value; the zero URN
// is invalid.
//
// Its grammar is the union of RFC 2141, the draft and RFC 8141; Require asks for
// one of them. They meet in the query, and there without ambiguity: a directive
// begins with a letter, a component of RFC 8141 with "?+" or "?=".
type URN struct {
	u URI // whose parts are looked for anew: a URN fits into registers this way
}

// IsURN reports whether u has the scheme "urn", in any case; its syntax is
// not checked.
func (u URI) IsURN() bool { return u.hasScheme("urn") }

// URN returns the view of u as a URN. The error is a *ParseError.
func (u URI) URN() (URN, error) {
	if !u.IsURN() {
		return URN{}, fault(u.s, 0, RuleURN)
	}
	if int(u.path) != int(u.scheme)+1 { // "urn://..."
		return URN{}, fault(u.s, int(u.scheme)+1, RuleNID)
	}
	path := u.Path()
	length := max(strings.IndexByte(path, ':'), 0) // all before the colon could be the NID
	if err := checkNID(u.s, int(u.path), length, int(u.query)); err != nil {
		return URN{}, err
	}
	if nss := path[length+1:]; nss == "" || nss[0] == '/' {
		return URN{}, fault(u.s, int(u.path)+length+1, RuleNSS)
	}
	if strings.IndexByte(u.s, '%') >= 0 {
		if i := strings.Index(u.s, "%00"); i >= 0 {
			return URN{}, fault(u.s, i, RuleNUL)
		}
	}
	if int(u.query) < len(u.s) {
		if err := u.checkComponents(); err != nil {
			return URN{}, err
		}
	}
	return URN{u}, nil
}

// checkComponents checks the query of a URN: the components of RFC 8141 section
// 2, or the directives of the draft.
func (u URI) checkComponents() error {
	query, ok := u.Query()
	if !ok {
		return nil
	}
	at := int(u.query) + 1
	q := at // of the "=" behind which the q-component begins
	switch {
	case strings.HasPrefix(query, "+"):
		i := strings.Index(query, "?=")
		if i < 0 {
			i = len(query)
		}
		if r := query[1:i]; r == "" || r[0] == '/' || r[0] == '?' {
			return fault(u.s, at+1, RuleRComponent)
		}
		if i == len(query) {
			return nil
		}
		q = at + i + 1
	case strings.HasPrefix(query, "="):
	case query != "" && is(query[0], classAlpha):
		return checkDirectives(u.s, at, query)
	default:
		return fault(u.s, at, RuleRQComponents)
	}
	if q := u.s[q+1 : u.frag]; q == "" || q[0] == '/' || q[0] == '?' {
		return fault(u.s, int(u.frag)-len(q), RuleQComponent)
	}
	return nil
}

// URI returns the whole URI, components included.
func (v URN) URI() URI { return v.u }

// NID returns the namespace identifier as written.
func (v URN) NID() string {
	path := v.u.Path()
	return path[:max(strings.IndexByte(path, ':'), 0)]
}

// NSS returns the namespace specific string as written.
func (v URN) NSS() string {
	path := v.u.Path()
	return path[strings.IndexByte(path, ':')+1:]
}

// R returns the r-component without its "?+", and whether there is one.
func (v URN) R() (string, bool) {
	query, _ := v.u.Query()
	if !strings.HasPrefix(query, "+") {
		return "", false
	}
	r, _, _ := strings.Cut(query, "?=")
	return r[1:], true
}

// Q returns the q-component without its "?=", and whether there is one.
func (v URN) Q() (string, bool) {
	query, _ := v.u.Query()
	switch {
	case strings.HasPrefix(query, "="):
		return query[1:], true
	case strings.HasPrefix(query, "+"):
		_, q, ok := strings.Cut(query, "?=")
		return q, ok
	default:
		return "", false
	}
}

// F returns the f-component without its "#", and whether there is one.
func (v URN) F() (string, bool) { return v.u.Fragment() }

// Name returns the assigned name: v without r-, q- and f-component and without
// directives, which RFC 8141 section 3.1 leaves out of equivalence.
func (v URN) Name() URN {
	v.u.s = v.u.s[:v.u.query]
	v.u.frag = v.u.query
	return v
}
