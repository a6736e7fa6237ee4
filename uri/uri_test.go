package uri_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// appendixB is the regular expression of RFC 3986 appendix B, the oracle for the split into components of every
// text that parses.
var appendixB = regexp.MustCompile(`^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?$`)

func checkAgainstAppendixB(t *testing.T, u uri.URI) {
	t.Helper()
	m := appendixB.FindStringSubmatch(u.String())
	if m == nil {
		t.Fatalf("%q parses but does not match appendix B", u)
	}
	authority, hasAuthority := u.Authority()
	query, hasQuery := u.Query()
	fragment, hasFragment := u.Fragment()
	got := []any{u.Scheme(), hasAuthority, authority, u.Path(), hasQuery, query, hasFragment, fragment}
	want := []any{m[2], m[3] != "", m[4], m[5], m[6] != "", m[7], m[8] != "", m[9]}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%q: part %d is %q, appendix B says %q", u, i, got[i], want[i])
		}
	}
}

func TestParseComponents(t *testing.T) {
	for _, s := range []string{
		"http://www.ics.uci.edu/pub/ietf/uri/#Related", "ftp://ftp.is.co.za/rfc/rfc1808.txt",
		"gopher://spinaltap.micro.umn.edu/00/Weather/California/Los%20Angeles",
		"mailto:mduerst@ifi.unizh.ch", "news:comp.infosystems.www.servers.unix", "telnet://melvyl.ucop.edu/",
		"ldap://[2001:db8::7]/c=GB?objectClass?one", "tel:+1-816-555-1212",
		"urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
		"http://a?", "http://a#", "http://a?#", "http://@a:/", "http://u:p@[::1]:8080/x?y#z", "file:///etc",
		"file:/etc", "x:", "x://",
		"", "a/b", "?y", "#s", "//g", "/a//b", "a?b:c", "./a:b", "http://[v1.fe80::a+en1]/",
	} {
		u, err := uri.ParseReference(s)
		if err != nil {
			t.Errorf("ParseReference(%q): %v", s, err)
			continue
		}
		if u.String() != s || !u.IsValid() {
			t.Errorf("ParseReference(%q) prints as %q", s, u)
		}
		checkAgainstAppendixB(t, u)
	}
}

func TestAuthorityParts(t *testing.T) {
	type part struct {
		text string
		ok   bool
	}
	for s, want := range map[string][3]part{
		"http://u:p@host:8080/": {{"u:p", true}, {"host", true}, {"8080", true}},
		"http://@host:/":        {{"", true}, {"host", true}, {"", true}},
		"http://[::1]:80":       {{"", false}, {"[::1]", true}, {"80", true}},
		"http://[::1]":          {{"", false}, {"[::1]", true}, {"", false}},
		"file:///x":             {{"", false}, {"", true}, {"", false}},
		"mailto:a@b":            {{"", false}, {"", false}, {"", false}},
	} {
		u := mustParse(t, s)
		var got [3]part
		got[0].text, got[0].ok = u.Userinfo()
		got[1].text, got[1].ok = u.Host()
		got[2].text, got[2].ok = u.Port()
		if got != want {
			t.Errorf("%q: userinfo, host, port = %v, want %v", s, got, want)
		}
	}
}

