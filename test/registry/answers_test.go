//go:build e2e

package registry

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
	"github.com/urnd/urnd/test/urndtest"
)

func TestRegistryAnswers(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	past, future := time.Unix(1, 0), time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)
	r.Put(t, registry.Name("urn:example:a"), registry.Record{Targets: []registry.Target{
		{URI: "https://a.example/second", Priority: 2},
		{URI: "https://a.example/first", Priority: 1},
		{URI: "https://a.example/over", Until: past},
		{URI: "https://a.example/not-yet", From: future},
	}})
	r.Put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	r.Put(t, registry.Name("urn:example:alias-of-alias"), registry.Record{Alias: "URN:example:alias"})
	r.Put(t, registry.Name("urn:example:reserved"), registry.Record{Status: registry.Reserved})
	r.Put(t, registry.Name("urn:example:over"),
		registry.Record{Targets: []registry.Target{{URI: "https://a.example/over", Until: past}}})
	r.Put(t, registry.Prefix("urn:example:p:"), registry.Record{Targets: urndtest.Targets("https://p.example/")})
	r.Put(t, registry.Prefix("urn:example:p:q:"),
		registry.Record{Targets: urndtest.Targets("https://q.example/{nid}?x={suffix}&n={name}")})
	r.Put(t, registry.Prefix("urn:example:own:"), registry.Record{Authoritative: true})
	r.Put(t, registry.Prefix("urn:example:trial:"), registry.Record{Sandbox: true})
	r.Put(t, registry.Prefix("urn:example:own:trial:"), registry.Record{Sandbox: true})
	r.Put(t, registry.Prefix("urn:example:p:trial:"), registry.Record{Sandbox: true})
	r.Put(t, registry.Name("urn:example:trial:1"), registry.Record{Targets: urndtest.Targets("https://t.example/1")})
	r.Put(t, registry.Name("urn:isbn:978-0-395-36341-6"),
		registry.Record{Targets: urndtest.Targets("https://books.example/1")})
	r.Put(t, registry.Name("ark:/12345/x"), registry.Record{Targets: urndtest.Targets("https://ark.example/x")})
	w := r.Start(t, func(c *config.Config) {
		c.Registry.Owned = []string{"urn:", "ark:/12345/"}
		c.Namespaces = []config.Namespace{{
			NID:     "example",
			Targets: []config.Target{{Template: "https://rules.example/{nss}"}},
		}}
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
		"urn:example:own:trial:x":    "Not Found", // the enclosing prefix is authoritative
		"urn:example:p:trial:x":      "https://p.example/trial:x",
		"urn:isbn:9780395363416":     "https://books.example/1",
		"ark:/12345/x":               "https://ark.example/x",
		"ark:/12345/none":            "Not Found",
	} {
		if got := w.Target(t, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"urn:example:trial:1", "urn:example:p:trial:x"} {
		if marked := w.Get(t, "/"+name).Header.Get("Urnd-Sandbox"); marked != "?1" {
			t.Errorf("%s is marked %q", name, marked)
		}
	}
	if list := w.Get(t, "/uri-res/N2Ls?urn:example:a", "Accept: text/uri-list").Body; !strings.Contains(list,
		"first\r\nhttps://a.example/second\r\n") || strings.Contains(list, "over") ||
		strings.Contains(list, "not-yet") {
		t.Errorf("the list is %q", list)
	}
	if page := w.Get(t, "/uri-res/N2C.html?urn:example:a", "Accept: text/html").Body; !strings.Contains(page,
		">urn:example:alias<") && !strings.Contains(page, "urn:example:alias</") {
		t.Errorf("the page has no other name: %s", page)
	}
	if names := w.Get(t, "/uri-res/N2Ns?urn:example:a", "Accept: text/uri-list").Body; !strings.Contains(names,
		"urn:example:alias\r\n") {
		t.Errorf("the other names are %q", names)
	}
}

// TestRegistryHistory checks that descriptions and explanations show the record, and that earlier versions of a
// name are available.
func TestRegistryHistory(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	name := registry.Name("urn:example:a")
	r.Put(t, name, registry.Record{Targets: urndtest.Targets("https://old.example/"), Metadata: `{"title":"Old"}`})
	first, err := r.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	testserver.Wait(t, "the clock has moved", func() bool { return r.Now().After(first.Changed) })
	r.Put(t, name, registry.Record{
		Targets: urndtest.Targets("https://new.example/"), Metadata: `{"title":"New"}`,
		Contact: "someone",
	})
	w := r.Start(t, nil)

	at := url.QueryEscape(first.Changed.Format(time.RFC3339Nano))
	for path, want := range map[string]string{
		"/api/v1/resolve?uri=urn:example:a":                                 "https://new.example/",
		"/api/v1/resolve?uri=urn:example:a&at=" + at:                        "https://old.example/",
		"/api/v1/explain?uri=urn:example:a":                                 `"title": "New"`,
		"/uri-res/N2C?urn:example:a":                                        `"title": "New"`,
		"/api/v1/resolve?uri=urn:example:a&at=1999-01-01":                   "not registered",
		"/api/v1/resolve?uri=urn:example:a&at=" + time.Now().Format("2006"): "2031-05-01",
	} {
		if body := w.Get(t, path, "Accept: application/json").Body; !strings.Contains(body, want) {
			t.Errorf("%s: no %s in %s", path, want, body)
		}
	}
	// HTTP dates have a resolution of seconds.
	reply := w.Get(t, "/uri-res/N2C?urn:example:a",
		"Accept-Datetime: "+first.Changed.Add(time.Second).UTC().Format(http.TimeFormat))
	if reply.Header.Get("Memento-Datetime") == "" || !strings.Contains(reply.Header.Get("Vary"), "Accept-Datetime") ||
		!strings.Contains(strings.Join(reply.Header["Link"], ", "), `rel="memento"`) {
		t.Errorf("a description of a time has %v", reply.Header)
	}
	at = reply.Header.Get("Content-Location")
	if memento := w.Get(t, strings.TrimPrefix(at, w.URL)); memento.Status != http.StatusOK {
		t.Errorf("the memento at %s: %d %s", at, memento.Status, memento.Body)
	}
	if reply := w.Get(t, "/uri-res/N2C?urn:example:a",
		"Accept-Datetime: yesterday"); reply.Status != http.StatusBadRequest {
		t.Errorf("an Accept-Datetime that is not a date: %d", reply.Status)
	}
}

// TestRegistryAfterRestart checks that answers restored from the snapshot are not older than the registry,
// which may have changed meanwhile.
func TestRegistryAfterRestart(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	state := t.TempDir()
	change := func(c *config.Config) {
		c.Cache.Directory = state
		c.Namespaces = []config.Namespace{{
			NID:     "example",
			Targets: []config.Target{{Template: "https://rules.example/{nss}"}},
		}}
	}
	w := r.Start(t, change)
	if got := w.Target(t, "urn:example:a"); got != "https://rules.example/a" {
		t.Fatalf("by the rules: %s", got)
	}
	w.Target(t, "urn:example:b")
	w.Stop()
	r.Put(t, registry.Name("urn:example:a"), registry.Record{Targets: urndtest.Targets("https://own.example/a")})
	again := r.Start(t, change)
	again.WaitForLog(t, "snapshot of answers restored")
	for name, want := range map[string]string{
		"urn:example:a": "https://own.example/a",
		"urn:example:b": "https://rules.example/b",
	} {
		if got := again.Target(t, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
}

// TestRegistryNotAvailable checks that readiness reports an unavailable registry, that names of other systems
// are still resolved, and that the registry is used again when it becomes available.
func TestRegistryNotAvailable(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name("urn:example:a"), registry.Record{Targets: urndtest.Targets("https://own.example/a")})
	broken := urndtest.Registry{Path: t.TempDir() + "/registry.db"}
	if err := os.WriteFile(broken.Path, []byte(strings.Repeat("not a database", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	w := broken.Start(t, func(c *config.Config) {
		c.Registry.Owned = []string{"urn:example:"}
		c.Namespaces = []config.Namespace{{
			NID:     "other",
			Targets: []config.Target{{Template: "https://rules.example/{nss}"}},
		}}
	})
	if ready := readiness(t, w); !strings.HasPrefix(ready,
		"503 not ready: the registry is unavailable: registry damaged: ") {
		t.Errorf("readiness: %s", ready)
	}
	if got := w.Target(t, "urn:example:a"); got != "Service Unavailable" {
		t.Errorf("a name of the registry: %s", got)
	}
	if got := w.Target(t, "urn:other:a"); got != "https://rules.example/a" {
		t.Errorf("a name of others: %s", got)
	}
	if err := r.Store().Close(); err != nil { // all data is in the file then
		t.Fatal(err)
	}
	if err := os.Rename(r.Path, broken.Path); err != nil { // an administrator restores it
		t.Fatal(err)
	}
	testserver.Wait(t, "the registry is used again",
		func() bool { return w.Target(t, "urn:example:a") == "https://own.example/a" })
	testserver.Wait(t, "it is ready", func() bool { return readiness(t, w) == "200 ready: ; " })
}
