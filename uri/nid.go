package uri

import "errors"

// ErrNID is the error of CheckNID.
var ErrNID = errors.New(RuleNID.Requirement)

// CheckNID returns nil if nid is a NID by RFC 8141 section 2.1, and ErrNID otherwise.
func CheckNID(nid string) error {
	if checkNID(nid, 0, len(nid), len(nid)) != nil || !isStrictNID(nid) {
		return ErrNID
	}
	return nil
}

// isNID reports whether s, whose bytes are all in classNID, is a NID by the most permissive of the grammars.
func isNID(s string) bool {
	return s != "" && len(s) <= 32 && s[0] != '-' && !EqualFold(s, "urn")
}

// checkNID checks the NID s[start:start+length], in a path that ends at end, by the most permissive of the
// grammars, that of RFC 2141 section 2.1.
func checkNID(s string, start, length, end int) error {
	if length == 0 {
		return failure(s, end, RuleNID)
	}
	for i := start; i < start+length; i++ {
		if !is(s[i], classAlpha|classDigit) && (s[i] != '-' || i == start) {
			return failure(s, i, RuleNID)
		}
	}
	switch {
	case length > 32:
		return failure(s, start+32, RuleNID)
	case EqualFold(s[start:start+length], "urn"):
		return failure(s, start, RuleNIDUrn)
	}
	return nil
}

// isStrictNID reports whether a NID of RFC 2141 is also a NID by section 2.1 of RFC 8141 and of the draft: at
// least two bytes, no final hyphen.
func isStrictNID(nid string) bool { return len(nid) > 1 && nid[len(nid)-1] != '-' }

// NIDs that RFC 8141 reserves. They cannot be registered, so a URN with one of them is for private use, or a
// mistake.
var (
	LintExperimental = newRule("nid_experimental", "experimental-nid", "RFC 8141 section 5.1",
		`a NID that begins with "X-" is experimental`)
	LintShort = newRule("nid_short", "short-nid", "RFC 8141 section 5.1",
		"a registered NID has more than two letters")
	LintCountry = newRule("nid_country", "country-nid", "RFC 8141 section 5.1",
		"a NID that begins with two letters and a hyphen is reserved "+
			"for country codes and A-labels")
	LintInformal = newRule("nid_informal", "informal-nid", "RFC 8141 section 5.2",
		`an informal NID is "urn-" and a number without leading zeros`)
)

// LintNID returns the rule of RFC 8141 section 5 that a well-formed NID breaks, or the zero Rule. Such NIDs are
// in use, and are accepted.
func LintNID(nid string) Rule {
	switch {
	case len(nid) > 1 && EqualFold(nid[:2], "x-"):
		return LintExperimental
	case len(nid) > 3 && EqualFold(nid[:4], "urn-"):
		if !isNumber(nid[4:]) {
			return LintInformal
		}
	case len(nid) <= 2:
		return LintShort
	case is(nid[0], classAlpha) && is(nid[1], classAlpha) && nid[2] == '-':
		return LintCountry
	}
	return Rule{}
}

// isNumber reports whether s is a Number of RFC 8141 section 5.2.
func isNumber(s string) bool {
	for i := range len(s) {
		if !is(s[i], classDigit) {
			return false
		}
	}
	return s != "" && s[0] != '0'
}
