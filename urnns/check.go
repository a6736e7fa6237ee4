package urnns

import "github.com/urnd/urnd/uri"

// checkDigit is the name of the rules for check digits: see Namespace.LenientDigits.
const checkDigit = "check digit"

// The rules for check digits, of different specifications.
var (
	ruleCheckDigit = uri.Rule{
		Code: "check_digit", Name: checkDigit,
		Requirement: "the check digit should be {{.Value}}",
	}
	ruleCheckDigits = uri.Rule{
		Code: "check_digits", Name: checkDigit,
		Requirement: "the check digits should be {{.Value}}",
	}
	ruleCheckCharacter = uri.Rule{
		Code: "check_character", Name: checkDigit,
		Requirement: "the check character should be {{.Value}}",
	}
)

// wants returns a rule for check digits with the section of its specification and the correct check digit.
func wants(rule uri.Rule, section, digit string) uri.Rule {
	rule.Section = section
	return rule.With(digit)
}

// check has the rules of a namespace that a row of data cannot express. The zero check has none.
type check struct {
	// verify returns the rule that an NSS as written breaks, with the offset, or the zero Rule.
	verify func(nss string) (offset int, rule uri.Rule)
	// exactPrefix is a prefix, in lower case and compared ignoring case, of NSSs that are case-sensitive after
	// their first colon, whatever the fold of the namespace.
	exactPrefix string
	// foldedPrefix is a prefix, in lower case and compared ignoring case, of NSSs that are case-insensitive,
	// whatever the fold of the namespace.
	foldedPrefix string
	// shorten returns the canonical NSS without its optional parts.
	shorten func(nss string) string
	// firstKey returns the labels before the NID in the first DDDS key.
	firstKey func(nss string) string
	// others returns the other canonical NSSs of the resource of a canonical NSS.
	others func(nss string) []string
	// identity returns the same NSS for all canonical NSSs of a resource, if the namespace can have several for
	// one.
	identity func(nss string) string
}

// lookupCheck returns the check with a name used in rows.
func lookupCheck(name string) (check, bool) {
	switch name {
	case "":
		return check{}, true
	case "ddi":
		return check{firstKey: reversedAgency}, true
	case "gsma":
		return check{shorten: withoutVersion0}, true
	case "ietf": // RFC 2648 section 2 makes names case-insensitive, but RFC 3553 section 3 compares parameters exactly
		return check{verify: checkIETF, exactPrefix: "params:"}, true
	case "isbn":
		return check{verify: checkISBN, identity: isbn13, others: otherISBN}, true
	case "smpte": // RFC 5119 section 2: universal labels are hexadecimal
		return check{foldedPrefix: "ul:"}, true
	default:
		verify := lookupVerify(name)
		return check{verify: verify}, verify != nil
	}
}

// lookupVerify returns the verify function of checks that consist of nothing else, or nil.
func lookupVerify(name string) func(nss string) (int, uri.Rule) {
	switch name {
	case "eidr":
		return checkEIDR
	case "isan":
		return checkISAN
	case "isni":
		return checkISNI
	case "issn":
		return checkISSN
	case "lei":
		return checkLEI
	case "lex":
		return checkLEX
	case "nbn":
		return checkNBN
	case "oid":
		return checkOID
	case "uuid":
		return checkUUID
	default:
		return nil
	}
}
