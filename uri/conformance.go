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

// Conforms returns the specifications whose grammar v satisfies. There may be none:
// a URN can have an NSS of one and the query of another.
func (v URN) Conforms() Conformance {
	var c Conformance
	for spec := RFC2141; spec <= RFC8141; spec <<= 1 {
		if v.Require(spec) == nil {
			c |= spec
		}
	}
	return c
}

// Require returns nil if each part of v - NID, NSS and what follows - is as at least
// one of specs has it, and otherwise a *ParseError that says what the newest of them
// demands.
func (v URN) Require(specs Conformance) error {
	for _, part := range [...]func(URN, Conformance) (int, Rule){URN.nidFault, URN.nssFault, URN.componentFault} {
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
			first = fault(v.u.s, offset, rule)
		}
	}
	return first
}

// nidFault returns where the NID breaks the grammar of one specification, and the
// rule; the zero Rule is nowhere. The functions below do the same for other parts.
func (v URN) nidFault(spec Conformance) (int, Rule) {
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

func (v URN) nssFault(spec Conformance) (int, Rule) {
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

func (v URN) componentFault(spec Conformance) (int, Rule) {
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

// hasDirectives reports whether the query is of the draft: it is never empty.
func (v URN) hasDirectives() bool { return v.hasQuery() && is(v.u.s[v.u.queryStart()+1], classAlpha) }
