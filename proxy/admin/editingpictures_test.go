package admin_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// editorsPages returns pages of all kinds of the editor, by description.
func editorsPages(t *testing.T) map[string]page {
	t.Helper()
	s := newSite(t, func(c *admin.Config) { c.Token, c.PublicURL = []byte(adminToken), "https://urn.example" })
	root := "Authorization: Bearer " + adminToken
	for i := range 60 {
		s.ask("PUT "+of(names, fmt.Sprintf("urn:nbn:fi:lib-%03d", i)),
			`{"targets":[{"uri":"https://repository.example/item/`+fmt.Sprint(i)+
				`"},{"uri":"https://mirror.example/x"}],"metadata":{"title":"Kalevala, the first edition"},"note":"from the catalogue"}`, root)
	}
	const name = "urn:nbn:fi:lib-001"
	s.ask("PUT "+of(names, name),
		`{"targets":[{"uri":"https://repository.example/1/a/very/long/path/that/goes/on/and/on/`+
			strings.Repeat("x", 150)+
			`","type":"text/html","language":"fi","title":"At the library","from":"2030-01-01T00:00:00Z"},{"uri":"https://mirror.example/1","rel":"alternate","priority":2}],
		"contact":"mailto:library@example.org","metadata":{"title":"Kalevala","tags":["epic","old"],"year":1835,"by":{"name":"Lönnrot"}},"redirect":303,"note":"moved by the board of May"}`, `If-Match: "1"`, root)
	s.ask("PUT "+of(prefixes, "urn:nbn:fi:old-"),
		`{"targets":[{"uri":"https://old.example/{suffix}"}],"authoritative":true,"pattern":"[0-9]+"}`, root)
	s.ask("POST "+names+"/withdraw?uri=urn:nbn:fi:lib-002",
		`{"reason":"two volumes","successors":["urn:nbn:fi:lib-003","urn:nbn:fi:lib-004"]}`, root)
	s.ask("POST "+names+"/mint", `{"pattern":"urn:nbn:fi:m-{counter}"}`, root)
	anna, ben := s.editorOf(t, token.Token{Role: registry.Admin}),
		s.editorOf(t, token.Token{Role: registry.Writer, Name: "ben"})
	all := map[string]page{
		"names": anna.get("/registry/names"), "names-none": anna.get("/registry/names?text=none"),
		"names-wrong":    anna.get("/registry/names?prefix=%00"),
		"name":           anna.get("/registry/name?done=saved&uri=" + name),
		"name-withdrawn": anna.get("/registry/name?uri=urn:nbn:fi:lib-002"),
		"name-prefix":    anna.get("/registry/name?kind=prefix&uri=urn:nbn:fi:old-"), "new": anna.get("/registry/edit"),
		"edit":           anna.get("/registry/edit?uri=" + name),
		"edit-prefix":    anna.get("/registry/edit?kind=prefix&uri=urn:nbn:fi:old-"),
		"edit-withdrawn": anna.get("/registry/edit?uri=urn:nbn:fi:lib-002"),
		"history":        anna.get("/registry/history?uri=" + name),
		"withdraw":       anna.get("/registry/withdraw?uri=" + name), "changes": anna.get("/registry/changes"),
		"changeset": anna.get("/registry/changes/61"),
	}
	all["edit-wrong"] = anna.press(t, all["edit"], "preview", "t0-uri=not a uri", "t1-priority=first", "metadata={",
		"t0-from=31.12.")
	typed := []string{
		"t0-uri=https://anna.example/", "t1-remove=yes", "contact=anna@example.org",
		"title=Kalevala, the second edition", "note=as the author has asked",
	}
	all["preview"] = anna.press(t, all["edit"], "preview", typed...)
	all["preview-withdraw"] = anna.press(t, all["withdraw"], "preview", "reason=two volumes",
		"successors=urn:nbn:fi:lib-003")
	all["withdraw-wrong"] = anna.press(t, all["withdraw"], "preview")
	all["changeset-revert"] = anna.press(t, all["changeset"], "preview", "note=the board of June")
	bens := ben.press(t, ben.get("/registry/edit?uri="+name), "preview", "t0-uri=https://ben.example/", "redirect=",
		"note=his")
	ben.follow(t, ben.press(t, bens, "save"))
	all["conflict"] = anna.press(t, all["preview"], "save")
	all["withdraw-conflict"] = anna.press(t, all["preview-withdraw"], "save")
	return all
}

// The pages of editors that are not lists are short, and complete.
func TestEveryPageOfEditors(t *testing.T) {
	for name, p := range editorsPages(t) {
		const most = 30_000
		if p.Code >= 500 || p.Body.Len() > most && name != "names" && name != "changes" {
			t.Errorf("%s: %d, %d bytes", name, p.Code, p.Body.Len())
		}
		if body := p.Body.String(); strings.Contains(body, "This page failed") || strings.Contains(body, "ZgotmplZ") ||
			!strings.Contains(body, "</html>") || strings.Count(body, "<h1>") != 1 {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// servingPages returns the URL of a server with recorded pages.
func servingPages(t *testing.T, all map[string]page) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := all[r.URL.Path[1:]]
		if !ok {
			http.NotFound(w, r)
			return
		}
		for _, name := range []string{"Content-Type", "Content-Security-Policy"} {
			w.Header().Set(name, p.Header().Get(name))
		}
		_, _ = w.Write(p.Body.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// WCAG 2.2 level AA, as far as axe-core can test it, in the light and the dark theme, in wide and narrow
// windows, in which the pages fit. URND_PICTURES is a directory for screenshots.
func TestAccessibleToEditors(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	axe, all := testserver.AxeCore(t), editorsPages(t)
	server := servingPages(t, all)
	testserver.OnScreens(t, slices.Sorted(maps.Keys(all)),
		func(t *testing.T, screen testserver.Screen, names []string) {
			browser := testserver.StartChromium(t)
			for _, name := range names {
				browser.Show(t, server+"/"+name, screen)
				checkShown(t, browser, "editor-"+name, screen, axe)
			}
		})
}

// checkShown fails if the current page is wider than its window, has targets of less than 24 pixels (WCAG 2.2
// criterion 2.5.8), or violates axe-core; it saves a screenshot.
func checkShown(t *testing.T, browser *testserver.Chromium, name string, screen testserver.Screen, axe string) {
	t.Helper()
	browser.SaveScreenshot(t, name, screen)
	var sides struct{ Width, Inner int }
	browser.Evaluate(t, `({Width: document.scrollingElement.scrollWidth, Inner: innerWidth})`, &sides)
	if sides.Width > sides.Inner {
		t.Errorf("%s: %d pixels of page in %d", name, sides.Width, sides.Inner)
	}
	var small []string
	browser.Evaluate(t,
		`[...document.querySelectorAll("nav a, button, input:not([type=hidden]), select, textarea, summary, td a, th a, .links a, .buttons a")].filter(e => {const r = e.getBoundingClientRect(); return r.width > 0 && (r.height < 24 && e.type != "checkbox" || r.width < 20)}).map(e => e.outerHTML.slice(0, 80))`, &small)
	if len(small) > 0 {
		t.Errorf("%s: targets of less than 24 pixels: %q", name, small)
	}
	for _, violation := range browser.AxeViolations(t, axe) {
		t.Errorf("%s: %.600s", name, violation)
	}
}
