package uri_test

import (
	"testing"

	"github.com/urnd/urnd/uri"
)

// All spellings of all groups of a server have one normal form: RFC 5538 section 4.
func TestAllGroupsOfServer(t *testing.T) {
	for text, want := range map[string]string{
		"news://h.example/*":   "news://h.example/*",
		"news://h.example/":    "news://h.example/*",
		"news://h.example":     "news://h.example/*",
		"NEWS://H.example:119": "news://h.example/*",
		"news://h.example/a.b": "news://h.example/a.b",
		"news:*":               "news:*",
		"news:a.b":             "news:a.b",
		"news://h.example/%2A": "news://h.example/%2A",
	} {
		u, err := uri.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Normalize().String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A NUL breaks the rule UNASCII rather than a line-end rule: RFC 1738 section 3.4.1, RFC 1436.
func TestGopherNUL(t *testing.T) {
	for text, want := range map[string]string{
		"gopher://h/0a%00b": "UNASCII", "gopher://h/7a%09b%00": "UNASCII", "gopher://h/0a%0Ab": "selector",
		"gopher://h/0a%0D": "selector",
	} {
		u, err := uri.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = u.Gopher()
		if got := ruleOf(err); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func ruleOf(err error) string {
	if parse, ok := err.(*uri.ParseError); ok { //nolint:errorlint // it is not wrapped
		return parse.Rule.Name
	}
	return ""
}
