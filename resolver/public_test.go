package resolver_test

import (
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// An unregistered name resolves to its public resolver in all spellings, and the location keeps the requested
// spelling.
func TestPublic(t *testing.T) {
	table, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: builtin(t), Accept: uri.CurrentURN, Identifiers: table}
	next := &resolver.Mux{
		Names: resolver.NewNamespaces(names.Set, time.Hour), Locations: resolver.Disabled("a URL"),
		Own: resolver.NewPublicResolver(table, time.Minute), Owns: names.IsName,
	}
	r := resolver.NewCanonical(names, next)
	for text, want := range map[string]struct{ name, location string }{
		"hdl:20.500.9/Ab":                {"hdl:20.500.9/Ab", "https://hdl.handle.net/20.500.9/Ab"},
		"https://hdl.handle.net/2027/x":  {"hdl:2027/x", "https://hdl.handle.net/2027/x"},
		"ark:12345/x-1":                  {"ark:/12345/x1", "https://n2t.net/ark:/12345/x-1"},
		"ark:/12345/x1?info":             {"ark:/12345/x1?info", "https://n2t.net/ark:/12345/x1?info"},
		"https://n2t.net/ark:/12345/x1":  {"ark:/12345/x1", "https://n2t.net/ark:/12345/x1"},
		"doi:10.5555/A1":                 {"urn:doi:10.5555/a1", "https://doi.org/10.5555/a1"},
		"http://dx.doi.org/10.5555/a1#p": {"urn:doi:10.5555/a1", "https://doi.org/10.5555/a1#p"},
		"isbn:0-395-36341-1": {
			"urn:isbn:0395363411",
			"https://openlibrary.org/isbn/0395363411",
		},
		"https://portal.issn.org/resource/ISSN/1046-8188": {
			"urn:issn:10468188",
			"https://portal.issn.org/resource/ISSN/1046-8188",
		},
		"https://portal.issn.org/resource/ISSN/1046-8189": {}, // a wrong check digit: it is a URL
		"https://doi.org/10.5555/a1?x":                    {},
		"hdl:x":                                           {},
	} {
		q, err := resolver.ParseQuery(text, resolver.I2L)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := r.Resolve(t.Context(), q)
		switch {
		case want.name == "":
			if !errors.Is(err, resolver.ErrUnsupported) {
				t.Errorf("%s: %v, %v", text, answer.Locations, err)
			}
		case err != nil || answer.Name.String() != want.name || answer.Locations[0].URI != want.location:
			t.Errorf("%s: %s, %v, %v, want %s", text, answer.Name, answer.Locations, err, want)
		}
	}
	q, _ := resolver.ParseQuery("hdl:20.500.9/Ab", resolver.I2C)
	if _, err := r.Resolve(t.Context(), q); !errors.Is(err, resolver.ErrUnsupported) {
		t.Errorf("a description: %v", err)
	}
}
