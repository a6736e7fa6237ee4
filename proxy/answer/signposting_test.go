package answer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
)

// book resolves a book of the registry with a number of targets.
func book(targets int) resolver.Func {
	return func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		record := &resolver.Record{
			Name: q.URI.String(), Status: "active",
			Metadata: `{"title":"A","type":"Book","license":"https://l.example/by,4",
			"creators":[{"name":"Ada","orcid":"https://orcid.org/0000-0002-1825-0097"},"Bob"]}`,
		}
		if !q.Service.Locates() {
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrService, Record: record}
		}
		a := resolver.Answer{Name: q.URI}
		for i := range targets {
			a.Locations = append(a.Locations,
				resolver.Location{
					URI:  fmt.Sprint("https://a.example/", i),
					From: &resolver.Source{Record: record, Type: "text/html"},
				})
		}
		return a, nil
	}
}

// FAIR Signposting (2 October 2023): level 1 for a small page about a name, and for its metadata; level 2 in
// its linkset.
func TestSignposting(t *testing.T) {
	s := start(t, nil)
	s.next = book(2)
	for target, want := range map[string][]string{
		"/uri-res/N2C.html?urn:a1:b": {
			`</urn:a1:b>; rel="cite-as"`,
			`</uri-res/N2C.jsonld?urn:a1:b>; rel="describedby"; type="application/ld+json"`,
			`<https://schema.org/AboutPage>; rel="type"`, `<https://schema.org/Book>; rel="type"`,
			`<https://orcid.org/0000-0002-1825-0097>; rel="author"`,
			`<https://l.example/by%2C4>; rel="license"`, `<https://a.example/1>; rel="item"; type="text/html"`,
			`</uri-res/N2C.linkset?urn:a1:b>; rel="linkset"; type="application/linkset+json"`,
		},
		"/uri-res/N2C.turtle?urn:a1:b": {
			`</urn:a1:b>; rel="describes"`,
			`</uri-res/N2C.linkset?urn:a1:b>; rel="linkset"; type="application/linkset+json"`,
		},
	} {
		links := s.get(t, target).Header["Link"]
		for _, link := range want {
			if len(links) != 1 || !strings.Contains(links[0], link) {
				t.Errorf("%s: no %s in %q", target, link, links)
			}
		}
	}
	name := decoded(t, text(t, s.get(t, "/uri-res/N2C.linkset?urn:a1:b")))["/urn:a1:b"]
	for _, rel := range []string{"cite-as", "describedby", "type", "author", "license", "item"} {
		if name[rel] == nil {
			t.Errorf("no %s in the linkset: %v", rel, name)
		}
	}
	s.next = book(30)
	if links := s.get(t, "/uri-res/N2C.html?urn:a1:b").Header.Get("Link"); strings.Contains(links, `rel="item"`) ||
		!strings.Contains(links, `rel="linkset"`) {
		t.Errorf("of many: %s", links)
	}
}

// The page about a name by rules has links to its type and its items; the named object is unknown. An unknown
// name has no links.
func TestSignpostingByRules(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("https://a.example/1")
	links := s.get(t, "/uri-res/N2C.html?urn:a1:b").Header.Get("Link")
	for _, want := range []string{`<https://schema.org/AboutPage>; rel="type"`, `<https://a.example/1>; rel="item"`} {
		if !strings.Contains(links, want) || strings.Count(links, `rel="type"`) != 1 {
			t.Errorf("no %s, or another type, in %s", want, links)
		}
	}
	if links := s.get(t, "/uri-res/L2C.html?https://a.example/").Header.Get("Link"); strings.Contains(links,
		`rel="type"`) {
		t.Errorf("of a URL: %s", links)
	}
	s.next = failing(&resolver.Negative{Kind: resolver.ErrNotFound})
	if links := s.get(t, "/uri-res/N2C.html?urn:a1:b").Header.Get("Link"); strings.Contains(links, `rel="type"`) {
		t.Errorf("of an unknown name: %s", links)
	}
}

// Each citation format is selected by Accept, by its URL, and by format=.
func TestCitationFormats(t *testing.T) {
	s := start(t, nil)
	s.next = book(1)
	for _, tt := range []struct{ name, accept, contentType, part string }{
		{"jsonld", "application/ld+json", "application/ld+json", `"Book"`},
		{"turtle", "text/turtle", "text/turtle; charset=utf-8", "<http://schema.org/"},
		{"csl", "application/vnd.citationstyles.csl+json", "application/vnd.citationstyles.csl+json", `"title": "A"`},
		{"bibtex", "application/x-bibtex", "application/x-bibtex; charset=utf-8", "title = {A}"},
		{
			"ris", "application/x-research-info-systems", "application/x-research-info-systems; charset=utf-8",
			"TI  - A\r\n",
		},
		{"citation", "text/x-bibliography", "text/x-bibliography; charset=utf-8", "A. "},
		{"erc", "", "text/plain; charset=utf-8", "what: A\n"},
	} {
		targets := map[string]string{
			"/uri-res/N2C." + tt.name + "?urn:a1:b": "*/*",
			"/?uri=urn:a1:b&format=" + tt.name:      "text/html",
		}
		if tt.accept != "" {
			targets["/uri-res/N2C?urn:a1:b"] = tt.accept
		}
		for target, accept := range targets {
			response := s.get(t, target, "Accept: "+accept)
			body := text(t, response)
			if response.StatusCode != 200 || response.Header.Get("Content-Type") != tt.contentType ||
				!strings.Contains(body, tt.part) {
				t.Errorf("%s for %s: %d %v %s", target, accept, response.StatusCode, response.Header, body)
			}
		}
	}
	if got := s.get(t, "/uri-res/N2C?urn:a1:b"); got.Header.Get("Content-Type") != "application/ld+json" ||
		!strings.Contains(text(t, got), `"record"`) {
		t.Errorf("a client that accepts all gets %v", got.Header)
	}
}
