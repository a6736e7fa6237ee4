package uri

import "strings"

// URN is a URI viewed as a URN: RFC 8141, with the directives of draft-ietf-urnbis-rfc2141bis-urn-03. It is a
// comparable value; the zero URN is invalid.
//
// Its grammar is the union of RFC 2141, the draft and RFC 8141; Require checks a URN against some of them. They
// overlap only in the query, without ambiguity: a directive starts with a letter, a component of RFC 8141 with
// "?+" or "?=".
type URN struct {
	u URI // its head also has the length of the NID
}

// WithText is URI.WithText.
func (v URN) WithText(text string) URN { return URN{v.u.WithText(text)} }

// IsURN reports whether u has the scheme "urn", in any case; it does not check the syntax of URNs.
func (u URI) IsURN() bool { return u.hasScheme("urn") }

// URN returns u as a URN. The error is a *ParseError.
func (u URI) URN() (URN, error) {
	if !u.IsURN() {
		return URN{}, failure(u.s, 0, RuleURN)
	}
	if u.pathStart() != u.schemeEnd()+1 { // "urn://..."
		return URN{}, failure(u.s, u.schemeEnd()+1, RuleNID)
	}
	path := u.Path()
	length := 0 // of the NID
	for length < len(path) && is(path[length], classNID) {
		length++
	}
	if length == len(path) || path[length] != ':' || !isNID(path[:length]) {
		return URN{}, u.nidFailure(length)
	}
	if nss := path[length+1:]; nss == "" || nss[0] == '/' {
		return URN{}, failure(u.s, u.pathStart()+length+1, RuleNSS)
	}
	if strings.IndexByte(u.s, '%') >= 0 {
		if i := strings.Index(u.s, "%00"); i >= 0 {
			return URN{}, failure(u.s, i, RuleNUL)
		}
	}
	if u.queryStart() < len(u.s) {
		if err := u.checkComponents(); err != nil {
			return URN{}, err
		}
	}
	return newURN(u, length), nil
}

// nidFailure returns the error of u, which has no valid NID. length is the number of leading bytes of its path
// that a NID may have.
func (u URI) nidFailure(length int) error {
	path := u.Path()
	if length == len(path) && isNID(path) {
		return failure(u.s, u.queryStart(), RuleNoNSS)
	}
	length = max(strings.IndexByte(path, ':'), 0) // the part before the colon should be the NID
	return checkNID(u.s, u.pathStart(), length, u.queryStart())
}

// ParseURN parses a URN: Parse and URI.URN in one call. The error is a *ParseError.
func ParseURN(s string) (URN, error) {
	if v, ok := plainURN(s); ok {
		return v, nil
	}
	u, err := Parse(s)
	if err != nil {
		return URN{}, err
	}
	return u.URN()
}

// ParseAny parses an absolute URI: Parse and URI.URN in one call. v is the zero URN unless u has the scheme
// "urn". The error is a *ParseError; if u is valid except as a URN, it is returned with the error.
func ParseAny(s string) (u URI, v URN, err error) {
	if v, ok := plainURN(s); ok {
		return v.URI(), v, nil
	}
	if u, err = Parse(s); err != nil || !u.IsURN() {
		return u, URN{}, err
	}
	v, err = u.URN()
	return u, v, err
}

// plainURN parses the common case, a name without components, in one pass. It leaves other URNs and all errors
// to the parser.
func plainURN(s string) (URN, bool) {
	if len(s) < len(urnPrefix) || len(s) > MaxLength || !EqualFold(s[:len(urnPrefix)], urnPrefix) {
		return URN{}, false
	}
	i := len(urnPrefix)
	for i < len(s) && is(s[i], classNID) {
		i++
	}
	colon := i
	for i < len(s) {
		switch {
		case is(s[i], classPath):
			i++
		case isTriple(s, i) && s[i+1:i+3] != "00":
			i += 3
		default:
			return URN{}, false
		}
	}
	if colon+1 >= i || s[colon] != ':' || s[colon+1] == '/' || !isNID(s[len(urnPrefix):colon]) {
		return URN{}, false
	}
	return newURN(newURI(s, len(urnPrefix)-1, len(urnPrefix), i, i), colon-len(urnPrefix)), true
}

// newURN returns the URN of a checked URI with the length of its NID.
func newURN(u URI, length int) URN {
	u.head |= uint64(length) << nidShift //nolint:gosec // at most 32
	return URN{u}
}

// checkComponents checks the query of a URN: the components of RFC 8141 section 2, or the directives of the
// draft.
func (u URI) checkComponents() error {
	query, ok := u.Query()
	if !ok {
		return nil
	}
	at := u.queryStart() + 1
	q := at // offset of the "=" before the q-component
	switch {
	case strings.HasPrefix(query, "+"):
		i := strings.Index(query, "?=")
		if i < 0 {
			i = len(query)
		}
		if r := query[1:i]; r == "" || r[0] == '/' || r[0] == '?' {
			return failure(u.s, at+1, RuleRComponent)
		}
		if i == len(query) {
			return nil
		}
		q = at + i + 1
	case strings.HasPrefix(query, "="):
	case query != "" && is(query[0], classAlpha):
		return checkDirectives(u.s, at, query)
	default:
		return failure(u.s, at, RuleRQComponents)
	}
	if q := u.s[q+1 : u.fragStart()]; q == "" || q[0] == '/' || q[0] == '?' {
		return failure(u.s, u.fragStart()-len(q), RuleQComponent)
	}
	return nil
}

// IsValid reports whether v is the result of a parser. The zero URN is invalid.
func (v URN) IsValid() bool { return v.u.head != 0 }

// URI returns the whole URI, components included.
func (v URN) URI() URI { return URI{v.u.s, v.u.head &^ nidMask, v.u.tail} }

// NID returns the namespace identifier as written.
func (v URN) NID() string {
	nid, _ := v.Parts()
	return nid
}

// Parts returns NID and NSS together.
func (v URN) Parts() (nid, nss string) {
	start, end := v.u.pathStart(), v.u.queryStart()
	if end == 0 {
		return "", "" // the zero URN
	}
	colon := start + int(v.u.head&nidMask>>nidShift)
	return v.u.s[start:colon], v.u.s[colon+1 : end]
}

// NSS returns the namespace specific string as written.
func (v URN) NSS() string {
	_, nss := v.Parts()
	return nss
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

// Name returns the assigned name: v without r-, q- and f-component and without directives, which RFC 8141
// section 3.1 excludes from equivalence.
func (v URN) Name() URN {
	end := v.u.queryStart()
	return URN{URI{v.u.s[:end], v.u.head, uint64(end)<<32 | uint64(end)}} //nolint:gosec // as in newURI
}
