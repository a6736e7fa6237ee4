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
	u   URI
	nid uint32 // offset of the colon behind the NID
	r   uint32 // offset of "?+", or the end of the NSS
	q   uint32 // offset of "?=", or the end of the r-component
}

// IsURN reports whether u has the scheme "urn", in any case; its syntax is
// not checked.
func (u URI) IsURN() bool { return u.hasScheme("urn") }

// URN returns the view of u as a URN. The error is a *ParseError.
func (u URI) URN() (URN, error) {
	if !u.IsURN() {
		return URN{}, fault(u.s, 0, RuleURN)
	}
	v := URN{u: u}
	nidStart := int(u.scheme) + 1
	if int(u.path) != nidStart { // "urn://..."
		return URN{}, fault(u.s, nidStart, RuleNID)
	}
	length := nidLength(u.Path())
	if err := checkNID(u.s, nidStart, length, int(u.query)); err != nil {
		return URN{}, err
	}
	v.nid = u.path + uint32(length) //nolint:gosec // at most 32
	nssStart := int(v.nid) + 1
	if nssStart == int(u.query) || u.s[nssStart] == '/' {
		return URN{}, fault(u.s, nssStart, RuleNSS)
	}
	if i := strings.Index(u.s, "%00"); i >= 0 {
		return URN{}, fault(u.s, i, RuleNUL)
	}
	v.r, v.q = u.query, u.frag
	if err := v.splitQuery(); err != nil {
		return URN{}, err
	}
	return v, nil
}

// nidLength returns the length of what could be a NID: all before the colon.
func nidLength(path string) int {
	for i := range len(path) {
		if path[i] == ':' {
			return i
		}
	}
	return 0
}

// splitQuery finds the components of RFC 8141 section 2, or checks the
// directives of the draft.
func (v *URN) splitQuery() error {
	u := v.u
	query, ok := u.Query()
	if !ok {
		v.q = u.frag
		return nil
	}
	at := int(u.query) + 1
	switch {
	case strings.HasPrefix(query, "+"):
		if i := strings.Index(query, "?="); i >= 0 {
			v.q = uint32(at + i) //nolint:gosec // MaxLength fits
		}
		if r := u.s[at+1 : v.q]; r == "" || r[0] == '/' || r[0] == '?' {
			return fault(u.s, at+1, RuleRComponent)
		}
	case strings.HasPrefix(query, "="):
		v.q = u.query
	case query != "" && is(query[0], classAlpha):
		return checkDirectives(u.s, at, query)
	default:
		return fault(u.s, at, RuleRQComponents)
	}
	if q, ok := v.Q(); ok && (q == "" || q[0] == '/' || q[0] == '?') {
		return fault(u.s, int(v.q)+2, RuleQComponent)
	}
	return nil
}

// URI returns the whole URI, components included.
func (v URN) URI() URI { return v.u }

// NID returns the namespace identifier as written.
func (v URN) NID() string {
	if !v.u.valid {
		return ""
	}
	return v.u.s[v.u.path:v.nid]
}

// NSS returns the namespace specific string as written.
func (v URN) NSS() string {
	if !v.u.valid {
		return ""
	}
	return v.u.s[v.nid+1 : v.u.query]
}

// R returns the r-component without its "?+", and whether there is one.
func (v URN) R() (string, bool) {
	if v.r+1 >= v.q || v.u.s[v.r+1] != '+' {
		return "", false
	}
	return v.u.s[v.r+2 : v.q], true
}

// Q returns the q-component without its "?=", and whether there is one.
func (v URN) Q() (string, bool) {
	if v.q+1 >= v.u.frag || v.u.s[v.q] != '?' || v.u.s[v.q+1] != '=' {
		return "", false
	}
	return v.u.s[v.q+2 : v.u.frag], true
}

// F returns the f-component without its "#", and whether there is one.
func (v URN) F() (string, bool) { return v.u.Fragment() }

// Name returns the assigned name: v without r-, q- and f-component and without
// directives, which RFC 8141 section 3.1 leaves out of equivalence.
func (v URN) Name() URN {
	u := v.u
	u.s = u.s[:u.query]
	u.frag = u.query
	return URN{u: u, nid: v.nid, r: u.query, q: u.query}
}
