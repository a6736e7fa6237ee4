package uri_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/urnd/urnd/uri"
)

func TestFromIRI(t *testing.T) {
	for _, v := range readVectors(t, "iri.tsv", 2) {
		u, err := uri.FromIRI(v.fields[0])
		got := u.String()
		var parseErr *uri.ParseError
		if errors.As(err, &parseErr) {
			got = fmt.Sprintf("error %d %s", parseErr.Offset, parseErr.Rule.Name)
		}
		if got != v.fields[1] {
			t.Errorf("%s (%s): got %s, %v", v.where, v.section, got, err)
		}
	}
	if _, err := uri.FromIRI("http://a/\xff"); !errors.As(err, new(*uri.ParseError)) {
		t.Errorf("text that is not UTF-8: %v", err)
	}
}

func TestDisplay(t *testing.T) {
	for _, v := range readVectors(t, "display.tsv", 2) {
		if got := mustParse(t, v.fields[0]).Display(); got != v.fields[1] {
			t.Errorf("%s (%s): got %s", v.where, v.section, got)
		}
	}
}

// FuzzIRI: a URI is mapped to itself, the result of Display is mapped back to the URI, and mapping is
// idempotent.
func FuzzIRI(f *testing.F) {
	for _, s := range []string{
		"http://ä.example/ä?ä#ä", "urn:example:а/日本", "x://ü@ö:1/", "http://a/%e4%C3%A4[",
		"mailto:ä@b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.FromIRI(s)
		if parsed, parseErr := uri.Parse(s); parseErr == nil && u != parsed {
			t.Fatalf("%q is a URI, but mapped to %q, %v", s, u, err)
		}
		if err != nil {
			return
		}
		if again, err := uri.FromIRI(u.String()); err != nil || again != u {
			t.Fatalf("%q is mapped to %q, and that to %q, %v", s, u, again, err)
		}
		shown := u.Display()
		if back, err := uri.FromIRI(shown); err != nil ||
			back.NormalizeSteps(uri.PercentCase) != u.NormalizeSteps(uri.PercentCase) {
			t.Fatalf("%q is shown as %q, which is %q, %v", u, shown, back, err)
		}
	})
}
