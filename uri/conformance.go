package uri

import "strings"

// Conformance is a set of specifications of URN syntax. The zero value is none.
type Conformance uint8

// The specifications of URN syntax, from the oldest to the newest.
const (
	RFC2141 Conformance = 1 << iota
	DraftURN
	RFC8141

	// CurrentURN is what is accepted where nothing else is asked for: all but
	// the NIDs that RFC 2141 alone allows, and nobody has ever registered.
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

// What each specification demands beyond the union of all.
var (
	RuleNSS2141   = Rule{"NSS", "RFC 2141 section 2.2", `an NSS has no "/", "~" or "&" that is not encoded`}
	RuleQuery2141 = Rule{"reserved", "RFC 2141 section 2.3.2", `"?" and "#" are reserved, and end no URN`}
	// RuleNoDirectives is why directives are refused where RFC 8141 alone is.
	RuleNoDirectives = Rule{"rq-components", "RFC 8141 section 2", `after "?" comes "+" or "=": directives are of the draft`}
	RuleNSSDraft     = Rule{"NSS", "draft-ietf-urnbis-rfc2141bis-urn-03 section 2.2", `an NSS is one segment, without "/"`}
)

// Conforms returns the specifications whose grammar v satisfies: one at least.
func (v URN) Conforms() Conformance {
	var c Conformance
	for spec := RFC2141; spec <= RFC8141; spec <<= 1 {
		if _, rule := v.violation(spec); rule == (Rule{}) {
			c |= spec
		}
	}
	return c
}

// Require returns nil if v conforms to at least one of specs, and otherwise a
// *ParseError that says what the newest of them demands.
func (v URN) Require(specs Conformance) error {
	var first error
	for spec := RFC8141; spec > 0; spec >>= 1 {
		if specs&spec == 0 {
			continue
		}
		offset, rule := v.violation(spec)
		if rule == (Rule{}) {
			return nil
		}
		if first == nil {
			first = fault(v.u.s, offset, rule)
		}
	}
	return first
}

// violation returns the first place where v breaks the grammar of one
// specification, and the rule; the zero Rule is none.
func (v URN) violation(spec Conformance) (int, Rule) {
	nid := v.NID()
	end := v.u.pathStart() + len(nid)
	nss, query := end+1, v.u.queryStart()
	if spec != RFC2141 && !isStrictNID(nid) {
		if strings.HasSuffix(nid, "-") {
			end--
		}
		return end, RuleNID
	}
	switch spec {
	case RFC2141:
		if i := strings.IndexAny(v.NSS(), "/~&"); i >= 0 {
			return nss + i, RuleNSS2141
		}
		if query < len(v.u.s) {
			return query, RuleQuery2141
		}
	case DraftURN:
		if i := strings.IndexByte(v.NSS(), '/'); i >= 0 {
			return nss + i, RuleNSSDraft
		}
		if v.hasQuery() && !v.hasDirectives() {
			return query + 1, RuleDirective
		}
	case RFC8141:
		if v.hasDirectives() {
			return query + 1, RuleNoDirectives
		}
	}
	return 0, Rule{}
}

func (v URN) hasQuery() bool { return v.u.queryStart() < v.u.fragStart() }

// hasDirectives reports whether the query is of the draft: it is never empty.
func (v URN) hasDirectives() bool { return v.hasQuery() && is(v.u.s[v.u.queryStart()+1], classAlpha) }
