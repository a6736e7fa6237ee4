package resolver_test

import (
	"slices"
	"testing"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// Identify is idempotent, whatever the registry is queried for.
func TestNameIsIdempotent(t *testing.T) {
	table, err := urnns.NewIdentifiers(append([]urnns.Identifier{
		{Pattern: `(?i)^ark:/?(?P<id>[0-9b-z]{5,}/\S+)$`, Template: "https://resolver.example.org/ark:/{+id}"},
	}, urnns.BuiltinIdentifiers()...)...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: builtin(t), Accept: uri.CurrentURN, Identifiers: table}
	all := names
	all.RegisteredPrefixes = resolver.AllPrefixes()
	for text, want := range map[string]string{
		"http://doi.org/10.5555/m1": "urn:doi:10.5555/m1", "http://hdl.handle.net/20.500.9/h1": "hdl:20.500.9/h1",
		"http://urn.fi/URN:NBN:fi:lib-1":    "urn:nbn:fi:lib-1",
		"https://any.example/ark:12345/x-1": "ark:/12345/x1", "http://purl.example./a": "https://purl.example/a",
		"ark:/12345/x1": "ark:/12345/x1", "doi:10.5555%2Fa1": "urn:doi:10.5555/a1",
		"ark:/12345%2Fx1": "ark:/12345/x1", "ark:/12-345%2Fx-1": "ark:/12345/x1", "ark:12%2D345%2FX": "ark:/12345/X",
		"ark:/1%E2%80%902345-%2FX": "ark:/12345/X",
	} {
		for _, n := range []resolver.Names{
			all,
			all.WithOwnedPrefixes([]string{"urn:", "ark:/12345/", "https://purl.example/"}),
		} {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err != nil {
				t.Fatal(err)
			}
			once := n.Identify(q)
			canonical, err := n.Canonical(once)
			if n.Identify(once) != once || err != nil || canonical.URI.String() != want {
				t.Errorf("%s is named %s, then %s, and canonical %s, %v", text, once.URI, n.Identify(once).URI,
					canonical.URI, err)
			}
		}
	}
	if got := names.WithOwnedPrefixes([]string{
		"ARK:12345/", "doi:10.5555/",
		"urn:nbn:fi:",
	}).OwnedPrefixes; !slices.Equal(got, []string{"ark:/12345/", "urn:doi:10.5555/", "urn:nbn:fi:"}) {
		t.Errorf("what names begin with: %q", got)
	}
	for text, want := range map[string]string{
		"http://purl.example/p/": "https://purl.example/p/", "https://any.example/ark:/12345/zz/": "ark:/12345/zz/",
		"http://doi.org/10.5555/p/": "urn:doi:10.5555/p/",
	} {
		if got, err := all.CanonicalPrefix(text); got != want || err != nil {
			t.Errorf("the prefix %s is %s, %v", text, got, err)
		}
	}
}
