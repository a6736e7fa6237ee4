package uri

import (
	"slices"
	"strings"
)

// Directive is a directive in the query of a URN reference, draft-ietf-urnbis-rfc2141bis-urn-03 section 2.3:
// "s=I2L" selects a service.
type Directive struct {
	Keyword string // case-sensitive
	Value   string // as written, not decoded
}

// Directives returns the directives of v in the order written. All directives with a repeated keyword are left
// out, since the meaning of directives must not depend on their order.
func (v URN) Directives() []Directive {
	if !v.hasDirectives() {
		return nil
	}
	query, _ := v.u.Query()
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

// CacheName returns v in the form that identifies a resolution result, step 5b of section 5 of the draft:
// without fragment, with the directives sorted by keyword, and without repeated keywords, which are ignored.
// The r- and q-components of RFC 8141, which is newer, are unchanged.
func (v URN) CacheName() URN {
	v.u = v.u.WithoutFragment()
	if !v.hasDirectives() {
		return v
	}
	directives := v.Directives()
	slices.SortFunc(directives, func(a, b Directive) int { return strings.Compare(a.Keyword, b.Keyword) })
	var b strings.Builder
	b.WriteString(v.Name().u.s)
	for i, d := range directives {
		b.WriteByte("?&"[min(i, 1)])
		b.WriteString(d.Keyword)
		b.WriteByte('=')
		b.WriteString(d.Value)
	}
	return newURN(newURI(b.String(), v.u.schemeEnd(), v.u.pathStart(), v.u.queryStart(), b.Len()), len(v.NID()))
}

// checkDirectives checks query, which starts at offset at of s: directive *( "&" directive ), directive = keywd
// "=" value, keywd = ALPHA *( ["-"] ( ALPHA / DIGIT ) ).
func checkDirectives(s string, at int, query string) error {
	for part := range strings.SplitSeq(query, "&") {
		keyword, _, ok := strings.Cut(part, "=")
		if !ok {
			return failure(s, at+len(part), RuleDirective)
		}
		for i := range len(keyword) {
			hyphen := keyword[i] == '-' && i > 0 && i < len(keyword)-1 && keyword[i-1] != '-'
			if !hyphen && !is(keyword[i], classAlpha|classDigit) || i == 0 && !is(keyword[i], classAlpha) {
				return failure(s, at+i, RuleDirective)
			}
		}
		if keyword == "" {
			return failure(s, at, RuleDirective)
		}
		at += len(part) + 1
	}
	return nil
}
