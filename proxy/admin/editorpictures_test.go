package admin_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// bulkPages returns pages about many names, with all their parts, by name, and the URL of their server.
func bulkPages(t *testing.T) (server string, paths map[string]string) {
	t.Helper()
	s, all := newIdleJobSite(t, nil)
	for i := range 40 {
		s.has(t, fmt.Sprintf("urn:nbn:fi:lib-%d", i), fmt.Sprintf("http://old.example.org/items/%d", i))
	}
	for i := range 12 {
		s.has(t, fmt.Sprintf("urn:nbn:fi:lib-%d", i), fmt.Sprintf("https://new.example.org/objects/%d", i))
		s.has(t, fmt.Sprintf("hdl:20.500.9999/report-%d", i), fmt.Sprintf("https://reports.example.org/%d", i))
	}
	for _, prefix := range []string{"urn:nbn:fi:lib-", "urn:nbn:fi:scan-"} {
		if r := s.ask("PUT "+of(prefixes, prefix),
			`{"prefix":true,"targets":[{"uri":"https://library.example.org/"}],"pattern":"[0-9]+","contact":"library@example.org"}`); r.status != 201 {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	putHealth(t, s.registry.Store(), 7, "unhealthy", "http://old.example.org/items/")
	for i := range 60 {
		count(t, s.registry.Store(),
			map[string]string{"urn:nbn:fi:lib-1": fmt.Sprintf("%d %d", (i*37)%90+4, (i*13)%25)},
			time.Now().AddDate(0, 0, -i))
	}
	for _, made := range []string{"catalogue", "repository", "scanner"} {
		r := s.ask("POST /api/v1/tokens",
			`{"name":"`+made+`","role":"writer","prefixes":["urn:nbn:fi:lib-","urn:nbn:fi:`+made+
				`-"],"actions":["mint","change"],"note":"for the `+made+`"}`)
		if r.status != 201 {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	b := newBrowser(s, here)
	check := func(content string) (at, job string) {
		at = b.send(t, "books.csv", content)
		fields := form(t, b.open(at, nil))
		fields.Set("do", "check")
		fields.Set("note", "the catalogue of May")
		w := b.open(at, fields)
		if job = w.Header().Get("Location"); job == "" {
			t.Fatalf("beginning a job: %d %s", w.Code, textOf(w))
		}
		return at, job
	}
	s.run(t, all)
	table := "Kennung;Titel;Jahr;Ort;Link\n"
	for i := range 30 {
		table += fmt.Sprintf("urn:nbn:fi:lib-%d;Kalevala, Teil %d;%d;Helsinki;https://catalogue.example.org/%d\n", 20+i,
			i, 1835+i, i)
	}
	at, dry := check(table + "wrong;;;;\n")
	testserver.Wait(t, "the dry run has ended",
		func() bool { return strings.Contains(textOf(b.open(dry, nil)), "Import now") })
	server = s.serve(t, b)
	tokens := b.open("/registry/tokens", nil).Body.String()
	_, id, _ := strings.Cut(tokens, `href="/registry/tokens/`)
	id, _, _ = strings.Cut(id, "/")
	return server, map[string]string{
		"import": "/registry/import", "gone": "/registry/import/none", "mapping": at, "job": dry,
		"jobs": "/registry/jobs", "prefixes": "/registry/prefixes",
		"targets":    "/registry/targets",
		"move":       "/registry/targets/move?replace=" + url.QueryEscape("http://old.example.org/"),
		"statistics": "/registry/statistics?uri=urn:nbn:fi:lib-1", "tokens": "/registry/tokens",
		"revoke": "/registry/tokens/" + id + "/revoke",
	}
}

// serve returns the URL of a server whose requests have the session of a browser.
func (s *site) serve(t *testing.T, b *browser) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Cookie")
		for name, value := range b.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		r.Host = "127.0.0.1:8142"
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// The page of a job shows its progress and its result, without a reload.
func TestLiveJob(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	s, all := newIdleJobSite(t, nil)
	b := newBrowser(s, here)
	at := b.send(t, "a.csv", "name,target\nurn:nbn:fi:a,https://a.example/1\n")
	fields := form(t, b.open(at, nil))
	fields.Set("do", "check")
	job := b.open(at, fields).Header().Get("Location")
	browser := testserver.StartChromium(t)
	browser.Show(t, s.serve(t, b)+job, testserver.Screen{Width: 1200, Height: 1400})
	said := func(want string) func() bool {
		return func() bool {
			var text string
			browser.Evaluate(t, `document.getElementById("notice").textContent`, &text)
			return text == want
		}
	}
	testserver.Wait(t, "the page is followed", said("The progress is updated live."))
	s.run(t, all)
	testserver.Wait(t, "the job has ended", said("The job has ended."))
	var text string
	browser.Evaluate(t, `document.getElementById("live").innerText`, &text)
	for _, want := range []string{"done", "Import now", "urn:nbn:fi:a"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	browser.Click(t, `button[value="import"]`)
	testserver.Wait(t, "the names are imported", func() bool {
		browser.Evaluate(t,
			`(document.querySelector("h1")?.textContent ?? "") + " " + (document.getElementById("live")?.innerText ?? "")`, &text)
		return strings.Contains(text, "Import of names") && strings.Contains(text, "done")
	})
	if r := s.ask("GET "+of(names, "urn:nbn:fi:a"), ""); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// WCAG 2.2 level AA, as far as axe-core can test it, and no overflow in a narrow window. URND_PICTURES is a
// directory for screenshots.
func TestBulkPagesInBrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	axe := testserver.AxeCore(t)
	server, paths := bulkPages(t)
	testserver.OnScreens(t, slices.Sorted(maps.Keys(paths)),
		func(t *testing.T, screen testserver.Screen, names []string) {
			browser := testserver.StartChromium(t)
			for _, name := range names {
				browser.Show(t, server+paths[name], screen)
				checkShown(t, browser, name, screen, axe)
			}
		})
}
