package pages_test

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/pages"
)

// knownSpaces returns namespaces of all kinds.
func knownSpaces() []pages.Namespace {
	return []pages.Namespace{
		{NID: "3gpp", Source: "RFC 5279", Fold: "none", Systems: []string{"ddds", "slp", "namespace"}},
		{
			NID: "isbn", Title: "International Standard Book Number (ISBN)",
			Description: "Books: each edition by its number.", Source: "IANA urn-formal/isbn, RFC 3187, RFC 8254",
			Fold: "upper", Strip: "-", Check: "isbn", Example: "urn:isbn:9780395363416", HasRule: true,
			Hosts:   []string{"openlibrary.org", "search.worldcat.org"},
			Systems: []string{"registry", "namespace", "ddds", "slp"},
		},
		{
			NID: "library", Pattern: "^(?P<shelf><[0-9]+)$", Fold: "first", Lenient: true, HasRule: true,
			Systems: []string{"thttp", "namespace"},
		},
		{
			NID: "nbn", Title: "National Bibliography Number (NBN)", Description: "Publications & more.",
			Source: "RFC 8458", Fold: "prefix", Check: "nbn", LenientDigits: true, HasRule: true,
			Hosts: []string{"urn.fi"}, Systems: []string{"namespace"},
		},
		{
			NID: "smpte", Title: "Society of <Motion>", Description: "Universal labels.", Source: "RFC 5119",
			Check: "smpte",
		},
	}
}

// A search matches a part of the NID or of the document, ignoring case, with or without "urn:".
func TestNamespacesSearch(t *testing.T) {
	d := pages.New(library(t))
	for search, want := range map[string]string{
		"": "urn:3gpp urn:isbn urn:library urn:nbn urn:smpte", "BN": "urn:isbn urn:nbn", "urn:nbn:": "urn:nbn",
		" rfc 8 ": "urn:isbn urn:nbn", "rfc 5": "urn:3gpp urn:smpte", "none": "", "<b>": "", "edition": "urn:isbn",
		"book": "urn:isbn", "de|bücher": "urn:isbn", "de|book": "urn:isbn", "zh|图书馆": "urn:nbn",
	} {
		accept, text, foreign := strings.Cut(search, "|")
		if foreign {
			search = text
		} else {
			accept = ""
		}
		p := d.For(accept).Namespaces(search, "")
		var found []string
		for _, e := range read(t, p.Body) {
			if nid, ok := strings.CutPrefix(e.attrs["href"], "/resolver/namespaces/"); ok {
				nid, _, _ = strings.Cut(nid, "?")
				found = append(found, "urn:"+nid)
			}
			if e.attrs["name"] == "q" && e.attrs["value"] != search {
				t.Errorf("%q is not the searched text: %q", e.attrs["value"], search)
			}
		}
		if strings.Join(found, " ") != want ||
			!foreign && !strings.Contains(string(p.Body), fmt.Sprintf(`<p role="status">%d namespace`, len(found))) {
			t.Errorf("%q: %q", search, found)
		}
	}
}

// A long list continues on the next page, with the search and the selected language; no page exceeds 30,000
// bytes.
func TestNamespacesPages(t *testing.T) {
	site := library(t)
	site.All = nil
	for i := range 250 {
		// The maximum lengths in package urnns.
		site.All = append(site.All,
			pages.Namespace{
				NID: fmt.Sprintf("n%031d", i), Title: strings.Repeat("ü", 40),
				Description: strings.Repeat("ü", 65),
			})
	}
	w := pages.New(site).For(pages.Chosen("de"))
	var seen []string
	search, after := "n0", ""
	for n := 0; ; n++ {
		p := w.Namespaces(search, after)
		if len(p.Body) > 30_000 || n > 5 {
			t.Fatalf("page %d: %d bytes", n, len(p.Body))
		}
		more := ""
		for _, e := range read(t, p.Body) {
			if strings.HasPrefix(e.attrs["href"], "/resolver/namespaces/") {
				seen = append(seen, strings.TrimSuffix(strings.TrimPrefix(e.attrs["href"], "/resolver/namespaces/"),
					"?lang=de"))
			}
			if e.text == "Mehr" {
				more = e.attrs["href"]
			}
		}
		if more == "" {
			break
		}
		u, err := url.Parse(more)
		if err != nil || u.Query().Get("lang") != "de" || u.Query().Get("q") != search ||
			u.Path != "/resolver/namespaces" {
			t.Fatalf("%q, %v", more, err)
		}
		after = u.Query().Get("after")
	}
	if len(seen) != len(site.All) || !slices.IsSorted(seen) {
		t.Errorf("%d: %q", len(seen), seen)
	}
}

