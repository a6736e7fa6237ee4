package resolver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// guessing returns Names with the built-in namespaces and identifiers.
func guessing(t testing.TB) resolver.Names {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	identifiers, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	if err != nil {
		t.Fatal(err)
	}
	return resolver.Names{Set: set, Accept: uri.CurrentURN, Identifiers: identifiers}
}

// Suggestions for texts that people type and paste.
func TestSuggest(t *testing.T) {
	n := guessing(t)
	for text, want := range map[string]string{
		"urn.ietf.rfc.2648": "urn:ietf:rfc:2648", "URN ietf:rfc:2648": "urn:ietf:rfc:2648",
		"urn ietf rfc 2648": "urn:ietf:rfc:2648", "urn:ietf:rfc 2648": "urn:ietf:rfc:2648",
		"urn;ietf:rfc:2648": "urn:ietf:rfc:2648", "urn/ietf/rfc/2648": "urn:ietf:rfc:2648",
		"urn：ietf：rfc：2648": "urn:ietf:rfc:2648", "„urn:ietf:rfc:2648“": "urn:ietf:rfc:2648",
		"urn:ietf:rfc:2648.": "urn:ietf:rfc:2648", "'urn:ietf:rfc:2648',": "urn:ietf:rfc:2648",
		"urn:isbn:978–0–395–36341–6": "urn:isbn:978-0-395-36341-6", "urn:\u200bietf:rfc:2648": "urn:ietf:rfc:2648",
		"urn:ibsn:9780395363416":  "urn:isbn:9780395363416",
		"urn:isb:9780395363416":   "urn:isbn:9780395363416",
		"urn:iisbn:9780395363416": "urn:isbn:9780395363416",
		"ietf:rfc:2648":           "urn:ietf:rfc:2648",
		"urn:ex ample:a":          "urn:example:a",
		"http//a.example/b":       "http://a.example/b", "http:/a.example/": "http://a.example/",
		"https:a.example/":  "https://a.example/",
		"HTTP;//a.example/": "http://a.example/", "www.example.org": "https://www.example.org",
		"doi 10.1000 / 182": "urn:doi:10.1000/182", "10. 1000/182": "urn:doi:10.1000/182",
		"ISBN: 978 0395 36341 6.": "urn:isbn:978-0395-36341-6",
		"kalevala":                "", "hello world": "", "": "", "urn": "", "urn:": "", "urn:isbn:9780395363417": "",
		"http":  "",
		"http:": "", "http://": "", "。。。": "",
		strings.Repeat("urn ", 1000): "",
	} {
		got := n.Suggest(text)
		if first := strings.Join(got[:min(len(got), 1)], ""); first != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
		if slices.Contains(got, text) {
			t.Errorf("%.60q suggested for itself", text)
		}
	}
}

// Canonical accepts all suggestions, and their number is limited.
func FuzzSuggest(f *testing.F) {
	for _, text := range []string{
		"urn.ietf.rfc.2648", "urn ietf：rfc 1.", "http//a", "www.", "doi 10.1000 / 182",
		"\xff", "urn:\u200b:",
	} {
		f.Add(text)
	}
	n := guessing(f)
	f.Fuzz(func(t *testing.T, text string) {
		found := n.Suggest(text)
		if len(found) > 5 {
			t.Errorf("%q: %q", text, found)
		}
		for _, one := range found {
			q, err := resolver.ParseQuery(one, resolver.I2L)
			if err != nil || one == text {
				t.Fatalf("%q: %q: %v", text, one, err)
			}
			if _, err := n.Canonical(q); err != nil {
				t.Errorf("%q: %q: %v", text, one, err)
			}
		}
	})
}