// draft-fielding-uri-syntax-02 section 3.2.1.
func TestRegistry(t *testing.T) {
	for s, want := range map[string]string{
		"x://a:b:c/p": "a:b:c", "x://a@b@c?q": "a@b@c", "x://a:b": "a:b", "x://;a:$,&=+:%2F#f": ";a:$,&=+:%2F",
		"x://a:1": "", "x://u@h": "", "x://u:p@h:1/": "", "x:///p": "", "x:p": "", "x://[::1]:1": "",
	} {
		u := mustParse(t, s)
		checkAgainstAppendixB(t, u)
		name, ok := u.Registry()
		if name != want || ok != (want != "") {
			t.Errorf("%q: registry %q, %v", s, name, ok)
		}
		if !ok {
			continue
		}
		host, _ := u.Host()
		_, hasUser := u.Userinfo()
		_, hasPort := u.Port()
		if host != want || hasUser || hasPort {
			t.Errorf("%q: host %q, user %v, port %v", s, host, hasUser, hasPort)
		}
	}
	for _, s := range []string{
		"http://a:b:c/", "http://a@b@c/", "FTP://a:b:c", "x://a:b[", "x://a:%4", "x://[::1",
		"//a:b:c/", "//a@b@c",
	} {
		if u, err := uri.ParseReference(s); err == nil {
			t.Errorf("%q parses, with host %v", s, u)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		in     string
		offset int
		rule   uri.Rule
	}{
		{"", 0, uri.RuleURI},
		{"/a", 0, uri.RuleURI},
		{":a", 0, uri.RuleNoScheme},
		{"1a:b", 2, uri.RuleNoScheme},
		{"a_b:c", 1, uri.RuleScheme},
		{"http://a b/", 8, uri.RuleRegName},
		{"http://a/b c", 10, uri.RulePath},
		{"http://a/\x00", 9, uri.RulePath},
		{"http://a/é", 9, uri.RulePath},
		{"http://a/%", 9, uri.RulePctEncoded},
		{"http://a/%4", 9, uri.RulePctEncoded},
		{"http://a/%zz", 9, uri.RulePctEncoded},
		{"http://a%4/", 8, uri.RulePctEncoded},
		{"http://a/b?c^", 12, uri.RuleQuery},
		{"http://a/b#c#", 12, uri.RuleFragment},
		{"http://a/[b]", 9, uri.RulePath},
		{"http://a@b@c/", 10, uri.RuleRegName},
		{"http://a<@b/", 8, uri.RuleUserinfo},
		{"http://a:8x/", 10, uri.RulePort},
		{"http://[::1/", 7, uri.RuleIPLiteral},
		{"http://[1.2.3.4]/", 7, uri.RuleIPLiteral},
		{"http://[fe80::1%25en0]/", 7, uri.RuleIPLiteral},
		{"http://[v.x]/", 7, uri.RuleIPLiteral},
		{"http://[::1]x/", 12, uri.RuleIPLiteral},
		{"http://a\\b/", 8, uri.RuleRegName},
	} {
		_, err := uri.Parse(tt.in)
		var parseErr *uri.ParseError
		if !errors.As(err, &parseErr) {
			t.Errorf("Parse(%q) = %v, want a *ParseError", tt.in, err)
			continue
		}
		if parseErr.Offset != tt.offset || parseErr.Rule != tt.rule || parseErr.Input != tt.in {
			t.Errorf("Parse(%q): offset %d, rule %q; want %d, %q", tt.in, parseErr.Offset, parseErr.Rule.Name,
				tt.offset, tt.rule.Name)
		}
	}
}

func TestParseErrorText(t *testing.T) {
	_, err := uri.Parse("http://a/%zz")
	want := `parsing "http://a/%zz": offset 9: pct-encoded: a percent sign is followed by two hexadecimal digits (RFC 3986 section 2.1)`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err = uri.Parse(strings.Repeat(" ", 1000)); len(err.Error()) > 400 {
		t.Errorf("the message quotes the whole input: %d bytes", len(err.Error()))
	}
	if _, err = uri.Parse("x:" + strings.Repeat("a", uri.MaxLength)); err == nil {
		t.Error("a text above MaxLength parses")
	}
}

func TestZeroValue(t *testing.T) {
	var u uri.URI
	empty, err := uri.ParseReference("")
	if err != nil || u.IsValid() || u == empty || u.Normalize() != u {
		t.Errorf("the zero URI must be invalid and not the empty reference (%v)", err)
	}
	if _, ok := u.Authority(); ok || u.String() != "" || u.Scheme() != "" || u.Path() != "" {
		t.Error("the zero URI has parts")
	}
}

func TestText(t *testing.T) {
	var u uri.URI
	if err := u.UnmarshalText([]byte("urn:a1:b")); err != nil || u != mustParse(t, "urn:a1:b") {
		t.Errorf("UnmarshalText: %v, %v", u, err)
	}
	if text, err := u.MarshalText(); err != nil || string(text) != "urn:a1:b" {
		t.Errorf("MarshalText: %q, %v", text, err)
	}
	if err := u.UnmarshalText([]byte("nothing")); err == nil {
		t.Error("UnmarshalText takes a relative reference")
	}
}

func mustParse(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
