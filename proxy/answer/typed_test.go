package answer_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/urnns"
)

// identifying adds the built-in table of identifiers to a configuration.
func identifying(t *testing.T) func(*answer.Config) {
	t.Helper()
	table, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *answer.Config) { c.Names.Identifiers = table }
}

// Identifiers pasted into the form, or after the URL of the server, are recognized.
func TestPastedIdentifiers(t *testing.T) {
	s := start(t, identifying(t))
	const book, location = "urn:isbn:0-395-36341-1", "https://a.example/urn:isbn:0395363411"
	form := func(text string) string { return "/?uri=" + url.QueryEscape(text) }
	for target, want := range map[string]string{
		form(book): location, form("  " + book + "\n"): location, form("<" + book + ">"): location,
		form("URL:" + book):                       location,
		form("<url: urn:isbn:0-395-\n  36341-1>"): location,
		form("0-395-36341-1"):                     location, form("ISBN 0 395 36341 1"): location,
		"/0-395-36341-1":               location,
		"/?uri=urn:isbn:0-395-36341-1": location,
		"/urn%3Aisbn%3A0-395-36341-1":  location, "/urn%3aisbn%3a0-395-36341-1": location,
		"/%200-395-36341-1%0A":  location,
		form("10.1000/182"):     "https://a.example/urn:doi:10.1000/182",
		"/doi:10.1000/182":      "https://a.example/urn:doi:10.1000/182",
		"/?uri=urn:example:a+b": "https://a.example/urn:example:a+b",
		form("urn:example:a+b"): "https://a.example/urn:example:a+b",
		"/urn:example:a%3Ab":    "https://a.example/urn:example:a%3Ab",
	} {
		if got := s.asked(t, target); got.StatusCode != http.StatusFound || got.Header.Get("Location") != want {
			t.Errorf("%s: %d %s, want %s", target, got.StatusCode, got.Header.Get("Location"), want)
		}
	}
}
