package answer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
)

// linked resolves a name of the registry, with a book in two languages as targets, and a link that is no
// target.
func linked(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	record := &resolver.Record{
		Name: q.URI.String(), Version: 1, Status: "active", Metadata: `{"title":"A book"}`,
		Links: []resolver.Link{
			{URI: "https://a.example/terms", Rel: "license", Title: "Bücher, \"alle\"", Language: "de"},
			{URI: "https://a.example/p", Rel: "gs1:pip", Title: "№ 1"},
			{
				URI: "https://a.example/ld", Rel: "describedby",
				Type: `application/ld+json; profile="https://a.example/\p"`,
			},
		},
	}
	if !q.Service.Locates() {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrService, Record: record}
	}
	return resolver.Answer{Name: q.URI, TTL: time.Minute, Cache: resolver.CacheHit, Locations: []resolver.Location{
		{
			URI:  "https://a.example/de,1",
			From: &resolver.Source{Name: "registry", Record: record, Type: "text/html", Language: "de"},
		},
		{URI: "https://a.example/en", From: &resolver.Source{
			Name: "registry", Record: record, Type: "application/pdf", Language: "en",
			Relation: &resolver.Relation{Title: "English"},
		}},
	}}, nil
}

type linksetOf struct {
	Linkset []map[string]any `json:"linkset"`
}

// decoded decodes a linkset, and checks its contexts by RFC 9264 section 4.2: each anchor occurs once, and is
// absolute or the own one, and each relation has targets with href.
func decoded(t *testing.T, body string) map[string]map[string]any {
	t.Helper()
	var set linksetOf
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&set); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	all := make(map[string]map[string]any)
	for _, c := range set.Linkset {
		anchor, _ := c["anchor"].(string)
		if anchor == "" || all[anchor] != nil {
			t.Errorf("the anchor %q is empty or there twice", anchor)
		}
		all[anchor] = c
		for rel, targets := range c {
			if rel == "anchor" {
				continue
			}
			list, ok := targets.([]any)
			if !ok || len(list) == 0 {
				t.Errorf("%s has no list of targets: %v", rel, targets)
			}
			for _, target := range list {
				if object, _ := target.(map[string]any); object["href"] == nil {
					t.Errorf("%s: a target without href: %v", rel, target)
				}
			}
		}
	}
	return all
}

// RFC 9264: a name has its links by Accept, by format and at a separate URL. FAIR Signposting level 2: they
// are those of the name, of its descriptions and of its items.
func TestLinkset(t *testing.T) {
	s := start(t, nil)
	s.next = linked
	for target, accept := range map[string]string{
		"/urn:a1:b": "application/linkset+json", "/uri-res/N2C.linkset?urn:a1:b": "text/html",
		"/?uri=urn:a1:b&format=linkset": "*/*", "/uri-res/N2C?urn:a1:b": "application/linkset+json",
		"/urn:A1:b": `Application/Linkset+JSON; profile="a", */*;q=0.1`,
		"/URN:a1:b": "application/linkset+json;q=0.9, text/html;q=0.1",
	} {
		response := s.get(t, target, "Accept: "+accept)
		if response.StatusCode != 200 || response.Header.Get("Content-Type") != "application/linkset+json" ||
			response.Header.Get("Vary") != "Accept" ||
			response.Header.Get("Cache-Control") != "max-age=60" {
			t.Errorf("%s: %d %v", target, response.StatusCode, response.Header)
		}
		all := decoded(t, text(t, response))
		name := all["/urn:a1:b"]
		for rel, n := range map[string]int{
			"item": 2, "license": 1, "https://ref.gs1.org/voc/pip": 1, "cite-as": 1, "describedby": 9, "type": 1,
		} {
			if list, _ := name[rel].([]any); len(list) != n {
				t.Errorf("%s: %s: %v", target, rel, name[rel])
			}
		}
		if item := all["https://a.example/en"]; item["collection"] == nil {
			t.Errorf("an item does not say what it is of: %v", all)
		}
		if metadata := all["/uri-res/N2C.jsonld?urn:a1:b"]; metadata["describes"] == nil {
			t.Errorf("a description does not say of what: %v", all)
		}
	}
	if response := s.get(t, "/uri-res/L2C.linkset?https://a.example/x"); response.StatusCode != 200 ||
		response.Header["Link"] != nil {
		t.Errorf("the links of a URL: %d %v", response.StatusCode, response.Header)
	}
	for accept, location := range map[string]string{
		"*/*": "https://a.example/de,1", "": "https://a.example/de,1",
		"text/html, application/linkset+json;q=0.9": "https://a.example/de,1",
		"application/linkset+json;q=0, */*":         "https://a.example/de,1",
		"application/pdf":                           "https://a.example/en",
	} {
		if got := s.get(t, "/urn:a1:b", "Accept: "+accept); got.StatusCode != http.StatusFound ||
			got.Header.Get("Location") != location {
			t.Errorf("%q: %d %v", accept, got.StatusCode, got.Header)
		}
	}
}

