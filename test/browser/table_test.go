//go:build e2e

package browser

import (
	"net/http"
	"net/url"
)

// sitePage is a page of a running urnd.
type sitePage struct {
	name    string // for messages, and for the file of its screenshot
	admin   bool   // on the admin listener
	target  string // path and query
	status  int
	heading string   // part of its h1
	has     []string // texts of the page, also in a text browser
	// live selects the parts that differ each time, "" for none.
	live string
	// isList is set for pages whose length depends on their content.
	isList bool
	// types is entered into its first field, followed by Enter; goes is the prefix of the resulting target. ""
	// is for pages without a form.
	types, goes string
}

// sitePages is the table of all pages. A new page is a row, to which all tests of pages in browsers apply.
func sitePages(w *browserSite) []sitePage {
	const ok = http.StatusOK
	return []sitePage{
		{
			name: "start", target: "/", status: ok, heading: "Library of Examples",
			has: []string{"urn:isbn", "Welcome"}, types: "Kalevala", goes: "/names?q=Kalevala",
		},
		{
			name: "start-de", target: "/?lang=de", status: ok, heading: "Bibliothek der Beispiele",
			has: []string{"Namensräume"}, types: "urn:example:old", goes: "/?uri=urn%3Aexample%3Aold&lang=de",
		},
		{name: "start-zh", target: "/?lang=zh", status: ok, heading: "Library of Examples"},
		{
			name: "fetch", target: "/fetch", status: ok, heading: "Fetch", types: "gopher://127.0.0.1:1/",
			goes: "/fetch?uri=gopher%3A%2F%2F127.0.0.1%3A1%2F",
		},
		{
			name: "namespaces", target: "/namespaces", status: ok, heading: "Namespaces",
			has: []string{"urn:doi", "Digital Object Identifier"}, isList: true, types: "isbn",
			goes: "/namespaces?q=isbn",
		},
		{
			name: "namespaces-found", target: "/namespaces?q=isbn", status: ok, heading: "Namespaces",
			has: []string{"urn:isbn"},
		},
		{name: "namespaces-none", target: "/namespaces?q=%3Cnone%3E", status: ok, heading: "Namespaces"},
		{
			name: "namespace", target: "/namespaces/isbn", status: ok, heading: "International Standard Book Number",
			has: []string{"urn:isbn", "openlibrary.org"},
		},
		{
			name: "namespace-unknown", target: "/namespaces/none", status: http.StatusNotFound,
			heading: "This address was not found",
		},
		{
			name: "name", target: "/uri-res/N2C.html?urn:example:book", status: ok, heading: "Kalevala",
			has: []string{"urn:example:book", "Suomeksi", "In English", "Finnish", "Anna", "2019-03-01"},
		},
		{
			name: "name-reserved", target: "/uri-res/N2C.html?urn:example:reserved", status: http.StatusNotFound,
			heading: "urn:example:reserved",
		},
		{
			name: "name-withdrawn", target: "/uri-res/N2C.html?urn:example:old", status: http.StatusGone,
			heading: "urn:example:old",
			has:     []string{"two editions were one", "urn:example:book"},
		},
		{
			name: "name-sandbox", target: "/uri-res/N2C.html?urn:example:trial:1", status: ok,
			heading: "urn:example:trial:1",
		},
		{
			name: "name-gs1", target: "/uri-res/N2C.html?" + linkRoot + gtin, status: ok, heading: "",
			has: []string{linkRoot + gtin, "Product page"},
		},
		{name: "name-unknown", target: "/uri-res/N2C.html?urn:example:none", status: ok, heading: "urn:example:none"},
		{
			name: "preview", target: "/urn:example:book?preview", status: ok, heading: "Kalevala",
			has: []string{"urn:example:book"},
		},
		{
			name: "withdrawn", target: "/urn:example:old", status: http.StatusGone,
			heading: "This name is no longer in use", has: []string{"two editions were one", "urn:example:book"},
		},
		{name: "unknown", target: "/urn:example:none", status: http.StatusNotFound, heading: "This name was not found"},
		{
			name: "marked", target: "/urn:isbn:0-395-36341-2", status: http.StatusBadRequest,
			heading: "This name is not valid", has: []string{"The check digit should be 1"},
		},
		{
			name: "guess", target: "/?uri=urn.example.book", status: http.StatusBadRequest,
			heading: "This name is not valid", has: []string{"urn:example:book"},
		},
		{
			name: "title", target: "/names?q=none", status: ok, heading: "Browse names",
			has: []string{"No title contains all of these words"}, isList: true,
		},
		{name: "listed", target: "/names", status: ok, heading: "", isList: true},
		{
			name: "listed-found", target: "/names?q=kalevala", status: ok, heading: "",
			has: []string{"Kalevala", "urn:example:book"}, isList: true,
		},
		{
			name: "explained", target: "/api/v1/explain?uri=urn:example:book", status: ok, heading: "How it was resolved",
			has: []string{"urn:example:book"},
		},
		{
			name: "explained-rule", target: "/api/v1/explain?uri=urn:isbn:9780395363416", status: ok,
			heading: "How it was resolved", has: []string{"openlibrary.org"},
		},
		{name: "docs", target: "/docs", status: ok, heading: "Programming interface (API)"},
		{name: "docs-names", target: "/docs/names", status: ok, heading: "Names", isList: true},
		{
			name: "fetch-failed", target: "/fetch?uri=gopher://127.0.0.1:1/", status: http.StatusForbidden,
			heading: "Forbidden",
		},
		{
			name: "fetch-telnet", target: "/fetch?uri=telnet://library@catalogue.example.org/", status: ok,
			heading: "telnet://library@catalogue.example.org/",
		},
		{
			name: "menu", target: "/fetch?uri=" + url.QueryEscape(w.gopher+"1/"), status: ok, heading: "",
			has: []string{"About this server", "Search the catalogue"}, isList: true,
		},
		{
			name: "status", admin: true, target: "/status", status: ok, heading: "Status of urnd",
			has: []string{"registry", "answers", "is ready"}, live: "#state, #live, p.faint",
		},
		{
			name: "configuration", admin: true, target: "/config", status: ok, heading: "Configuration in force",
			has: []string{"registry.store", "All sections"}, isList: true, types: "dns.timeout",
			goes: "/config?q=dns.timeout",
		},
		{
			name: "configuration-section", admin: true, target: "/config?section=dns", status: ok,
			heading: "Configuration in force", has: []string{"dns.timeout", "Section dns"},
		},
		{
			name: "caches", admin: true, target: "/caches", status: ok, heading: "Caches",
			has: []string{"Purge answers for names", "Purge stored responses"}, live: "tbody",
			types: "urn:example:book", goes: "/caches?uri=urn%3Aexample%3Abook",
		},
		{
			name: "login", admin: true, target: "/login", status: ok, heading: "Log in",
			has: []string{"Token", "The token is not stored"}, types: "none", goes: "/login?next=%2F",
		},
		{
			name: "names", admin: true, target: "/registry/names", status: ok, heading: "Names",
			has: []string{"urn:example:book", "withdrawn"}, isList: true, types: "urn:example:t",
			goes: "/registry/names?title=urn%3Aexample%3At",
		},
		{
			name: "names-found", admin: true, target: "/registry/names?text=kalevala", status: ok, heading: "Names",
			has: []string{"urn:example:book"},
		},
		{name: "edit-new", admin: true, target: "/registry/edit", status: ok, heading: "name"},
		{
			name: "edit", admin: true, target: "/registry/edit?uri=urn:example:book", status: ok,
			heading: "urn:example:book", has: []string{"Show what would change"},
		},
		{
			name: "edit-history", admin: true, target: "/registry/history?uri=urn:example:book", status: ok,
			heading: "urn:example:book",
		},
		{
			name: "edit-withdraw", admin: true, target: "/registry/withdraw?uri=urn:example:book", status: ok,
			heading: "urn:example:book", has: []string{"Reason for withdrawal"},
		},
		{
			name: "edit-name", admin: true, target: "/registry/name?uri=urn:example:book", status: ok,
			heading: "urn:example:book",
		},
		{
			name: "edit-unknown", admin: true, target: "/registry/name?uri=urn:example:none", status: http.StatusNotFound,
			heading: "Not Found",
		},
		{name: "changes", admin: true, target: "/registry/changes", status: ok, heading: "Changes", isList: true},
		{name: "change-set", admin: true, target: "/registry/changes/1", status: ok, heading: "Change set 1"},
		{name: "import", admin: true, target: "/registry/import", status: ok, heading: "Import", isList: true},
		{name: "jobs", admin: true, target: "/registry/jobs", status: ok, heading: "Jobs", isList: true},
		{name: "prefixes", admin: true, target: "/registry/prefixes", status: ok, heading: "Prefixes", isList: true},
		{
			name: "statistics", admin: true, target: "/registry/statistics", status: ok, heading: "Statistics",
			isList: true,
		},
		{
			name: "dead-targets", admin: true, target: "/registry/targets", status: ok, heading: "Dead targets",
			isList: true,
		},
		{
			name: "move-targets", admin: true, target: "/registry/targets/move", status: ok, heading: "Move targets",
			isList: true,
		},
		{name: "tokens", admin: true, target: "/registry/tokens", status: ok, heading: "Tokens", isList: true},
		{name: "admin-docs", admin: true, target: "/docs", status: ok, heading: "API"},
		{
			name: "admin", admin: true, target: "/", status: ok, heading: "urnd: administration",
			has: []string{"/status", "/api/v1/config"},
		},
		{
			name: "admin-de", admin: true, target: "/?lang=de", status: ok, heading: "urnd: Verwaltung",
			has: []string{"der Zustand von urnd"},
		},
		{
			name: "status-fr", admin: true, target: "/status?lang=fr", status: ok, heading: "État d’urnd",
			has: []string{"registre"}, live: "#state, #live, p.faint",
		},
		{
			name: "configuration-de", admin: true, target: "/config?lang=de", status: ok,
			heading: "Geltende Konfiguration", has: []string{"Alle Abschnitte"}, isList: true,
		},
		{
			name: "caches-es", admin: true, target: "/caches?lang=es", status: ok, heading: "Cachés",
			has: []string{"Purgar respuestas almacenadas"}, live: "tbody",
		},
		{
			name: "admin-docs-names-zh", admin: true, target: "/docs/names?lang=zh", status: ok, heading: "名称",
			isList: true,
		},
	}
}

// at returns the URL and the origin of a page.
func (s *browserSite) at(p *sitePage) (page, origin string) {
	if p.admin {
		return s.Admin + p.target, s.Admin
	}
	return s.URL + p.target, s.URL
}
