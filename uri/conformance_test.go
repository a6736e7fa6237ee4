package uri_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// Each line has the rules by which the specifications reject a URN.
func TestRequire(t *testing.T) {
	type refusal struct {
		offset int
		rule   uri.Rule
	}
	ok := refusal{}
	for in, want := range map[string][3]refusal{ // RFC 2141, draft, RFC 8141
		"urn:foo:a123,456":  {ok, ok, ok},
		"urn:a:b":           {ok, {5, uri.RuleNID}, {5, uri.RuleNID}},
		"urn:a-:b":          {ok, {5, uri.RuleNID}, {5, uri.RuleNID}},
		"urn:foo:a/b":       {{9, uri.RuleNSS2141}, {9, uri.RuleNSSDraft}, ok},
		"urn:foo:a~b":       {{9, uri.RuleNSS2141}, ok, ok},
		"urn:foo:a&b":       {{9, uri.RuleNSS2141}, ok, ok},
		"urn:foo:a#f":       {{9, uri.RuleQuery2141}, ok, ok},
		"urn:foo:a?s=I2L":   {{9, uri.RuleQuery2141}, ok, {10, uri.RuleNoDirectives}},
		"urn:foo:a?s=I2L#f": {{9, uri.RuleQuery2141}, ok, {10, uri.RuleNoDirectives}},
		"urn:foo:a?+r":      {{9, uri.RuleQuery2141}, {10, uri.RuleDirective}, ok},
		"urn:foo:a?=q":      {{9, uri.RuleQuery2141}, {10, uri.RuleDirective}, ok},
		"urn:foo:a?+r?=q#f": {{9, uri.RuleQuery2141}, {10, uri.RuleDirective}, ok},
		"urn:foo:a/b?s=I2L": {{9, uri.RuleNSS2141}, {9, uri.RuleNSSDraft}, {12, uri.RuleNoDirectives}},
		"urn:a:b/c?s=I2L":   {{7, uri.RuleNSS2141}, {5, uri.RuleNID}, {5, uri.RuleNID}},
	} {
		v, err := mustParse(t, in).URN()
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		for i, spec := range []uri.Conformance{uri.RFC2141, uri.DraftURN, uri.RFC8141} {
			conforms := v.Conforms()&spec != 0
			if err := v.Require(spec); (err == nil) != conforms || conforms != (want[i] == ok) ||
				err != nil && !isParseError(err, in, want[i].offset, want[i].rule) {
				t.Errorf("%s: %s: %v, want %+v", in, spec.Names(), err, want[i])
			}
		}
		if err := v.Require(uri.RFC2141 | uri.CurrentURN); err != nil {
			t.Errorf("%s: any of them: %v", in, err)
		}
	}
}

func isParseError(err error, in string, offset int, rule uri.Rule) bool {
	var parseErr *uri.ParseError
	return errors.As(err, &parseErr) && *parseErr == uri.ParseError{Input: in, Offset: offset, Rule: rule}
}

func TestParseConformance(t *testing.T) {
	for _, name := range (uri.RFC2141 | uri.CurrentURN).Names() {
		if c, ok := uri.ParseConformance(name); !ok || strings.Join(c.Names(), " ") != name {
			t.Errorf("%s: %v, %v", name, c, ok)
		}
	}
	if _, ok := uri.ParseConformance("rfc3986"); ok {
		t.Error("rfc3986 is accepted as a specification of URNs")
	}
}

func TestCheckNID(t *testing.T) {
	for nid, want := range map[string]error{
		"isbn": nil, "URN": uri.ErrNID, "": uri.ErrNID, "a": uri.ErrNID,
		"a-": uri.ErrNID, "a b": uri.ErrNID, "ISSN": nil,
	} {
		if err := uri.CheckNID(nid); !errors.Is(err, want) {
			t.Errorf("CheckNID(%q) = %v", nid, err)
		}
	}
}

// RFC 8141 sections 5.1 and 5.2.
func TestLintNID(t *testing.T) {
	for nid, want := range map[string]uri.Rule{
		"isbn": {}, "3gpp": {}, "x3d": {}, "a1-b": {}, "abc-d": {}, "urn-7": {}, "URN-10": {}, "urnx": {},
		"X-foo": uri.LintExperimental, "x-": uri.LintExperimental,
		"de": uri.LintShort, "a1": uri.LintShort, "a": uri.LintShort,
		"de-foo": uri.LintCountry, "XN--a": uri.LintCountry, "de-": uri.LintCountry,
		"urn-": uri.LintInformal, "urn-07": uri.LintInformal, "URN-x": uri.LintInformal, "urn-7a": uri.LintInformal,
	} {
		if got := uri.LintNID(nid); got != want {
			t.Errorf("LintNID(%q) = %+v", nid, got)
		}
	}
}
