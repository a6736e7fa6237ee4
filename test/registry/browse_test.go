//go:build e2e

package registry

import (
	"encoding/xml"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// browsedRegistry is a registry with names of all states.
func browsedRegistry(t *testing.T) urndtest.Registry {
	t.Helper()
	r := urndtest.NewRegistry(t)
	old := registry.Record{
		Targets:  urndtest.Targets("https://a.example/old"),
		Metadata: `{"title": "The <old> one", "creators": ["Ann A."], "year": 2020}`,
	}
	r.Put(t, registry.Name("urn:example:new"),
		registry.Record{Targets: urndtest.Targets("https://books.example/new"), Metadata: `{"title": "The new one"}`})
	r.Put(t, registry.Name("urn:example:gone"), old)
	old.Status, old.Targets, old.Reason, old.Successors = registry.Withdrawn, nil, "it was merged",
		[]string{"urn:example:new"}
	r.Put(t, registry.Name("urn:example:gone"), old)
	r.Put(t, registry.Name("urn:example:held"), registry.Record{Status: registry.Reserved})
	r.Put(t, registry.Name("ark:/12345/x1"), registry.Record{Targets: urndtest.Targets("https://a.example/x1")})
	r.Put(t, registry.Name("https://purl.example/a;b"),
		registry.Record{Targets: urndtest.Targets("https://a.example/purl")})
	return r
}

// everybody returns prefixes of all addresses.
func everybody() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}

// TestBrowseIsOff checks that by default the names of a registry cannot be listed, and that no page links to a
// list.
func TestBrowseIsOff(t *testing.T) {
	t.Parallel()
	w := browsedRegistry(t).Start(t, nil)
	for _, path := range []string{"/names", "/sitemap.xml", "/sitemap-~.xml"} {
		if r := w.Get(t, path, "Accept: text/html"); r.Status != 404 {
			t.Errorf("%s: %d", path, r.Status)
		}
	}
	if r := w.Get(t, "/", "Accept: text/html"); strings.Contains(r.Body, `"/names"`) {
		t.Errorf("%s", r.Body)
	}
	if r := w.Get(t, "/robots.txt"); strings.Contains(r.Body, "N2C") || strings.Contains(r.Body, "/names$") {
		t.Errorf("%s", r.Body)
	}
	if r := w.Get(t, "/namespaces/example", "Accept: text/html"); strings.Contains(r.Body, "in the registry<") {
		t.Errorf("%s", r.Body)
	}
}

// hasCode reports whether a page contains a text in a code element.
func hasCode(page, text string) bool {
	return slices.ContainsFunc(testserver.ParseHTML(page).All("code"),
		func(e testserver.Element) bool { return e.Text() == text })
}

// hasText reports whether a page contains a text, across elements.
func hasText(page, text string) bool {
	return strings.Contains(testserver.ParseHTML(page).Text(), text)
}

// addresses returns the addresses in a sitemap or sitemap index, without that of the resolver: sitemaps.org.
func addresses(t *testing.T, text string) (paths []string) {
	t.Helper()
	type place struct {
		Loc string `xml:"loc"`
	}
	var document struct {
		Sitemaps []place `xml:"sitemap"`
		URLs     []place `xml:"url"`
	}
	if err := xml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, p := range append(document.Sitemaps, document.URLs...) {
		path, ok := strings.CutPrefix(p.Loc, "https://library.example/resolver")
		if !ok {
			t.Errorf("the address %s", p.Loc)
		}
		paths = append(paths, path)
	}
	return paths
}

