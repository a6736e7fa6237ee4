package formats_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/test/urndtest"
	"github.com/urnd/urnd/urnns"
)

// ofRegistry reports whether a path of the document belongs to the registry.
func ofRegistry(path string) bool {
	for _, start := range []string{
		"/api/v1/names", "/api/v1/prefixes", "/api/v1/sandboxes", "/api/v1/jobs", "/api/v1/tokens",
		"/api/v1/statistics", "/api/v1/health", "/api/v1/registry",
	} {
		if strings.HasPrefix(path, start) {
			return true
		}
	}
	return false
}

// newRegistryHandler returns the admin handler of a site with a registry and running jobs.
func newRegistryHandler(t *testing.T) *admin.Handler {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: set}
	r := registry.New(registry.Config{
		Store: store, Now: time.Now, CanonicalPrefix: names.CanonicalPrefix,
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err == nil {
				q, err = names.Canonical(q)
			}
			return q.URI.String(), err
		},
	})
	work := jobs.New(jobs.Config{
		Registry: r, Directory: filepath.Join(dir, "jobs"), MaxBody: 1000,
		Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { work.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	handler, _ := newAdminHandler(func(c *admin.Config) {
		c.Registry = &admin.Registry{
			Service: service.New(service.Config{Registry: r, Jobs: work}),
			Drafts:  editor.NewDrafts(filepath.Join(dir, "jobs", "drafts"), time.Now),
		}
	}).(*admin.Handler)
	return handler
}

// checkRegistry checks responses of all registry operations against the document.
func checkRegistry(t *testing.T, d *urndtest.OpenAPI) {
	t.Helper()
	h := newRegistryHandler(t)
	job := ""
	ask := func(path, request, body string, fields ...string) (status int) {
		t.Helper()
		method, target, _ := strings.Cut(request, " ")
		r := httptest.NewRequest(method, strings.ReplaceAll(target, "{id}", job), strings.NewReader(body))
		r.Host, r.RemoteAddr = "127.0.0.1:8142", "127.0.0.1:1"
		r.Header.Set("Content-Type", "application/json")
		for _, field := range fields {
			name, value, _ := strings.Cut(field, ": ")
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		text, _ := io.ReadAll(w.Result().Body)
		if err := d.Check(method, path, w.Result(), text); err != nil {
			t.Errorf("%s: %v", request, err)
		}
		if at := w.Header().Get("Location"); strings.HasPrefix(at, "/api/v1/jobs/") {
			job = strings.TrimPrefix(at, "/api/v1/jobs/")
		}
		if made := regexp.MustCompile(`"id": *"([^"]*)"`).FindSubmatch(text); made != nil && path == "/api/v1/tokens" &&
			method == "POST" {
			job = string(made[1]) // ID for the next request
		}
		return w.Code
	}
	const all = `{"targets":[{"uri":"https://a.example/","type":"text/html","language":"fi","priority":2,"from":"2031-01-01T00:00:00Z","until":"2032-01-01T00:00:00Z","note":"n"}],"metadata":{"a":1},"contact":"c","note":"n"}`
	for path, uri := range map[string]string{"/api/v1/names": "urn:example:a", "/api/v1/prefixes": "urn:example:p-"} {
		at := path + "?uri=" + uri
		ask(path, "PUT "+at, all)
		ask(path, "PUT "+at, all)
		ask(path, "PUT "+at, `{"targets":[{"uri":"https://b.example/"}]}`, `If-Match: "1"`)
		ask(path, "PUT "+at, `{"targets":[{"uri":"https://c.example/"}]}`, `If-Match: "1"`)
		ask(path, "PATCH "+at, `{"contact":"d"}`, "Content-Type: application/merge-patch+json")
		ask(path, "PATCH "+at, `{}`)
		ask(path, "GET "+at, "")
		ask(path, "GET "+at, "", "If-None-Match: *")
		ask(path, "GET "+at+"&at=2001-01-01", "")
		ask(path, "GET "+path+"?limit=1", "")
		ask(path, "GET "+path+"?limit=0", "", "Accept: text/html")
		ask(path+"/history", "GET "+path+"/history?limit=1&uri="+uri, "")
		ask(path+"/history", "GET "+path+"/history", "")
		ask(path+"/withdraw", "POST "+path+"/withdraw?uri="+uri,
			`{"reason":"r","successors":["urn:example:b"],"note":"n"}`)
		ask(path+"/withdraw", "POST "+path+"/withdraw", `{}`)
		ask(path+"/export", "GET "+path+"/export", "")
		ask(path+"/export", "GET "+path+"/export?format=none", "")
		ask(path+"/export", "GET "+path+"/export?at=2001-01-01&format=csv", "")
		ask(path+"/export", "GET "+path+"/export?at=never", "")
	}
	ask("/api/v1/statistics", "GET /api/v1/statistics", "")
	ask("/api/v1/statistics", "GET /api/v1/statistics?prefix=urn:example:", "")
	ask("/api/v1/statistics", "GET /api/v1/statistics?since=2031-05-01", "")
	ask("/api/v1/health", "GET /api/v1/health", "")
	ask("/api/v1/registry/changes", "GET /api/v1/registry/changes?limit=2", "")
	ask("/api/v1/registry/changes", "GET /api/v1/registry/changes?limit=none", "")
	ask("/api/v1/registry/changes", "GET /api/v1/registry/changes?order=newest", "")
	ask("/api/v1/registry/changes/{id}", "GET /api/v1/registry/changes/1", "")
	ask("/api/v1/registry/changes/{id}", "GET /api/v1/registry/changes/99", "")
	for _, query := range []string{"?dry_run=true", "", "?dry_run=1"} {
		// Conflicts, because it was changed since.
		ask("/api/v1/registry/changes/revert", "POST /api/v1/registry/changes/revert"+query, `{"set":1,"note":"n"}`)
		ask("/api/v1/registry/changes/revert", "POST /api/v1/registry/changes/revert"+query, `{"set":3,"note":"n"}`)
	}
	ask("/api/v1/names", "GET /api/v1/names?uri=urn:example:a&version=1", "")
	ask("/api/v1/names", "PUT /api/v1/names?uri=urn:example:new&dry_run=true", all)
	ask("/api/v1/registry/versions", "GET /api/v1/registry/versions", "")
	ask("/api/v1/tokens", "POST /api/v1/tokens", `{"name":"a","role":"reader"}`)
	ask("/api/v1/tokens/{id}", "DELETE /api/v1/tokens/{id}", "")
	ask("/api/v1/tokens", "POST /api/v1/tokens", `{}`)
	ask("/api/v1/tokens", "GET /api/v1/tokens", "")
	ask("/api/v1/names/supersede", "POST /api/v1/names/supersede",
		`{"names":["urn:example:a"],"successors":["urn:example:b"],"note":"n"}`)
	ask("/api/v1/names/supersede", "POST /api/v1/names/supersede", `{}`)
	ask("/api/v1/names/mint", "POST /api/v1/names/mint", `{"pattern":"urn:example:m-{counter}","count":2}`)
	ask("/api/v1/names/mint", "POST /api/v1/names/mint", `{}`)
	ask("/api/v1/sandboxes", "DELETE /api/v1/sandboxes?prefix=urn:example:", "")
	ask("/api/v1/sandboxes", "DELETE /api/v1/sandboxes", "")
	const jobsPath, one = "/api/v1/jobs", "/api/v1/jobs/{id}"
	done := func() {
		t.Helper()
		testserver.Wait(t, "the job is done", func() bool {
			r := httptest.NewRequest("GET", "/api/v1/jobs/"+job, nil)
			r.Host, r.RemoteAddr = "127.0.0.1:8142", "127.0.0.1:1"
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			var document struct{ State string }
			return json.NewDecoder(w.Body).Decode(&document) == nil && document.State == "done"
		})
	}
	const rewrite = `{"prefix":"urn:example:","replace":"https://c.example/","with":"https://d.example/"}`
	for _, query := range []string{"?dry_run=true", ""} {
		ask(jobsPath, "POST /api/v1/jobs"+query, rewrite)
		done()
		ask(one, "GET /api/v1/jobs/{id}", "")
		for _, format := range []string{"ndjson", "csv", "text", "none"} {
			ask(one+"/differences", "GET /api/v1/jobs/{id}/differences?format="+format, "")
		}
	}
	ask(jobsPath, "POST /api/v1/jobs?note=n", "name,target\nurn:example:j,https://a.example/\nx,y\n",
		"Content-Type: text/csv")
	ask(jobsPath, "POST /api/v1/jobs", "{}")
	ask(jobsPath, "POST /api/v1/jobs", strings.Repeat("a", 1001), "Content-Type: text/csv")
	done()
	ask(one, "GET /api/v1/jobs/{id}", "")
	ask(one+"/rejected", "GET /api/v1/jobs/{id}/rejected", "")
	ask(one, "DELETE /api/v1/jobs/{id}", "")
	ask(jobsPath, "GET /api/v1/jobs", "")
	if status := ask(one, "GET /api/v1/jobs/none", ""); status != 404 {
		t.Errorf("there is a job that is none: %d", status)
	}
	// A waiting job can be canceled; retry, because it may already run.
	for range 20 {
		ask(jobsPath, "POST /api/v1/jobs", strings.Repeat("x\n", 400), "Content-Type: text/csv")
		if ask(one, "DELETE /api/v1/jobs/{id}", "") == 202 {
			break
		}
	}
}
