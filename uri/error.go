package uri

import (
	"fmt"
	"strings"
)

// Rule is a requirement on an input: a production of a grammar, or a requirement of its prose. Rules are
// comparable values. Packages that check more than generic syntax (urnns) define their own.
type Rule struct {
	Code        string // identifier in snake_case, for programs and translations: unique, unlike Name
	Name        string // production, as named by its specification
	Section     string // section of the specification: "RFC 3986 section 2.1"
	Requirement string // requirement, as a clause: "a percent sign is followed by ..."
	Value       string // value of the input that replaces {{.Value}} in Requirement: see With
}

func newRule(code, name, section, requirement string) Rule {
	return Rule{Code: code, Name: name, Section: section, Requirement: requirement}
}

// With returns the rule with a value of the input in the place of {{.Value}} in Requirement, such as the correct check
// digit.
func (r Rule) With(value string) Rule {
	r.Value, r.Requirement = value, strings.ReplaceAll(r.Requirement, "{{.Value}}", value)
	return r
}

// The rules of generic syntax and of URNs.
var (
	RuleLength = newRule("too_long", "length", "RFC 3986 section 2", "the text is longer than the limit")
	RuleURI    = newRule("no_scheme", "URI", "RFC 3986 section 3",
		"an absolute URI begins with a scheme and a colon")
	RuleScheme = newRule("scheme", "scheme", "RFC 3986 section 3.1",
		"a scheme is a letter followed by letters, digits, plus, hyphen or period")
	RuleNoScheme = newRule("relative_colon", "path-noscheme", "RFC 3986 section 4.2",
		"a relative reference has no colon in its first segment")
	RulePctEncoded = newRule("pct_encoded", "pct-encoded", "RFC 3986 section 2.1",
		"a percent sign is followed by two hexadecimal digits")
	RuleUserinfo = newRule("userinfo", "userinfo", "RFC 3986 section 3.2.1",
		"this byte is not allowed in a userinfo")
	RuleRegName = newRule("reg_name", "reg-name", "RFC 3986 section 3.2.2",
		"this byte is not allowed in a host name")
	RuleIPLiteral = newRule("ip_literal", "IP-literal", "RFC 3986 section 3.2.2",
		"brackets contain an IPv6 address without a zone, or an IPvFuture")
	RulePort     = newRule("port", "port", "RFC 3986 section 3.2.3", "a port is decimal digits")
	RulePath     = newRule("path", "path", "RFC 3986 section 3.3", "this byte is not allowed in a path")
	RuleQuery    = newRule("query", "query", "RFC 3986 section 3.4", "this byte is not allowed in a query")
	RuleFragment = newRule("fragment", "fragment", "RFC 3986 section 3.5", "this byte is not allowed in a fragment")
	RuleSurplus  = newRule("above_root", "relative-path", "draft-fielding-uri-syntax-02 section 5.2 step 6g",
		"the reference climbs above the root of its base")
	RuleURN = newRule("urn", "assigned-name", "RFC 8141 section 2", `a URN begins with "urn:"`)
	RuleNID = newRule("nid", "NID", "RFC 8141 section 2.1",
		"a NID is 2 to 32 letters, digits and hyphens, with no hyphen first or last")
	RuleNIDUrn = newRule("nid_urn", "NID", "RFC 8141 section 5.1", `the NID "urn" is reserved`)
	RuleNoNSS  = newRule("no_nss", "NID", "RFC 8141 section 2.1",
		`a colon and an NSS follow the NID: "urn:" NID ":" NSS`)
	RuleNSS = newRule("nss", "NSS", "RFC 8141 section 2.2",
		"an NSS begins with at least one byte that is not a slash")
	RuleNUL = newRule("nul", "NUL", "draft-ietf-urnbis-rfc2141bis-urn-03 section 2.5.3",
		"a URN contains no NUL, not even percent-encoded")
	RuleRComponent = newRule("r_component", "r-component", "RFC 8141 section 2.3.1",
		`"?+" is followed by at least one byte, which is not "/" or "?"`)
	RuleQComponent = newRule("q_component", "q-component", "RFC 8141 section 2.3.2",
		`"?=" is followed by at least one byte, which is not "/" or "?"`)
	RuleRQComponents = newRule("rq_components", "rq-components", "RFC 8141 section 2",
		`"?" is followed by "+", "=" or a directive such as "s=I2L"`)
	RuleDirective = newRule("directive", "urn-query", "draft-ietf-urnbis-rfc2141bis-urn-03 section 2.3",
		"directives are keyword=value, "+
			"joined by ampersands")
)

// ParseError is the error of an input that breaks a rule at a byte.
type ParseError struct {
	Input  string
	Offset int // byte offset of the error in Input; len(Input) if something is missing
	Rule   Rule
}

// maxQuoted limits how much of an input is quoted in an error, and therefore in logs.
const maxQuoted = 120

func (e *ParseError) Error() string {
	in := e.Input
	if len(in) > maxQuoted {
		in = in[:maxQuoted] + "..."
	}
	return fmt.Sprintf("parsing %q: offset %d: %s: %s (%s)", in, e.Offset, e.Rule.Name, e.Rule.Requirement,
		e.Rule.Section)
}

func failure(input string, offset int, rule Rule) error {
	return &ParseError{Input: input, Offset: offset, Rule: rule}
}