// RFC 9264 section 4.1: the text is ASCII, and even clients that split it at commas and semicolons parse it
// correctly.
func TestLinksetAsText(t *testing.T) {
	s := start(t, nil)
	s.next = linked
	body := text(t, s.get(t, "/urn:a1:b", "Accept: application/linkset"))
	for i := range len(body) {
		if body[i] >= 0x7F || body[i] < ' ' && body[i] != '\n' {
			t.Fatalf("the byte %d is %x", i, body[i])
		}
	}
	for _, want := range []string{
		`<https://a.example/de%2C1>; rel="item"; anchor="/urn:a1:b"; type="text/html"; hreflang="de"`,
		`<https://a.example/terms>; rel="license"; anchor="/urn:a1:b"; hreflang="de"; title*=UTF-8'de'B%C3%BCcher%2C%20%22alle%22`,
		`<https://a.example/p>; rel="https://ref.gs1.org/voc/pip"; anchor="/urn:a1:b"; title*=UTF-8''%E2%84%96%201`,
		`<https://a.example/ld>; rel="describedby"; anchor="/urn:a1:b"; type="application/ld+json; profile=\"https://a.example/\\p\""`,
		`<https://a.example/en>; rel="item"; anchor="/urn:a1:b"; type="application/pdf"; hreflang="en"; title="English"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	for part := range strings.SplitSeq(body, ",") {
		if !strings.HasPrefix(strings.TrimSpace(part), "<") {
			t.Errorf("split at commas, a part is %q", part)
		}
	}
}

// Links of documents have neither commas nor semicolons in their targets, including the canonical one; a URN
// with these is replaced by the URL of the name.
func TestCanonicalLink(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("https://a.example/")
	for target, want := range map[string]string{
		"/uri-res/N2Ls?urn:a1:b": "<urn:a1:b>", "/uri-res/N2Ls?urn:a1:b,c;d": "</urn%3Aa1:b%2Cc%3Bd>",
		"/uri-res/N2C?urn:a1:b%2Cc,d":        "</urn%3Aa1:b%252Cc%2Cd>",
		"/uri-res/L2C?https://a.example/x;y": "</https%3A//a.example/x%3By>",
	} {
		links := s.get(t, target).Header.Get("Link")
		if !strings.Contains(links, want+`; rel="canonical"`) {
			t.Errorf("%s: no %s in %s", target, want, links)
		}
		for part := range strings.SplitSeq(links, ",") {
			if !strings.HasPrefix(strings.TrimSpace(part), "<") {
				t.Errorf("%s: split at commas, a part is %q", target, part)
			}
		}
	}
}

// A withdrawn name has a linkset without items, with its successors; an unknown one has none.
func TestLinksetOfWithdrawn(t *testing.T) {
	s := start(t, nil)
	record := &resolver.Record{Name: "urn:a1:b", Status: "withdrawn", Successors: []string{"urn:a1:c,d"}}
	s.next = failing(&resolver.Negative{Kind: resolver.ErrGone, TTL: time.Minute, Record: record})
	response := s.get(t, "/urn:a1:b", "Accept: application/linkset+json")
	all := decoded(t, text(t, response))
	if response.StatusCode != http.StatusGone ||
		!strings.Contains(fmt.Sprint(all["/urn:a1:b"]["successor-version"]), "/urn%3Aa1:c%2Cd") ||
		all["/urn:a1:b"]["item"] != nil {
		t.Errorf("%d %v", response.StatusCode, all)
	}
	if got := response.Header["Link"]; len(got) != 1 ||
		!strings.Contains(got[0], `</urn%3Aa1:c%2Cd>; rel="successor-version"`) {
		t.Errorf("%q", got)
	}
	record = &resolver.Record{
		Name: "urn:a1:b", Status: "active",
		Links: []resolver.Link{{URI: "https://a.example/m", Rel: "describedby"}},
	}
	s.next = failing(&resolver.Negative{Kind: resolver.ErrNotFound, TTL: time.Minute, Record: record})
	if got := s.get(t, "/urn:a1:b", "Accept: application/linkset+json"); got.StatusCode != 200 ||
		!strings.Contains(text(t, got), "https://a.example/m") {
		t.Errorf("a name that leads nowhere, and has a link: %d", got.StatusCode)
	}
	s.next = failing(&resolver.Negative{Kind: resolver.ErrGone, TTL: time.Minute})
	if got := s.get(t, "/urn:a1:b", "Accept: application/linkset+json"); got.StatusCode != http.StatusGone {
		t.Errorf("a name that rules declare gone: %d", got.StatusCode)
	}
	s.next = failing(&resolver.Negative{Kind: resolver.ErrNotFound})
	if got := s.get(t, "/urn:a1:b", "Accept: application/linkset+json"); got.StatusCode != http.StatusNotFound ||
		got.Header["Link"] != nil {
		t.Errorf("an unknown name: %d %v", got.StatusCode, got.Header)
	}
}

// linkedDataTypes returns values of Accept of linked data programs: JSON-LD loaders (pyld, jsonld.js,
// Titanium), rdflib, Jena, rdf4j, programs that request citations from doi.org, and of browsers and others.
func linkedDataTypes() []string {
	return []string{
		"application/ld+json, application/json", "application/ld+json, application/json;q=0.9",
		"application/ld+json;profile=\"http://www.w3.org/ns/json-ld#context\"",
		"application/ld+json, application/json;q=0.9, */*;q=0.1", "application/rdf+xml,text/turtle;q=0.9,*/*;q=0.1",
		"text/turtle, application/x-turtle", "application/n-triples, text/turtle;q=0.9, application/rdf+xml;q=0.8",
		"application/vnd.citationstyles.csl+json", "application/x-bibtex",
		"text/turtle,application/n-triples;q=0.9,application/ld+json;q=0.8,application/rdf+xml;q=0.7,*/*;q=0.3",
		"text/x-bibliography; style=apa", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "*/*", "",
		"application/json",
		"application/vnd.example+json",
		"application/ld+json, application/linkset+json;q=0.5",
	}
}

// A name redirects linked data programs like browsers, and has its descriptions at separate URLs: the
// description of a vocabulary is not the vocabulary. A target with the accepted type precedes others.
func TestNameRedirectsForAnyAccept(t *testing.T) {
	s := start(t, nil)
	record := &resolver.Record{Name: "urn:a1:b"}
	untyped := resolver.Location{URI: "https://a.example/", From: &resolver.Source{Record: record}}
	turtle := resolver.Location{
		URI:  "https://a.example/ttl",
		From: &resolver.Source{Record: record, Type: "text/turtle"},
	}
	links := resolver.Location{
		URI:  "https://a.example/links",
		From: &resolver.Source{Record: record, Type: "application/linkset+json"},
	}
	leads := func(locations ...resolver.Location) {
		s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{Name: q.URI, Locations: locations, TTL: time.Minute}, nil
		}
	}
	check := func(target, accept, want string) {
		t.Helper()
		got := s.get(t, target, "Accept: "+accept)
		if got.StatusCode/100 != 3 || got.Header.Get("Location") != want ||
			!strings.HasPrefix(got.Header.Get("Vary"), "Accept") ||
			!strings.Contains(got.Header.Get("Link"), `rel="describedby"; type="application/ld+json"`) {
			t.Errorf("%s for %q: %d %v, want %s", target, accept, got.StatusCode, got.Header, want)
		}
	}
	for _, accept := range linkedDataTypes() {
		leads(untyped)
		for _, target := range []string{"/urn:a1:b", "/uri-res/N2L?urn:a1:b", "/?uri=urn:a1:b"} {
			check(target, accept, untyped.URI)
		}
		leads(untyped, turtle)
		want := untyped.URI
		if types := httpmessage.ParseAccept(accept); slices.ContainsFunc(types,
			func(r httpmessage.MediaRange) bool { return r.Type == "text/turtle" }) {
			want = turtle.URI
		}
		check("/urn:a1:b", accept, want)
	}
	leads(untyped, links)
	check("/urn:a1:b", "application/linkset+json", links.URI)
	if got := s.get(t, "/urn:a1:b", "Accept: application/linkset"); got.StatusCode != 200 ||
		got.Header.Get("Content-Type") != "application/linkset" {
		t.Errorf("%d %v", got.StatusCode, got.Header)
	}
	s.next = failing(&resolver.Negative{Kind: resolver.ErrGone, Record: record})
	if got := s.get(t, "/urn:a1:b", "Accept: application/ld+json"); got.StatusCode != http.StatusGone ||
		got.Header.Get("Content-Type") == "application/ld+json" {
		t.Errorf("a withdrawn name: %d %v", got.StatusCode, got.Header)
	}
}

// A site may configure that names of the registry return their descriptions, like DOIs at doi.org.
func TestDescribedByAccept(t *testing.T) {
	s := start(t, func(c *answer.Config) { c.DescribedPrefixes = []string{"urn:a1:", "ark:/12345/"} })
	s.next = linked
	check := func(target, accept string, status int, want string) {
		t.Helper()
		got := s.get(t, target, "Accept: "+accept)
		if got.StatusCode != status || got.Header.Get("Location") != want && got.Header.Get("Content-Type") != want ||
			got.Header.Get("Vary") == "" {
			t.Errorf("%s for %q: %d %v", target, accept, got.StatusCode, got.Header)
		}
	}
	const csl, ld, german = "application/vnd.citationstyles.csl+json", "application/ld+json", "https://a.example/de,1"
	check("/urn:a1:b", ld, 200, ld)
	check("/URN:A1:b", "application/vnd.crossref.unixsd+xml, "+csl+";q=0.9", 200, csl)
	check("/urn:a1:b", "application/x-bibtex;q=0.5, "+csl, 200, csl)
	check("/urn:a1:b", "text/html, "+ld+";q=0.9", 302, german)
	check("/urn:a1:b", ld+";q=0.5, */*", 302, german)
	check("/urn:a1:b", "application/pdf, "+ld+";q=0.9", 302, "https://a.example/en")
	check("/urn:a2:b", ld, 302, german)
	s.next = withLocations("https://a.example/")
	check("/urn:a1:b", ld, 302, "https://a.example/")
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		record := &resolver.Record{Name: q.URI.String()}
		return resolver.Answer{Name: q.URI, Locations: []resolver.Location{
			{URI: "https://a.example/", From: &resolver.Source{Record: record}},
			{
				URI:  "https://a.example/ld",
				From: &resolver.Source{Record: record, Type: ld + `; profile="https://a.example/p"`},
			},
		}}, nil
	}
	check("/urn:a1:b", ld, 302, "https://a.example/ld")
	check("/urn:a1:b", ld+`;profile="https://a.example/p"`, 302, "https://a.example/ld")
	s.next = failing(&resolver.Negative{Kind: resolver.ErrGone, Record: &resolver.Record{Name: "urn:a1:b"}})
	check("/urn:a1:b", ld, http.StatusGone, ld)
	if got := s.get(t, "/uri-res/N2C.nonsense?urn:a1:b"); got.StatusCode != http.StatusNotImplemented ||
		!strings.Contains(text(t, got), "description, json, csv") {
		t.Errorf("an unknown format: %d", got.StatusCode)
	}
}

// The links of a name are limited in number and length.
func TestLinksetIsBounded(t *testing.T) {
	s := start(t, nil)
	for _, target := range []string{"/urn:example:", "/uri-res/N2Ls?urn:example:"} {
		if got := s.get(t, target+strings.Repeat(",", 1020)); got.StatusCode >= 400 || got.Header["Link"] != nil {
			t.Errorf("of a long name: %d %v", got.StatusCode, got.Header)
		}
	}
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		a := resolver.Answer{Name: q.URI}
		for i := range 5000 {
			a.Locations = append(a.Locations,
				resolver.Location{URI: fmt.Sprint("https://a.example/", i), From: &resolver.Source{}})
		}
		return a, nil
	}
	if all := decoded(t,
		text(t, s.get(t, "/uri-res/N2C.linkset?urn:a1:b"))); len(all["/urn:a1:b"]["item"].([]any)) > 500 {
		t.Errorf("%d items", len(all["/urn:a1:b"]["item"].([]any)))
	}
}

func BenchmarkLinkset(b *testing.B) {
	s := start(b, nil)
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		a := resolver.Answer{Name: q.URI}
		for i := range 10 {
			a.Locations = append(a.Locations, resolver.Location{
				URI: fmt.Sprint("https://a.example/", i),
				From: &resolver.Source{
					Type: "text/html", Language: "de",
					Relation: &resolver.Relation{Title: "A title"},
				},
			})
		}
		return a, nil
	}
	header := headerOf("Accept: application/linkset+json")
	b.ReportAllocs()
	for b.Loop() {
		if reply, err := s.reply(b, "/urn:a1:b", header); err != nil || reply.Status != 200 {
			b.Fatal(err)
		}
	}
}

// The Link field of a redirect does not allocate.
func BenchmarkLinks(b *testing.B) {
	room := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		answer.AppendLinks(room, "https://urn.example.org", "urn:nbn:de:101:1-201102033592")
	}
}