// The page of a namespace shows its known properties, and nothing else.
func TestNamespace(t *testing.T) {
	w := pages.New(library(t)).In(pages.English)
	for nid, want := range map[string][]string{
		"ISBN": {
			"<h1>International Standard Book Number (ISBN)</h1>", `<p class="id"><code dir="auto">urn:isbn</code></p>`,
			`<p class="lead">Books: each edition by its number.</p>`, `href="/resolver/urn:isbn:9780395363416"`,
			`<a href="https://www.rfc-editor.org/info/rfc8254">RFC 8254</a>`,
			`<a href="https://www.iana.org/assignments/urn-formal/isbn">IANA urn-formal/isbn</a>`, "ISO 2108",
			"with a wrong check digit is invalid", "are ignored: -", "ten digits",
			"<div>The registry of this server</div><div>A redirect rule of this server, to openlibrary.org, " +
				"search.worldcat.org</div><div>DNS rules (DDDS)",
		},
		"nbn": {
			"RFC 8458", "is accepted, with a warning", "before the first hyphen",
			"A redirect rule of this server, to urn.fi",
		},
		"library": {
			"<h1>Namespace <code dir=\"auto\">urn:library</code></h1>", "The configuration of this server",
			"^(?P&lt;shelf&gt;&lt;[0-9]&#43;)$", "before the first colon", "Another resolver",
			"A rule of this server</div>",
		},
		"smpte": {"are exceptions", "<h1>Society of &lt;Motion&gt;</h1>"},
	} {
		p, ok := w.Namespace(nid, pages.UnknownCount)
		for _, part := range want {
			if !ok || !strings.Contains(string(p.Body), part) {
				t.Errorf("%s has no %s: %s", nid, part, p.Body)
			}
		}
	}
	if p, _ := w.Namespace("3gpp", pages.UnknownCount); strings.Contains(string(p.Body), "Check digits") ||
		strings.Contains(string(p.Body), "A rule of") || strings.Contains(string(p.Body), "Pattern") {
		t.Errorf("%s", p.Body)
	}
	for accept, want := range map[string]string{
		"de isbn":  "<h1>Internationale Standardbuchnummer (ISBN)</h1>",
		"zh smpte": `<h1><span lang="en">Society of &lt;Motion&gt;</span></h1>`,
		"fr smpte": `<p class="lead"><span lang="en">Universal labels.</span></p>`,
	} {
		accept, nid, _ := strings.Cut(accept, " ")
		if p, _ := pages.New(library(t)).For(accept).Namespace(nid,
			pages.UnknownCount); !strings.Contains(string(p.Body), want) {
			t.Errorf("%s in %s has no %s: %s", nid, accept, want, p.Body)
		}
	}
	if _, ok := w.Namespace("none", 1); ok {
		t.Error("there is a page of a namespace that is not known")
	}
}

// The start page links to the pages of namespaces and to the OpenSearch description, except at a web host
// whose paths are names.
func TestLinksToNamespaces(t *testing.T) {
	w := pages.New(library(t)).For(pages.Chosen("fr"))
	for name, has := range map[string]bool{
		`href="/resolver/namespaces?lang=fr"`: true, `href="/resolver/namespaces/isbn?lang=fr"`: true,
		`rel="search" type="application/opensearchdescription+xml"`: true,
	} {
		if strings.Contains(string(w.Home(false).Body), name) != has ||
			strings.Contains(string(w.Home(true).Body), name) {
			t.Errorf("%s", name)
		}
	}
	if strings.Contains(string(pages.New(pages.Site{}).In(pages.English).Home(false).Body), "/namespaces") {
		t.Error("a site that knows no namespaces leads to their list")
	}
}

// OpenSearch 1.1 draft 6, sections 4.2 and 4.5: names of at most 16 characters, and a template with the
// search terms.
func TestOpenSearch(t *testing.T) {
	for _, tt := range []struct {
		site              pages.Site
		name, description string
	}{
		{
			pages.Site{},
			"urnd",
			"This server resolves names: it redirects to the location of the resource that a URN names.",
		},
		{
			pages.Site{Name: "Bücher & <Ähnliches> im Netz", Language: pages.Chinese},
			"Bücher & <Ähnlic",
			"本服务器解析名称：将请求重定向到 URN 所命名的资源的位置。",
		},
	} {
		text, err := pages.New(tt.site).OpenSearch("https://library.example/a&b")
		var document struct {
			XMLName     xml.Name
			ShortName   string
			Description string
			URL         struct {
				Type     string `xml:"type,attr"`
				Template string `xml:"template,attr"`
			} `xml:"Url"`
		}
		if err == nil {
			err = xml.Unmarshal(text, &document)
		}
		if err != nil || document.ShortName != tt.name || document.Description != tt.description ||
			document.URL.Type != "text/html" ||
			document.URL.Template != "https://library.example/a&b/?uri={searchTerms}" ||
			document.XMLName.Space != "http://a9.com/-/spec/opensearch/1.1/" {
			t.Errorf("%v %s", err, text)
		}
	}
}
