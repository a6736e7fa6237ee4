package uri_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

func TestURNParts(t *testing.T) {
	for _, tt := range []struct {
		in, nid, nss, r, q, f string
		has                   [3]bool // r, q, f
		conforms              string
	}{
		{in: "urn:isbn:0451450523", nid: "isbn", nss: "0451450523", conforms: "rfc2141 draft rfc8141"},
		{in: "URN:urn-7:x", nid: "urn-7", nss: "x", conforms: "rfc2141 draft rfc8141"},
		{in: "urn:example:a/b", nid: "example", nss: "a/b", conforms: "rfc8141"},
		{in: "urn:example:a~b", nid: "example", nss: "a~b", conforms: "draft rfc8141"},
		{
			in: "urn:example:foo-bar-baz-qux?+CCResolve:cc=uk", nid: "example", nss: "foo-bar-baz-qux",
			r: "CCResolve:cc=uk", has: [3]bool{true, false, false}, conforms: "rfc8141",
		},
		{
			in: "urn:example:weather?=op=map&lat=39.56&datetime=1969-07-21T02:56:15Z", nid: "example", nss: "weather",
			q: "op=map&lat=39.56&datetime=1969-07-21T02:56:15Z", has: [3]bool{false, true, false}, conforms: "rfc8141",
		},
		{
			in: "urn:a1:b?+r?r/?=q?=q#f", nid: "a1", nss: "b", r: "r?r/", q: "q?=q", f: "f",
			has: [3]bool{true, true, true}, conforms: "rfc8141",
		},
		{in: "urn:a1:b#", nid: "a1", nss: "b", has: [3]bool{false, false, true}, conforms: "draft rfc8141"},
		{
			in: "urn:a1:b?s=I2L&c=ToC#f", nid: "a1", nss: "b", f: "f", has: [3]bool{false, false, true},
			conforms: "draft",
		},
	} {
		v, err := mustParse(t, tt.in).URN()
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		r, hasR := v.R()
		q, hasQ := v.Q()
		f, hasF := v.F()
		if v.NID() != tt.nid || v.NSS() != tt.nss || r != tt.r || q != tt.q || f != tt.f ||
			[3]bool{hasR, hasQ, hasF} != tt.has {
			t.Errorf("%s: got %q %q %q %q %q", tt.in, v.NID(), v.NSS(), r, q, f)
		}
		if got := strings.Join(v.Conforms().Names(), " "); got != tt.conforms {
			t.Errorf("%s conforms to %q, want %q", tt.in, got, tt.conforms)
		}
		name := v.Name()
		if got := name.URI().String(); got != tt.in[:4]+v.NID()+":"+v.NSS() {
			t.Errorf("%s: name %q", tt.in, got)
		}
		if again, err := mustParse(t, name.URI().String()).URN(); err != nil || again != name {
			t.Errorf("%s: the name does not parse to itself: %v", tt.in, err)
		}
	}
}

func TestURNErrors(t *testing.T) {
	for _, tt := range []struct {
		in     string
		offset int
		rule   uri.Rule
	}{
		{"http://a/", 0, uri.RuleURN},
		{"urn:", 4, uri.RuleNID},
		{"urn:isbn", 8, uri.RuleNoNSS},
		{"urn:isbn?=q", 8, uri.RuleNoNSS},
		{"urn://a/b:c", 4, uri.RuleNID},
		{"urn::b", 6, uri.RuleNID},
		{"urn:-a:b", 4, uri.RuleNID},
		{"urn:a_b:c", 5, uri.RuleNID},
		{"urn:" + strings.Repeat("a", 33) + ":b", 36, uri.RuleNID},
		{"urn:URN:b", 4, uri.RuleNIDUrn},
		{"urn:a1:", 7, uri.RuleNSS},
		{"urn:a1:/b", 7, uri.RuleNSS},
		{"urn:a1:#f", 7, uri.RuleNSS},
		{"urn:a1:b%00", 8, uri.RuleNUL},
		{"urn:a1:b?", 9, uri.RuleRQComponents},
		{"urn:a1:b?/x", 9, uri.RuleRQComponents},
		{"urn:a1:b?+", 10, uri.RuleRComponent},
		{"urn:a1:b?+?=q", 10, uri.RuleRComponent},
		{"urn:a1:b?=", 10, uri.RuleQComponent},
		{"urn:a1:b?+r?=/", 13, uri.RuleQComponent},
		{"urn:a1:b?x", 10, uri.RuleDirective},
		{"urn:a1:b?x=1&", 13, uri.RuleDirective},
		{"urn:a1:b?x-=1", 10, uri.RuleDirective},
		{"urn:a1:b?x=1&1=x", 13, uri.RuleDirective},
		{"urn:a1:b?x=1&=x", 13, uri.RuleDirective},
	} {
		_, err := mustParse(t, tt.in).URN()
		var parseErr *uri.ParseError
		if !errors.As(err, &parseErr) || parseErr.Offset != tt.offset || parseErr.Rule != tt.rule {
			t.Errorf("%s: got %v, want offset %d, rule %s", tt.in, err, tt.offset, tt.rule.Name)
		}
	}
}

// Section 2.3 of the draft: all directives with a repeated keyword are ignored, and directives are
// case-sensitive.
func TestDirectives(t *testing.T) {
	for in, want := range map[string][]uri.Directive{
		"urn:a1:b":                     nil,
		"urn:a1:b?=s=I2L":              nil,
		"urn:a1:b?s=I2L&c=ToC":         {{Keyword: "s", Value: "I2L"}, {Keyword: "c", Value: "ToC"}},
		"urn:a1:b?s=I2L&x-y=1&s=I2R":   {{Keyword: "x-y", Value: "1"}},
		"urn:a1:b?s=I2L&S=I2R":         {{Keyword: "s", Value: "I2L"}, {Keyword: "S", Value: "I2R"}},
		"urn:a1:b?s=&c=a=b/?%26#s=I2L": {{Keyword: "s"}, {Keyword: "c", Value: "a=b/?%26"}},
	} {
		v, err := mustParse(t, in).URN()
		if got := v.Directives(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
}

// ParseAny has the results of Parse and URI.URN.
func TestParseAny(t *testing.T) {
	for _, text := range []string{
		"urn:example:a", "URN:example:a?+r#f", "urn:a", "urn:example:%zz", "http://a/",
		"urn://a/b", "nothing", "", "mailto:a@b",
	} {
		u, v, err := uri.ParseAny(text)
		wantURI, wantErr := uri.Parse(text)
		var wantURN uri.URN
		if wantErr == nil && wantURI.IsURN() {
			wantURN, wantErr = wantURI.URN()
		}
		if u != wantURI || v != wantURN || (err == nil) != (wantErr == nil) ||
			err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%q: %v, %v, %v; want %v, %v, %v", text, u, v, err, wantURI, wantURN, wantErr)
		}
	}
}