// TestBrowse checks that readers can list and search names without any sign of hidden ones, and that search
// engines get everything that readers get.
func TestBrowse(t *testing.T) {
	t.Parallel()
	w := browsedRegistry(t).Start(t, func(c *config.Config) {
		c.Access.BrowseClients, c.Site.Sitemap, c.Listen.PublicURL = everybody(), true,
			"https://library.example/resolver"
		c.Registry.Owned, c.Registry.Hosts = []string{"urn:", "ark:/12345/"}, []string{"purl.example"}
	})
	for query, want := range map[string]string{
		"":                               "ark:/12345/x1 https://purl.example/a;b urn:example:new",
		"?prefix=URN:EXAMPLE:":           "urn:example:new",
		"?q=the":                         "urn:example:new",
		"?host=a.example":                "ark:/12345/x1 https://purl.example/a;b",
		"?status=withdrawn":              "",
		"?prefix=urn:example:held":       "",
		"?q=%3Cscript%3E&host=%22%3E%3C": "",
	} {
		r := w.Get(t, "/names"+query, "Accept: text/html")
		var found []string
		for _, item := range testserver.ParseHTML(r.Body).All("li") {
			name, link := item.First("code").Text(), item.First("a").Attr("href")
			path, ok := strings.CutPrefix(link, "/resolver")
			if name == "" || !strings.Contains(link, "2C.html?") {
				continue
			}
			found = append(found, name)
			if page := w.Get(t, path, "Accept: text/html"); page.Status != 200 || !ok {
				t.Errorf("the page of %s, %s: %d", name, link, page.Status)
			}
		}
		if r.Status != 200 || strings.Join(found, " ") != want || strings.Contains(r.Body, "gone") ||
			strings.Contains(r.Body, "<script>") {
			t.Errorf("%s: %d, %q: %s", query, r.Status, found, r.Body)
		}
	}
	for _, query := range []string{
		"?after=x", "?after=.AAAA", "?status=x", "?q=%ff",
		"?prefix=" + strings.Repeat("a", 501),
	} {
		if r := w.Get(t, "/names"+query, "Accept: text/html"); r.Status != 400 ||
			!strings.Contains(r.Body, `role="alert"`) {
			t.Errorf("%s: %d, %s", query, r.Status, r.Body)
		}
	}
	if r := w.Get(t, "/namespaces/example", "Accept: text/html"); !hasText(r.Body, "1 name") {
		t.Errorf("%s", r.Body)
	}
	if r := w.Get(t, "/robots.txt"); !strings.Contains(r.Body, "Allow: /names$\n") ||
		!strings.HasSuffix(r.Body, "\nSitemap: https://library.example/resolver/sitemap.xml\n") {
		t.Errorf("%s", r.Body)
	}
	index := w.Get(t, "/sitemap.xml")
	files := addresses(t, index.Body)
	if len(files) == 0 || !strings.HasPrefix(files[0], "/sitemap-") {
		t.Fatalf("%s", index.Body)
	}
	pages := addresses(t, w.Get(t, files[0]).Body)
	for _, path := range pages {
		if page := w.Get(t, path, "Accept: text/html"); page.Status != 200 {
			t.Errorf("%s: %d", path, page.Status)
		}
	}
	want := []string{
		"/uri-res/L2C.html?ark:/12345/x1", "/uri-res/L2C.html?https%3A//purl.example/a%3Bb",
		"/uri-res/N2C.html?urn:example:new",
	}
	if !slices.Equal(pages, want) {
		t.Errorf("%q", pages)
	}
	if r := w.At(t, "GET", "purl.example", "/names"); r != "404" {
		t.Errorf("at a host of names: %s", r)
	}
}

// TestBrowseAll checks that authorized clients find hidden names by their status.
func TestBrowseAll(t *testing.T) {
	t.Parallel()
	w := browsedRegistry(t).Start(t, func(c *config.Config) {
		c.Access.BrowseClients, c.Access.BrowseAllClients = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
			[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for query, want := range map[string]string{
		"?status=withdrawn&q=old": "urn:example:gone",
		"?status=reserved":        "urn:example:held",
	} {
		if r := w.Get(t, "/names"+query, "Accept: text/html"); r.Status != 200 || !hasCode(r.Body, want) ||
			!strings.HasPrefix(r.Header.Get("Cache-Control"), "private") {
			t.Errorf("%s: %d %q %s", query, r.Status, r.Header, r.Body)
		}
	}
	if r := w.Get(t, "/", "Accept: text/html"); strings.Contains(r.Body, `"/names"`) {
		t.Errorf("a page for all leads to one for some: %s", r.Body)
	}
}

// TestWithdrawnPages checks that the response for a withdrawn name and its page contain the reason, the time,
// successors, a contact and a citation.
func TestWithdrawnPages(t *testing.T) {
	t.Parallel()
	w := browsedRegistry(t).Start(t, func(c *config.Config) { c.Site.Contact = "mailto:anna@library.example" })
	for _, path := range []string{"/urn:example:gone", "/uri-res/N2C.html?urn:example:gone"} {
		for range 2 { // also from the cache
			r := w.Get(t, path, "Accept: text/html")
			page := testserver.ParseHTML(r.Body)
			for _, part := range []string{
				"The <old> one", "Withdrawn on 2", ": it was merged.", "anna@library.example", "Citation",
				"Ann A. (2020): The <old> one. Withdrawn since 20",
			} {
				if r.Status != 410 || !strings.Contains(page.Text(), part) {
					t.Errorf("%s: %d has no %s: %s", path, r.Status, part, page.Text())
				}
			}
			for _, link := range []string{"/urn:example:new", "mailto:anna@library.example"} {
				if !page.First("a", "href="+link).Exists() {
					t.Errorf("%s: no link to %s: %s", path, link, r.Body)
				}
			}
			if !page.First("time", "datetime").Exists() {
				t.Errorf("%s: no time: %s", path, r.Body)
			}
		}
	}
	if r := w.Get(t, "/uri-res/N2C.html?urn:example:gone", "Accept: text/html"); !hasText(r.Body,
		"The new one urn:example:new") {
		t.Errorf("a successor has no title: %s", r.Body)
	}
	if r := w.Get(t, "/urn:example:gone", "Accept: text/html"); testserver.ParseHTML(r.Body).First("a",
		"href=/uri-res/N2C.html?urn:example:gone").Text() != "Details of this name" || len(r.Body) > 8<<10 {
		t.Errorf("%d bytes: %s", len(r.Body), r.Body)
	}
	if r := w.Get(t, "/urn:example:held", "Accept: text/html"); r.Status != 404 ||
		strings.Contains(r.Body, "Citation") || !hasText(r.Body, "Contact: anna@library.example") {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
