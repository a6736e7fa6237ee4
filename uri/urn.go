package uri

import (
	"errors"
	"strings"
)

// URN is the view of a URI as a URN: RFC 8141, with the directives of
// draft-ietf-urnbis-rfc2141bis-urn-03. It is a comparable value; the zero URN
// is invalid.
//
// The two grammars meet only in the query, and there without ambiguity: a
// directive begins with a letter, a component of RFC 8141 with "?+" or "?=".
type URN struct {
	u   URI
	nid uint32 // offset of the colon behind the NID
	r   uint32 // offset of "?+", or the end of the NSS
	q   uint32 // offset of "?=", or the end of the r-component
}

// Conformance is the set of specifications whose grammar a URN satisfies.
type Conformance uint8

// The specifications of URN syntax, from the oldest to the newest.
const (
	RFC2141 Conformance = 1 << iota
	DraftURN
	RFC8141
)

// Names returns the short names of the specifications in c, oldest first.
func (c Conformance) Names() []string {
	var names []string
	for i, name := range []string{"rfc2141", "draft", "rfc8141"} {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
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

// ErrNID is what CheckNID answers.
var ErrNID = errors.New(RuleNID.Says)

// CheckNID reports whether nid can be the NID of a URN; the error is ErrNID.
func CheckNID(nid string) error {
	if err := checkNID(nid, 0, len(nid), len(nid)); err != nil {
		return ErrNID
	}
	return nil
}

// checkNID checks s[start:start+length], in a path that ends at end.
func checkNID(s string, start, length, end int) error {
	for i := start; i < start+length; i++ {
		if !is(s[i], classAlpha|classDigit) && (s[i] != '-' || i == start || i == start+length-1) {
			return fault(s, i, RuleNID)
		}
	}
	switch {
	case length == 0:
		return fault(s, end, RuleNID)
	case length < 2:
		return fault(s, start+length, RuleNID)
	case length > 32:
		return fault(s, start+32, RuleNID)
	case equalFold(s[start:start+length], "urn"):
		return fault(s, start, RuleNIDUrn)
	}
	return nil
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

// Conforms returns the specifications whose grammar v satisfies.
func (v URN) Conforms() Conformance {
	c := RFC2141 | DraftURN | RFC8141
	for _, b := range []byte(v.NSS()) {
		switch b {
		case '/': // RFC 2141 section 2.3.2 reserves it; the draft has one segment
			c &^= RFC2141 | DraftURN
		case '~', '&': // RFC 2141 section 2.2 has neither
			c &^= RFC2141
		}
	}
	if query, ok := v.u.Query(); ok {
		c &^= RFC2141
		if is(query[0], classAlpha) {
			c &^= RFC8141
		} else {
			c &^= DraftURN
		}
	}
	if _, ok := v.F(); ok {
		c &^= RFC2141
	}
	return c
}
