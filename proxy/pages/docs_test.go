package pages_test

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/apidoc"
	"github.com/urnd/urnd/proxy/pages"
)

// documented returns all pages of the API documentation, those for readers at /docs and those of the admin
// API.
func documented(t testing.TB, w pages.Writer) map[string]pages.Page {
	t.Helper()
	all := make(map[string]pages.Page)
	for prefix, path := range map[string]string{"": "../answer/openapi.json", "admin-": "../admin/api/openapi.json"} {
		docs := docsOf(t, path)
		slugs := []string{"", "schemas"}
		for _, g := range docs.Groups {
			slugs = append(slugs, g.Name)
		}
		for _, slug := range slugs {
			all[prefix+cmp.Or(slug, "index")] = docsPage(docs, w, slug)
		}
	}
	return all
}

func docsOf(t testing.TB, path string) *apidoc.Docs {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := apidoc.New(text)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func docsPage(docs *apidoc.Docs, w pages.Writer, slug string) pages.Page {
	page := pages.Docs{Root: "/docs", Path: strings.TrimSuffix("/docs/"+slug, "/")}
	page.Title, page.Content, _ = docs.Page(slug, apidoc.Location{
		Root: "/docs", Document: "/api/v1/openapi.json", Base: "https://urn.example.org", Writer: w,
	})
	return w.Docs(&page)
}

// The frame is in the language of the reader, and texts of the document are marked as English.
func TestDocs(t *testing.T) {
	german := documented(t, pages.New(pages.Site{}).For(pages.Chosen("de")))
	for name, wants := range map[string][]string{
		"index": {
			`<h1>Programmierschnittstelle (API)</h1>`, `<span lang="en">`, `href="/docs/names?lang=de#resolve"`,
			`href="/docs?lang=fr"`,
		},
		"names": {
			`<h1>Namen</h1>`, `<h3>Antworten</h3>`, `in der Query, <code>string</code>`,
			`<li><a href="/docs?lang=de">Programmierschnittstelle (API)</a></li>`, `href="/docs/names?lang=fr"`,
			`curl 'https://urn.example.org/api/v1/resolve?uri=urn%3Aietf%3Arfc%3A2648'`,
		},
	} {
		for _, want := range wants {
			if !strings.Contains(string(german[name].Body), want) {
				t.Errorf("%s has no %s: %s", name, want, german[name].Body)
			}
		}
	}
}

// No page of the API documentation exceeds 44 KB, or about 8 KB compressed; the one with all schemas is not
// limited otherwise.
func TestDocsAreShort(t *testing.T) {
	for _, l := range pages.Languages() {
		for name, page := range documented(t, pages.New(library(t)).In(l)) {
			const most = 44_000
			if len(page.Body) > most {
				t.Errorf("%s, %s: %d bytes", l.Tag(), name, len(page.Body))
			}
		}
	}
}

func BenchmarkDocs(b *testing.B) {
	docs, d := docsOf(b, "../answer/openapi.json"), pages.New(library(b))
	for b.Loop() {
		docsPage(docs, d.For("de-AT,de;q=0.9"), "names")
	}
}
