package resolver_test

import (
	"testing"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
	"github.com/urnd/urnd/urnns/digitallink"
)

// Identifiers with one canonical name are equivalent, whatever the spelling of each is.
func TestCompare(t *testing.T) {
	table, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	if err != nil {
		t.Fatal(err)
	}
	root, err := digitallink.NewRoot("https://id.example/", digitallink.GS1())
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{
		Set: builtin(t), Accept: uri.CurrentURN, Identifiers: table, Roots: digitallink.Roots{root},
	}.WithOwnedPrefixes([]string{"ark:/12345/", "https://names.example/"})
	for _, tt := range []struct {
		a, b string
		want uri.Rung
	}{
		{"doi:10.1000/1", "doi:10.1000/1", uri.RungIdentical},
		{"urn:doi:10.1000/a", "doi:10.1000/A", uri.RungNamespace},
		{"https://doi.org/10.1000/1", "urn:doi:10.1000/1", uri.RungIdentical},
		{"https://hdl.handle.net/20.500.1/a", "hdl:20.500.1/a", uri.RungIdentical},
		{"ISBN-13:9780395363416", "urn:isbn:0395363411", uri.RungFunctional},
		{"ark:/12345/x-1?info", "https://any.example/ark:/12345/x1", uri.RungScheme},
		{"http://names.example/a", "https://names.example./a", uri.RungIdentical},
		{"https://id.example/01/9506000134352", "https://id.example/01/09506000134352?17=301231", uri.RungScheme},
		{"doi:10.1000/1", "doi:10.1000/2", uri.RungDifferent},
		{"ark:/12345/x1#a", "ark:/12345/x1?info#b", uri.RungDifferent},
		{"http://a.example/#a", "http://a.example/#b", uri.RungDifferent},
		{"https://id.example/01/1", "https://id.example/01/2", uri.RungDifferent},
	} {
		a, b := query(t, tt.a).URI, query(t, tt.b).URI
		if c := names.Compare(uri.ObjectiveNaming, a, b); c.Rung != tt.want {
			t.Errorf("%s, %s: %s, want %s", a, b, c.Rung, tt.want)
		}
		if c := names.Compare(uri.ObjectiveNaming, b, a); c.Rung != tt.want {
			t.Errorf("%s, %s: %s, want %s", b, a, c.Rung, tt.want)
		}
	}
	a, b := query(t, "ark:/12345/x1?info").URI, query(t, "ark:/12345/x1").URI
	if c := names.Compare(uri.ObjectiveCaching, a, b); c.Rung != uri.RungDifferent {
		t.Errorf("%s, %s have one result: %s", a, b, c.Reason)
	}
}
