package resolver_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// What no registry has leads to its public resolver, however it is written, and keeps the spelling that it was asked for with.
func TestPublic(t *testing.T) {
	table, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: builtin(t), Accept: uri.CurrentURN, Identifiers: table}
	next := &resolver.Split{
		Names: resolver.NewNamespaces(names.Set, time.Hour), Locations: resolver.Off("a URL"), Own: resolver.NewPublic(table, time.Minute), Owns: names.IsName,
	}
	r := resolver.NewCanonical(names, next)
	for text, want := range map[string]struct{ name, location string }{
		"hdl:20.500.9/Ab":                                 {"hdl:20.500.9/Ab", "https://hdl.handle.net/20.500.9/Ab"},
		"https://hdl.handle.net/2027/x":                   {"hdl:2027/x", "https://hdl.handle.net/2027/x"},
		"ark:12345/x-1":                                   {"ark:/12345/x1", "https://n2t.net/ark:/12345/x-1"},
		"ark:/12345/x1?info":                              {"ark:/12345/x1?info", "https://n2t.net/ark:/12345/x1?info"},
		"https://n2t.net/ark:/12345/x1":                   {"ark:/12345/x1", "https://n2t.net/ark:/12345/x1"},
		"doi:10.5555/A1":                                  {"urn:doi:10.5555/a1", "https://doi.org/10.5555/a1"},
		"http://dx.doi.org/10.5555/a1#p":                  {"urn:doi:10.5555/a1", "https://doi.org/10.5555/a1#p"},
		"isbn:0-395-36341-1":                              {"urn:isbn:0395363411", "https://openlibrary.org/isbn/0395363411"},
		"https://portal.issn.org/resource/ISSN/1046-8188": {"urn:issn:10468188", "https://portal.issn.org/resource/ISSN/1046-8188"},
		"https://portal.issn.org/resource/ISSN/1046-8189": {}, // its check digit is wrong: it is a URL
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

// What was named once is named for good, whatever the registry is asked for.
func TestNamedOnce(t *testing.T) {
	table, err := urnns.NewIdentifiers(append([]urnns.Identifier{
		{Pattern: `(?i)^ark:/?(?P<id>[0-9b-z]{5,}/\S+)$`, Template: "https://resolver.example.org/ark:/{+id}"},
	}, urnns.BuiltinIdentifiers()...)...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: builtin(t), Accept: uri.CurrentURN, Identifiers: table}
	all := names
	all.Known = resolver.AllBeginnings()
	for text, want := range map[string]string{
		"http://doi.org/10.5555/m1": "urn:doi:10.5555/m1", "http://hdl.handle.net/20.500.9/h1": "hdl:20.500.9/h1", "http://urn.fi/URN:NBN:fi:lib-1": "urn:nbn:fi:lib-1",
		"https://any.example/ark:12345/x-1": "ark:/12345/x1", "http://purl.example./a": "https://purl.example/a", "ark:/12345/x1": "ark:/12345/x1", "doi:10.5555%2Fa1": "urn:doi:10.5555/a1",
	} {
		for _, n := range []resolver.Names{all, all.Owning([]string{"urn:", "ark:/12345/", "https://purl.example/"})} {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err != nil {
				t.Fatal(err)
			}
			once := n.Named(q)
			canonical, err := n.Canonical(once)
			if n.Named(once) != once || err != nil || canonical.URI.String() != want {
				t.Errorf("%s is named %s, then %s, and canonical %s, %v", text, once.URI, n.Named(once).URI, canonical.URI, err)
			}
		}
	}
	if got := names.Owning([]string{"ARK:12345/", "doi:10.5555/", "urn:nbn:fi:"}).Own; !slices.Equal(got, []string{"ark:/12345/", "urn:doi:10.5555/", "urn:nbn:fi:"}) {
		t.Errorf("what names begin with: %q", got)
	}
	for text, want := range map[string]string{
		"http://purl.example/p/": "https://purl.example/p/", "https://any.example/ark:/12345/zz/": "ark:/12345/zz/", "http://doi.org/10.5555/p/": "urn:doi:10.5555/p/",
	} {
		if got, err := all.CanonicalPrefix(text); got != want || err != nil {
			t.Errorf("the prefix %s is %s, %v", text, got, err)
		}
	}
}

func TestBeginnings(t *testing.T) {
	var known resolver.Beginnings
	for _, c := range []struct {
		name, beginning string
		isNew           bool
	}{
		{"urn:nbn:fi:a", "urn:", false},
		{"ark:/12345/x1", "ark:/12345/", true},
		{"ark:/12345/x2", "ark:/12345/", false},
		{"hdl:20.500.9/a/b", "hdl:20.500.9/", true},
		{"https://purl.example/a", "https://purl.example/", true},
		{"tag:a.example,2026:x", "tag:", true},
		{"info:", "info:", true},
		{"", "", false},
	} {
		if beginning, isNew := known.Add(c.name); beginning != c.beginning || isNew != c.isNew {
			t.Errorf("%s: %q, %t", c.name, beginning, isNew)
		}
	}
	for name, want := range map[string]bool{
		"ark:/12345/y": true, "ark:/12346/y": false, "ark:/123": false, "hdl:20.500.9/z": true, "hdl:20.500.91/z": false, "https://purl.example/": true,
		"https://purl.example.org/": false, "http://purl.example/": false, "tag:b": true, "info:lccn/1": true, "urn:a:b": false, "": false,
	} {
		if got := known.Has(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for i := range 100_000 {
		known.Add(fmt.Sprintf("https://h%d.example/", i))
	}
	if beginning, isNew := known.Add("ark:/99999/x"); beginning != "ark:" || !isNew || !known.Has("ark:/88888/y") || known.Has("hdl:20.500.91/z") {
		t.Errorf("beyond the bound there is %q, %t", beginning, isNew)
	}
	if (*resolver.Beginnings)(nil).Has("ark:/12345/y") || !resolver.AllBeginnings().Has("ark:/1/y") {
		t.Error("none and all are not told apart")
	}
}
