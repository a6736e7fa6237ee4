package uri_test

import (
	"testing"

	"github.com/urnd/urnd/uri"
)

// A response invalidates URIs in any spelling: RFC 9111 section 4.4.
func TestSameOriginOfSpellings(t *testing.T) {
	for reference, want := range map[string]string{
		"/c?x[]=1": "http://a.example/c?x%5B%5D=1", "100%": "http://a.example/100%25",
		"../%7ed|":              "http://a.example/~d%7C",
		"http://A.example:80/ü": "http://a.example/%C3%BC",
	} {
		if key, same := uri.SameOrigin("http://a.example/b", reference); key != want || !same {
			t.Errorf("%q: %q, %t", reference, key, same)
		}
	}
	for _, reference := range []string{
		"//b.example/[", "https://a.example/[", "http://a.example\\@b.example/", "/a b",
		"http://a.example[/",
	} {
		if key, same := uri.SameOrigin("http://a.example/b", reference); same {
			t.Errorf("%q is of the same origin: %q", reference, key)
		}
	}
}
