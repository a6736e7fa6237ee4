package main

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
)

// browsedRegistry is a registry with names of all states.
func browsedRegistry(t *testing.T) siteRegistry {
	t.Helper()
	r := newSiteRegistry(t)
	old := registry.Record{Targets: targets("https://a.example/old"), Metadata: `{"title": "The <old> one", "creators": ["Ann A."], "year": 2020}`}
	r.put(t, registry.Name("urn:example:new"), registry.Record{Targets: targets("https://books.example/new"), Metadata: `{"title": "The new one"}`})
	r.put(t, registry.Name("urn:example:gone"), old)
	old.Status, old.Targets, old.Reason, old.Successors = registry.Withdrawn, nil, "it was merged", []string{"urn:example:new"}
	r.put(t, registry.Name("urn:example:gone"), old)
	r.put(t, registry.Name("urn:example:held"), registry.Record{Status: registry.Reserved})
	r.put(t, registry.Name("ark:/12345/x1"), registry.Record{Targets: targets("https://a.example/x1")})
	r.put(t, registry.Name("https://purl.example/a;b"), registry.Record{Targets: targets("https://a.example/purl")})
	return r
}

// everybody are all addresses.
func everybody() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}

// Without a setting nobody lists the names of a registry, and no page leads there.
func TestBrowseIsOff(t *testing.T) {
	w := startWithRegistry(t, browsedRegistry(t), nil)
	for _, path := range []string{"/names", "/sitemap.xml", "/sitemap-~.xml"} {
		if r := w.ask(t, path, "text/html", ""); r.status != 404 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	if r := w.ask(t, "/", "text/html", ""); strings.Contains(r.body, `"/names"`) {
		t.Errorf("%s", r.body)
	}
	if r := w.ask(t, "/robots.txt", "", ""); strings.Contains(r.body, "N2C") || strings.Contains(r.body, "/names$") {
		t.Errorf("%s", r.body)
	}
	if r := w.ask(t, "/namespaces/example", "text/html", ""); strings.Contains(r.body, "in the registry<") {
		t.Errorf("%s", r.body)
	}
}

// Readers list and search names, and get no sign of those that are hidden; search engines get all that readers get.
func TestBrowse(t *testing.T) {
	w := startWithRegistry(t, browsedRegistry(t), func(c *config.Config) {
		c.Access.BrowseClients, c.Site.Sitemap, c.Listen.PublicURL = everybody(), true, "https://library.example/resolver"
		c.Registry.Only, c.Registry.Hosts = []string{"urn:", "ark:/12345/"}, []string{"purl.example"}
	})
	names := regexp.MustCompile(`<li><a href="/resolver(/uri-res/[NL]2C\.html\?[^"]*)"><code>([^<]*)`)
	for query, want := range map[string]string{
		"":                               "ark:/12345/x1 https://purl.example/a;b urn:example:new",
		"?prefix=URN:EXAMPLE:":           "urn:example:new",
		"?q=the":                         "urn:example:new",
		"?host=a.example":                "ark:/12345/x1 https://purl.example/a;b",
		"?status=withdrawn":              "",
		"?prefix=urn:example:held":       "",
		"?after=ark:/99":                 "https://purl.example/a;b urn:example:new",
		"?q=%3Cscript%3E&host=%22%3E%3C": "",
	} {
		r := w.ask(t, "/names"+query, "text/html", "")
		var found []string
		for _, match := range names.FindAllStringSubmatch(r.body, -1) {
			found = append(found, match[2])
			if page := w.ask(t, match[1], "text/html", ""); page.status != 200 {
				t.Errorf("the page of %s: %d", match[2], page.status)
			}
		}
		if r.status != 200 || strings.Join(found, " ") != want || strings.Contains(r.body, "gone") || strings.Contains(r.body, "<script>") {
			t.Errorf("%s: %d, %q: %s", query, r.status, found, r.body)
		}
	}
	for _, query := range []string{"?after=x", "?after=.AAAA", "?status=x", "?q=%ff", "?prefix=" + strings.Repeat("a", 501)} {
		if r := w.ask(t, "/names"+query, "text/html", ""); r.status != 400 || !strings.Contains(r.body, `role="alert"`) {
			t.Errorf("%s: %d, %s", query, r.status, r.body)
		}
	}
	if r := w.ask(t, "/namespaces/example", "text/html", ""); !strings.Contains(r.body, "<code>1 name</code>") {
		t.Errorf("%s", r.body)
	}
	if r := w.ask(t, "/robots.txt", "", ""); !strings.Contains(r.body, "Allow: /names$\n") || !strings.HasSuffix(r.body, "\nSitemap: https://library.example/resolver/sitemap.xml\n") {
		t.Errorf("%s", r.body)
	}
	index := w.ask(t, "/sitemap.xml", "", "")
	file := regexp.MustCompile(`<loc>https://library\.example/resolver(/sitemap-[^<]*)</loc>`).FindStringSubmatch(index.body)
	if file == nil {
		t.Fatalf("%s", index.body)
	}
	var pages []string
	for _, match := range regexp.MustCompile(`<loc>https://library\.example/resolver(/uri-res/[^<]*)</loc>`).FindAllStringSubmatch(w.ask(t, file[1], "", "").body, -1) {
		if page := w.ask(t, match[1], "text/html", ""); page.status != 200 {
			t.Errorf("%s: %d", match[1], page.status)
		}
		pages = append(pages, match[1])
	}
	want := []string{"/uri-res/L2C.html?ark:/12345/x1", "/uri-res/L2C.html?https%3A//purl.example/a%3Bb", "/uri-res/N2C.html?urn:example:new"}
	if !slices.Equal(pages, want) {
		t.Errorf("%q", pages)
	}
	if r := w.at(t, "GET", "purl.example", "/names"); r != "404" {
		t.Errorf("at a host of names: %s", r)
	}
}

// Who may see hidden names finds them, by their status.
func TestBrowseAll(t *testing.T) {
	w := startWithRegistry(t, browsedRegistry(t), func(c *config.Config) {
		c.Access.BrowseClients, c.Access.BrowseAllClients = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for query, want := range map[string]string{"?status=withdrawn&q=old": "urn:example:gone", "?status=reserved": "urn:example:held"} {
		if r := w.ask(t, "/names"+query, "text/html", ""); r.status != 200 || !strings.Contains(r.body, "<code>"+want+"</code>") || !strings.HasPrefix(r.header.Get("Cache-Control"), "private") {
			t.Errorf("%s: %d %q %s", query, r.status, r.header, r.body)
		}
	}
	if r := w.ask(t, "/", "text/html", ""); strings.Contains(r.body, `"/names"`) {
		t.Errorf("a page for all leads to one for some: %s", r.body)
	}
}

// A withdrawn name says why, since when, what came instead, whom to ask and how it is cited, at its address and on its page.
func TestWithdrawnPages(t *testing.T) {
	w := startWithRegistry(t, browsedRegistry(t), func(c *config.Config) { c.Site.Contact = "mailto:anna@library.example" })
	for _, path := range []string{"/urn:example:gone", "/uri-res/N2C.html?urn:example:gone"} {
		for range 2 { // also from the cache
			r := w.ask(t, path, "text/html", "")
			for _, part := range []string{
				"The &lt;old&gt; one", "Withdrawn on <time datetime=", ": it was merged.", `<a href="/urn:example:new">`, "Questions: <a href=\"mailto:anna@library.example\">",
				"To cite it", "Ann A. (2020): The &lt;old&gt; one. Withdrawn since 20", "urn:example:gone</p>",
			} {
				if r.status != 410 || !strings.Contains(strings.ReplaceAll(r.body, `</span>`, ""), part) {
					t.Errorf("%s: %d has no %s: %s", path, r.status, part, r.body)
				}
			}
		}
	}
	if r := w.ask(t, "/uri-res/N2C.html?urn:example:gone", "text/html", ""); !strings.Contains(r.body, "<code>urn:example:new</code></a> The new one</li>") {
		t.Errorf("a successor has no title: %s", r.body)
	}
	if r := w.ask(t, "/urn:example:gone", "text/html", ""); !strings.Contains(r.body, `<a href="/uri-res/N2C.html?urn:example:gone">What is known of this name</a>`) || len(r.body) > 8<<10 {
		t.Errorf("%d octets: %s", len(r.body), r.body)
	}
	if r := w.ask(t, "/urn:example:held", "text/html", ""); r.status != 404 || strings.Contains(r.body, "To cite it") || !strings.Contains(r.body, "Questions: <a") {
		t.Errorf("%d %s", r.status, r.body)
	}
}
