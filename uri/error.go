package uri

import "fmt"

// Rule is a requirement on an input: a production of a grammar or a requirement of
// its prose. Rules are comparable values; packages that check more than generic
// syntax (urnns) define their own.
type Rule struct {
	Name    string // the production, as its specification writes it
	Section string // of the specification: "RFC 3986 section 2.1"
	Says    string // what it requires, as a clause: "a percent sign is followed by ..."
}

// The rules of generic syntax and of URNs.
var (
	RuleLength       = Rule{"length", "RFC 3986 section 2", "the text is longer than the limit"}
	RuleURI          = Rule{"URI", "RFC 3986 section 3", "an absolute URI begins with a scheme and a colon"}
	RuleScheme       = Rule{"scheme", "RFC 3986 section 3.1", "a scheme is a letter followed by letters, digits, plus, hyphen or period"}
	RuleNoScheme     = Rule{"path-noscheme", "RFC 3986 section 4.2", "a relative reference has no colon in its first segment"}
	RulePctEncoded   = Rule{"pct-encoded", "RFC 3986 section 2.1", "a percent sign is followed by two hexadecimal digits"}
	RuleUserinfo     = Rule{"userinfo", "RFC 3986 section 3.2.1", "this octet is not allowed in a userinfo"}
	RuleRegName      = Rule{"reg-name", "RFC 3986 section 3.2.2", "this octet is not allowed in a host name"}
	RuleIPLiteral    = Rule{"IP-literal", "RFC 3986 section 3.2.2", "brackets contain an IPv6 address without a zone, or an IPvFuture"}
	RulePort         = Rule{"port", "RFC 3986 section 3.2.3", "a port is decimal digits"}
	RulePath         = Rule{"path", "RFC 3986 section 3.3", "this octet is not allowed in a path"}
	RuleQuery        = Rule{"query", "RFC 3986 section 3.4", "this octet is not allowed in a query"}
	RuleFragment     = Rule{"fragment", "RFC 3986 section 3.5", "this octet is not allowed in a fragment"}
	RuleSurplus      = Rule{"relative-path", "draft-fielding-uri-syntax-02 section 5.2 step 6g", "the reference climbs above the root of its base"}
	RuleURN          = Rule{"assigned-name", "RFC 8141 section 2", `a URN begins with "urn:"`}
	RuleNID          = Rule{"NID", "RFC 8141 section 2.1", "a NID is 2 to 32 letters, digits and hyphens, with no hyphen first or last"}
	RuleNIDUrn       = Rule{"NID", "RFC 8141 section 5.1", `the NID "urn" is reserved`}
	RuleNoNSS        = Rule{"NID", "RFC 8141 section 2.1", `a colon and an NSS follow the NID: "urn:" NID ":" NSS`}
	RuleNSS          = Rule{"NSS", "RFC 8141 section 2.2", "an NSS begins with at least one octet that is not a slash"}
	RuleNUL          = Rule{"NUL", "draft-ietf-urnbis-rfc2141bis-urn-03 section 2.5.3", "a URN contains no NUL, not even percent-encoded"}
	RuleRComponent   = Rule{"r-component", "RFC 8141 section 2.3.1", `"?+" is followed by at least one octet, which is not "/" or "?"`}
	RuleQComponent   = Rule{"q-component", "RFC 8141 section 2.3.2", `"?=" is followed by at least one octet, which is not "/" or "?"`}
	RuleRQComponents = Rule{"rq-components", "RFC 8141 section 2", `"?" is followed by "+", "=" or a directive such as "s=I2L"`}
	RuleDirective    = Rule{"urn-query", "draft-ietf-urnbis-rfc2141bis-urn-03 section 2.3", "directives are keyword=value, " +
		"joined by ampersands"}
)

// ParseError says which octet of which input breaks which rule.
type ParseError struct {
	Input  string
	Offset int // of the offending octet in Input; len(Input) when something is missing
	Rule   Rule
}

// maxQuoted bounds how much of an input goes into a message and so into logs.
const maxQuoted = 120

func (e *ParseError) Error() string {
	in := e.Input
	if len(in) > maxQuoted {
		in = in[:maxQuoted] + "..."
	}
	return fmt.Sprintf("parsing %q: offset %d: %s: %s (%s)", in, e.Offset, e.Rule.Name, e.Rule.Says, e.Rule.Section)
}

func fault(input string, offset int, rule Rule) error {
	return &ParseError{Input: input, Offset: offset, Rule: rule}
}
