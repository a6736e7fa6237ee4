package main

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// status and location of a name, in one word each.
func (w *testDaemon) leads(t *testing.T, name string) string {
	t.Helper()
	reply := w.ask(t, "/"+name, "", "")
	if location := reply.header.Get("Location"); location != "" {
		return location
	}
	return http.StatusText(reply.status)
}

func TestRegistryAnswers(t *testing.T) {
	r := newSiteRegistry(t)
	past, future := time.Unix(1, 0), time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)
	r.put(t, registry.Name("urn:example:a"), registry.Record{Targets: []registry.Target{
		{URI: "https://a.example/second", Priority: 2},
		{URI: "https://a.example/first", Priority: 1},
		{URI: "https://a.example/over", Until: past},
		{URI: "https://a.example/not-yet", From: future},
	}})
	r.put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	r.put(t, registry.Name("urn:example:alias-of-alias"), registry.Record{Alias: "URN:example:alias"})
	r.put(t, registry.Name("urn:example:reserved"), registry.Record{Status: registry.Reserved})
	r.put(t, registry.Name("urn:example:over"), registry.Record{Targets: []registry.Target{{URI: "https://a.example/over", Until: past}}})
	r.put(t, registry.Prefix("urn:example:p:"), registry.Record{Targets: targets("https://p.example/")})
	r.put(t, registry.Prefix("urn:example:p:q:"), registry.Record{Targets: targets("https://q.example/{nid}?x={suffix}&n={name}")})
	r.put(t, registry.Prefix("urn:example:own:"), registry.Record{Authoritative: true})
	r.put(t, registry.Prefix("urn:example:trial:"), registry.Record{Sandbox: true})
	r.put(t, registry.Prefix("urn:example:own:trial:"), registry.Record{Sandbox: true})
	r.put(t, registry.Prefix("urn:example:p:trial:"), registry.Record{Sandbox: true})
	r.put(t, registry.Name("urn:example:trial:1"), registry.Record{Targets: targets("https://t.example/1")})
	r.put(t, registry.Name("urn:isbn:978-0-395-36341-6"), registry.Record{Targets: targets("https://books.example/1")})
	r.put(t, registry.Name("ark:/12345/x"), registry.Record{Targets: targets("https://ark.example/x")})
	w := startWithRegistry(t, r, func(c *config.Config) {
		c.Registry.Only = []string{"urn:", "ark:/12345/"}
		c.Namespaces = []config.Namespace{{NID: "example", Targets: []config.Target{{Template: "https://rules.example/{nss}"}}}}
	})
	for name, want := range map[string]string{
		"urn:example:a":              "https://a.example/first",
		"urn:example:alias":          "https://a.example/first",
		"urn:example:alias-of-alias": "https://a.example/first",
		"urn:example:reserved":       "Not Found",
		"urn:example:over":           "Not Found",
		"urn:example:p:x/y":          "https://p.example/x/y",
		"urn:example:p:q:r":          "https://q.example/example?x=r&n=urn%3Aexample%3Ap%3Aq%3Ar",
		"urn:example:p:q":            "https://p.example/q",
		"urn:example:own:x":          "Not Found",
		"urn:example:other":          "https://rules.example/other", // not registered: the next system
		"urn:example:trial:1":        "https://t.example/1",
		"urn:example:own:trial:x":    "Not Found", // what encloses it is authoritative
		"urn:example:p:trial:x":      "https://p.example/trial:x",
		"urn:isbn:9780395363416":     "https://books.example/1",
		"ark:/12345/x":               "https://ark.example/x",
		"ark:/12345/none":            "Not Found",
	} {
		if got := w.leads(t, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"urn:example:trial:1", "urn:example:p:trial:x"} {
		if marked := w.ask(t, "/"+name, "", "").header.Get("Urnd-Sandbox"); marked != "?1" {
			t.Errorf("%s is marked %q", name, marked)
		}
	}
	if list := w.ask(t, "/uri-res/N2Ls?urn:example:a", "text/uri-list", "").body; !strings.Contains(list,
		"first\r\nhttps://a.example/second\r\n") || strings.Contains(list, "over") || strings.Contains(list, "not-yet") {
		t.Errorf("the list is %q", list)
	}
	if page := w.ask(t, "/uri-res/N2C.html?urn:example:a", "text/html", "").body; !strings.Contains(page, ">urn:example:alias<") && !strings.Contains(page, "urn:example:alias</") {
		t.Errorf("the page has no other name: %s", page)
	}
	if names := w.ask(t, "/uri-res/N2Ns?urn:example:a", "text/uri-list", "").body; !strings.Contains(names, "urn:example:alias\r\n") {
		t.Errorf("the other names are %q", names)
	}
}

