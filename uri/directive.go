package uri

import "strings"

// Directive is one instruction in the query of a URN reference, section 2.3
// of draft-ietf-urnbis-rfc2141bis-urn-03: "s=I2L" selects a service.
type Directive struct {
	Keyword string // case-sensitive
	Value   string // as written, percent-encodings kept
}

// Directives returns the directives of v in the order written. A keyword that
// appears twice is left out in all its places: the section wants their meaning
// not to depend on their order.
func (v URN) Directives() []Directive {
	query, ok := v.u.Query()
	if !ok || !is(query[0], classAlpha) {
		return nil
	}
	count := make(map[string]int)
	var all []Directive
	for part := range strings.SplitSeq(query, "&") {
		keyword, value, _ := strings.Cut(part, "=")
		count[keyword]++
		all = append(all, Directive{Keyword: keyword, Value: value})
	}
	once := all[:0]
	for _, d := range all {
		if count[d.Keyword] == 1 {
			once = append(once, d)
		}
	}
	return once
}

// checkDirectives checks query, which stands at offset at of s:
// directive *( "&" directive ), directive = keywd "=" value,
// keywd = ALPHA *( ["-"] ( ALPHA / DIGIT ) ).
func checkDirectives(s string, at int, query string) error {
	for part := range strings.SplitSeq(query, "&") {
		keyword, _, ok := strings.Cut(part, "=")
		if !ok {
			return fault(s, at+len(part), RuleDirective)
		}
		for i := range len(keyword) {
			hyphen := keyword[i] == '-' && i > 0 && i < len(keyword)-1 && keyword[i-1] != '-'
			if !hyphen && !is(keyword[i], classAlpha|classDigit) || i == 0 && !is(keyword[i], classAlpha) {
				return fault(s, at+i, RuleDirective)
			}
		}
		if keyword == "" {
			return fault(s, at, RuleDirective)
		}
		at += len(part) + 1
	}
	return nil
}
