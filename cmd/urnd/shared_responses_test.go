package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// sharing returns a change of a configuration to one with a second level.
func sharing(t *testing.T, server *testserver.Redis) func(*config.Config) {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(c *config.Config) {
		openLoopback(c)
		c.Cache.Shared, c.Cache.SharedKey, c.Cache.SharedTimeout = server.URL(), key, config.Default().Cache.SharedTimeout*100
	}
}

// awaitShared returns when an urnd uses its second level.
func awaitShared(t *testing.T, all ...*testDaemon) {
	t.Helper()
	for _, w := range all {
		w.waitForLog(t, "the shared level of caches is used")
	}
}

// taggedOrigin serves its path, and counts what it is asked. It has the clock of tests.
func taggedOrigin(t *testing.T) (web *webServer, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	date := new(clock).now().UTC().Format(http.TimeFormat)
	return serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Date", date)
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Etag", `"1"`)
		w.Header().Set("Cache-Tag", "all,"+strings.Trim(r.URL.Path, "/"))
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, r.URL.Path)
	}), asked
}

// sharedCount returns how many responses an urnd has stored in the second level, or found there.
func (w *testDaemon) sharedCount(t *testing.T, outcome string) int {
	t.Helper()
	_, body := w.adminRequest(t, "GET /metrics")
	count := 0
	for line := range strings.Lines(body) {
		_, _ = fmt.Sscanf(line, `urnd_cache_lookups_total{cache="shared",outcome="`+outcome+`"} %d`, &count)
	}
	return count
}

// put lets an urnd load a response, and returns when it is in the second level.
func (w *testDaemon) put(t *testing.T, target string) {
	t.Helper()
	before := w.sharedCount(t, "written")
	if got := w.proxied(t, "GET", target); !strings.HasPrefix(got, "fwd=") {
		t.Fatalf("%s: %s", target, got)
	}
	testserver.Wait(t, "the response is in the second level", func() bool { return w.sharedCount(t, "written") > before })
}

// What one urnd has loaded the others do not ask the origin for; and a purge at one of them is one at all.
func TestSharedResponses(t *testing.T) {
	server := testserver.StartRedis(t)
	web, asked := taggedOrigin(t)
	change := sharing(t, server)
	a, b := startDaemon(t, "127.0.0.1:9", 0, change), startDaemon(t, "127.0.0.1:9", 0, change)
	awaitShared(t, a, b)
	one, two := "http://"+web.addr+"/one", "http://"+web.addr+"/two"
	for _, target := range []string{one, two} {
		a.put(t, target)
		if got := b.proxied(t, "GET", target); !strings.HasPrefix(got, "hit 200 /") {
			t.Errorf("b answers %s", got)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("the origin was asked %d times, want 2", asked.Load())
	}
	for _, test := range []struct {
		purge string
		two   string // what b answers for the other one
	}{
		{"uri=" + one, "hit"},
		{"uri=" + one + "&mode=hard", "hit"},
		{"prefix=" + one, "hit"},
		{"host=" + web.addr, "fwd=stale"},
		{"tag=one&mode=hard", "hit"},
		{"all=true", "fwd=stale"},
	} {
		if status, body := a.adminRequest(t, "DELETE /api/v1/responses?"+test.purge); status != 200 {
			t.Fatalf("%s: %d %s", test.purge, status, body)
		}
		testserver.Wait(t, "b knows of "+test.purge, func() bool {
			_, body := b.adminRequest(t, "GET /api/v1/responses?uri="+one)
			return strings.Contains(body, `"purged": true`) || !strings.Contains(body, `"status"`)
		})
		before := asked.Load()
		if got := b.proxied(t, "GET", two); !strings.HasPrefix(got, test.two) {
			t.Errorf("%s: b answers %s for what is not purged", test.purge, got)
		}
		if got := b.proxied(t, "GET", one); !strings.HasPrefix(got, "fwd=") || asked.Load() == before {
			t.Errorf("%s: b answers %s", test.purge, got)
		}
		for _, target := range []string{one, two} {
			a.proxied(t, "GET", target)
			b.proxied(t, "GET", target)
		}
	}
}

// A purge reaches an urnd that did not run, and leaves the rest of what it has on disk.
func TestPurgeOfResponsesOnDisk(t *testing.T) {
	server := testserver.StartRedis(t)
	web, asked := taggedOrigin(t)
	change := sharing(t, server)
	directory := t.TempDir()
	onDisk := func(c *config.Config) {
		change(c)
		c.Cache.Disk, c.Cache.DiskDirectory = 100<<20, directory
	}
	a, b := startDaemon(t, "127.0.0.1:9", 0, change), startDaemon(t, "127.0.0.1:9", 0, onDisk)
	awaitShared(t, a, b)
	one, two := "http://"+web.addr+"/one", "http://"+web.addr+"/two"
	b.put(t, one)
	b.put(t, two)
	if status, body := a.adminRequest(t, "DELETE /api/v1/responses?tag=other"); status != 200 {
		t.Fatal(status, body)
	}
	testserver.Wait(t, "b has saved where it is", func() bool {
		text, _ := os.ReadFile(filepath.Join(directory, "purges.json"))
		return strings.Contains(string(text), `"number":2`)
	})
	b.stop()
	if status, body := a.adminRequest(t, "DELETE /api/v1/responses?tag=one"); status != 200 {
		t.Fatal(status, body)
	}
	b = startDaemon(t, "127.0.0.1:9", 0, onDisk)
	awaitShared(t, b)
	asked.Store(0)
	if got := b.proxied(t, "GET", two); !strings.HasPrefix(got, "hit") || asked.Load() != 0 {
		t.Errorf("what was not purged: %s", got)
	}
	if got := b.proxied(t, "GET", one); got != "fwd=stale 200 /one" || asked.Load() != 1 {
		t.Errorf("what was purged: %s", got)
	}
	server.Stop()
	server.Start()
	testserver.Wait(t, "b knows that purges may be lost", func() bool {
		_, body := b.adminRequest(t, "GET /api/v1/responses?uri="+two)
		return strings.Contains(body, `"purged": true`)
	})
}