// The record is shown by descriptions and explanations, and how a name was by its versions.
func TestRegistryHistory(t *testing.T) {
	r := newSiteRegistry(t)
	name := registry.Name("urn:example:a")
	r.put(t, name, registry.Record{Targets: targets("https://old.example/"), Metadata: `{"title":"Old"}`})
	first, err := r.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	testserver.Wait(t, "the clock has moved", func() bool { return r.Now().After(first.Changed) })
	r.put(t, name, registry.Record{Targets: targets("https://new.example/"), Metadata: `{"title":"New"}`, Contact: "someone"})
	w := startWithRegistry(t, r, nil)

	at := url.QueryEscape(first.Changed.Format(time.RFC3339Nano))
	for path, want := range map[string]string{
		"/api/v1/resolve?uri=urn:example:a":                                 "https://new.example/",
		"/api/v1/resolve?uri=urn:example:a&at=" + at:                        "https://old.example/",
		"/api/v1/explain?uri=urn:example:a":                                 `"title": "New"`,
		"/uri-res/N2C?urn:example:a":                                        `"title": "New"`,
		"/api/v1/resolve?uri=urn:example:a&at=1999-01-01":                   "not registered",
		"/api/v1/resolve?uri=urn:example:a&at=" + time.Now().Format("2006"): "2031-05-01",
	} {
		if body := w.ask(t, path, "application/json", "").body; !strings.Contains(body, want) {
			t.Errorf("%s: no %s in %s", path, want, body)
		}
	}
	request, err := http.NewRequest(http.MethodGet, w.url+"/uri-res/N2C?urn:example:a", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Datetime", first.Changed.Add(time.Second).Format(http.TimeFormat)) // of whole seconds
	if response, err := http.DefaultTransport.RoundTrip(request); err != nil {
		t.Fatal(err)
	} else if response.Header.Get("Memento-Datetime") == "" || !strings.Contains(response.Header.Get("Vary"), "Accept-Datetime") ||
		!strings.Contains(strings.Join(response.Header["Link"], ", "), `rel="memento"`) {
		t.Errorf("a description of a time has %v", response.Header)
	} else {
		memento := w.ask(t, strings.TrimPrefix(response.Header.Get("Content-Location"), w.url), "", "")
		if memento.status != http.StatusOK {
			t.Errorf("the memento at %s: %d %s", response.Header.Get("Content-Location"), memento.status, memento.body)
		}
		response.Body.Close()
	}
	request.Header.Set("Accept-Datetime", "yesterday")
	if response, err := http.DefaultTransport.RoundTrip(request); err != nil || response.StatusCode != http.StatusBadRequest {
		t.Errorf("an Accept-Datetime that is no date: %v, %v", response, err)
	} else {
		response.Body.Close()
	}
}

// What is restored from the snapshot is not older than the registry, which may have changed meanwhile.
func TestRegistryAfterRestart(t *testing.T) {
	r := newSiteRegistry(t)
	state := t.TempDir()
	change := func(c *config.Config) {
		c.Cache.Directory = state
		c.Namespaces = []config.Namespace{{NID: "example", Targets: []config.Target{{Template: "https://rules.example/{nss}"}}}}
	}
	w := startWithRegistry(t, r, change)
	if got := w.leads(t, "urn:example:a"); got != "https://rules.example/a" {
		t.Fatalf("by the rules: %s", got)
	}
	w.leads(t, "urn:example:b")
	w.stop()
	r.put(t, registry.Name("urn:example:a"), registry.Record{Targets: targets("https://own.example/a")})
	again := startWithRegistry(t, r, change)
	again.waitForLog(t, "answers were restored")
	for name, want := range map[string]string{"urn:example:a": "https://own.example/a", "urn:example:b": "https://rules.example/b"} {
		if got := again.leads(t, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
}

// Where the registry cannot be used, readiness says so, and what it is not asked for is answered; where
// it can be used again, so it is.
func TestRegistryNotAvailable(t *testing.T) {
	r := newSiteRegistry(t)
	r.put(t, registry.Name("urn:example:a"), registry.Record{Targets: targets("https://own.example/a")})
	broken := siteRegistry{path: t.TempDir() + "/registry.db"}
	if err := os.WriteFile(broken.path, []byte(strings.Repeat("not a database", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	w := startWithRegistry(t, broken, func(c *config.Config) {
		c.Registry.Only = []string{"urn:example:"}
		c.Namespaces = []config.Namespace{{NID: "other", Targets: []config.Target{{Template: "https://rules.example/{nss}"}}}}
	})
	if ready := w.readiness(t); !strings.HasPrefix(ready, "503 not ready: the registry cannot be asked: the registry is damaged: ") {
		t.Errorf("readiness: %s", ready)
	}
	if got := w.leads(t, "urn:example:a"); got != "Service Unavailable" {
		t.Errorf("a name of the registry: %s", got)
	}
	if got := w.leads(t, "urn:other:a"); got != "https://rules.example/a" {
		t.Errorf("a name of others: %s", got)
	}
	if err := r.Store().Close(); err != nil { // all is in the file then
		t.Fatal(err)
	}
	if err := os.Rename(r.path, broken.path); err != nil { // an administrator restores it
		t.Fatal(err)
	}
	testserver.Wait(t, "the registry is used again", func() bool { return w.leads(t, "urn:example:a") == "https://own.example/a" })
	testserver.Wait(t, "it is ready", func() bool { return w.readiness(t) == "200 ready: ; " })
}
