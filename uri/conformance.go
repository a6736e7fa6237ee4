package uri

import "strings"

// Conformance is a set of specifications of URN syntax. The zero value is the empty set.
type Conformance uint8

// The specifications of URN syntax, from the oldest to the newest.
const (
	RFC2141 Conformance = 1 << iota
	DraftURN
	RFC8141

	// CurrentURN is the default: everything except the NIDs that only RFC 2141 allows, none of which was ever
	// registered.
	CurrentURN = DraftURN | RFC8141
)

var specNames = [...]string{"rfc2141", "draft", "rfc8141"}

// Names returns the short names of the specifications in c, oldest first.
func (c Conformance) Names() []string {
	var names []string
	for i, name := range specNames {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ParseConformance returns the specification of a short name.
func ParseConformance(name string) (Conformance, bool) {
	for i, known := range specNames {
		if known == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// Rules of one specification that are stricter than the union of all.
var (
	RuleNSS2141 = newRule("nss_percent_encoded", "NSS", "RFC 2141 section 2.2",
		`"/", "~" and "&" are percent-encoded in an NSS`)
	RuleQuery2141 = newRule("urn_reserved", "reserved", "RFC 2141 section 2.3.2",
		`"?" and "#" are reserved, and not allowed in a URN`)
	// RuleNoDirectives rejects directives if only RFC 8141 is accepted.
	RuleNoDirectives = newRule("no_directives", "rq-components", "RFC 8141 section 2",
		`"?" is followed by "+" or "=": only the draft has directives`)
	RuleNSSDraft = newRule("nss_segment", "NSS", "draft-ietf-urnbis-rfc2141bis-urn-03 section 2.2",
		`an NSS is one segment, without "/"`)
)

// Conforms returns the specifications that v conforms to. The set may be empty: the NSS can conform to one
// specification only, and the query to another.
func (v URN) Conforms() Conformance {
	var c Conformance
	for spec := RFC2141; spec <= RFC8141; spec <<= 1 {
		if v.Require(spec) == nil {
			c |= spec
		}
	}
	return c
}

// Require returns nil if each part of v (NID, NSS, components) conforms to at least one of specs. Otherwise the
// error is a *ParseError with the rule of the newest of them.
func (v URN) Require(specs Conformance) error {
	if specs&RFC8141 != 0 && isStrictNID(v.NID()) && !v.hasDirectives() {
		return nil // common case: a shortcut for the loop below
	}
	for _, part := range [...]func(URN, Conformance) (int, Rule){URN.nidFailure, URN.nssFailure, URN.componentFailure} {
		if err := v.requirePart(specs, part); err != nil {
			return err
		}
	}
	return nil
}

func (v URN) requirePart(specs Conformance, part func(URN, Conformance) (int, Rule)) error {
	var first error
	for spec := RFC8141; spec > 0; spec >>= 1 {
		if specs&spec == 0 {
			continue
		}
		offset, rule := part(v, spec)
		if rule.Name == "" {
			return nil
		}
		if first == nil {
			first = failure(v.u.s, offset, rule)
		}
	}
	return first
}

// nidFailure returns the rule of a specification that the NID breaks, with the offset, or the zero Rule. nssFailure
// and componentFailure do the same for the other parts.
func (v URN) nidFailure(spec Conformance) (int, Rule) {
	nid := v.NID()
	if spec == RFC2141 || isStrictNID(nid) {
		return 0, Rule{}
	}
	end := v.u.pathStart() + len(nid)
	if strings.HasSuffix(nid, "-") {
		end--
	}
	return end, RuleNID
}

func (v URN) nssFailure(spec Conformance) (int, Rule) {
	nid, nss := v.Parts()
	start := v.u.pathStart() + len(nid) + 1
	switch spec {
	case RFC2141:
		if i := strings.IndexAny(nss, "/~&"); i >= 0 {
			return start + i, RuleNSS2141
		}
	case DraftURN:
		if i := strings.IndexByte(nss, '/'); i >= 0 {
			return start + i, RuleNSSDraft
		}
	}
	return 0, Rule{}
}

func (v URN) componentFailure(spec Conformance) (int, Rule) {
	at := v.u.queryStart()
	switch {
	case spec == RFC2141 && at < len(v.u.s):
		return at, RuleQuery2141
	case spec == DraftURN && v.hasQuery() && !v.hasDirectives():
		return at + 1, RuleDirective
	case spec == RFC8141 && v.hasDirectives():
		return at + 1, RuleNoDirectives
	}
	return 0, Rule{}
}

func (v URN) hasQuery() bool { return v.u.queryStart() < v.u.fragStart() }

// hasDirectives reports whether the query consists of directives of the draft. The query of a URN is never
// empty.
func (v URN) hasDirectives() bool { return v.hasQuery() && is(v.u.s[v.u.queryStart()+1], classAlpha) }
