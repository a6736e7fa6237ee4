//go:build e2e

package machines

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// sharing returns a change that configures a second-level cache.
func sharing(t *testing.T, server *testserver.Redis) func(*config.Config) {
	t.Helper()
	key := writeTemp(t, "key", strings.Repeat("k", 32))
	return func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Cache.Shared, c.Cache.SharedKey, c.Cache.SharedTimeout = server.URL(), key,
			config.Default().Cache.SharedTimeout*100
	}
}

// awaitShared waits until all instances use their second level.
func awaitShared(t *testing.T, all ...instance) {
	t.Helper()
	for _, w := range all {
		w.WaitForLog(t, "shared cache available")
	}
}

// taggedOrigin serves its path, and counts requests.
func taggedOrigin(t *testing.T) (url string, requested *atomic.Int64) {
	t.Helper()
	requested = new(atomic.Int64)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested.Add(1)
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Etag", `"1"`)
		w.Header().Set("Cache-Tag", "all,"+strings.Trim(r.URL.Path, "/"))
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, r.URL.Path)
	}))
	t.Cleanup(web.Close)
	return web.URL, requested
}

// sharedCount returns the number of responses that an urnd has stored or found in the second level.
func (w instance) sharedCount(t *testing.T, outcome string) int {
	t.Helper()
	count := 0
	for line := range strings.Lines(w.Scrape(t)) {
		_, _ = fmt.Sscanf(line, `urnd_cache_lookups_total{cache="shared",outcome="`+outcome+`"} %d`, &count)
	}
	return count
}

// put makes an urnd load a response, and waits until it is in the second level.
func (w instance) put(t *testing.T, target string) {
	t.Helper()
	before := w.sharedCount(t, "written")
	if got := w.proxied(t, "GET", target); !strings.HasPrefix(got, "fwd=") {
		t.Fatalf("%s: %s", target, got)
	}
	testserver.Wait(t, "the response is in the second level",
		func() bool { return w.sharedCount(t, "written") > before })
}

// TestSharedResponses checks that a response loaded by one urnd is not requested from the origin by others, and
// that a purge at one applies to all.
func TestSharedResponses(t *testing.T) {
	t.Parallel()
	server := testserver.StartRedis(t)
	origin, requested := taggedOrigin(t)
	change := sharing(t, server)
	a, b := startInstance(t, "127.0.0.1:9", change), startInstance(t, "127.0.0.1:9", change)
	awaitShared(t, a, b)
	one, two := origin+"/one", origin+"/two"
	for _, target := range []string{one, two} {
		a.put(t, target)
		if got := b.proxied(t, "GET", target); !strings.HasPrefix(got, "hit 200 /") {
			t.Errorf("b answers %s", got)
		}
	}
	if requested.Load() != 2 {
		t.Errorf("the origin was asked %d times, want 2", requested.Load())
	}
	for _, test := range []struct {
		purge string
		two   string // result of b for the other response
	}{
		{"uri=" + one, "hit"},
		{"uri=" + one + "&mode=hard", "hit"},
		{"prefix=" + one, "hit"},
		{"host=" + strings.TrimPrefix(origin, "http://"), "fwd=stale"},
		{"tag=one&mode=hard", "hit"},
		{"all=true", "fwd=stale"},
	} {
		a.purge(t, "responses?"+test.purge)
		testserver.Wait(t, "b knows of "+test.purge, func() bool {
			_, body := b.AdminRequest(t, "GET /api/v1/responses?uri="+one)
			return strings.Contains(body, `"purged": true`) || !strings.Contains(body, `"status"`)
		})
		before := requested.Load()
		if got := b.proxied(t, "GET", two); !strings.HasPrefix(got, test.two) {
			t.Errorf("%s: b answers %s for a response that is not purged", test.purge, got)
		}
		if got := b.proxied(t, "GET", one); !strings.HasPrefix(got, "fwd=") || requested.Load() == before {
			t.Errorf("%s: b answers %s", test.purge, got)
		}
		for _, target := range []string{one, two} {
			a.proxied(t, "GET", target)
			b.proxied(t, "GET", target)
		}
	}
}

// TestPurgeOfResponsesOnDisk checks that a purge reaches an urnd that was not running, and keeps its other
// entries on disk.
func TestPurgeOfResponsesOnDisk(t *testing.T) {
	t.Parallel()
	server := testserver.StartRedis(t)
	origin, requested := taggedOrigin(t)
	change := sharing(t, server)
	directory := t.TempDir()
	onDisk := func(c *config.Config) {
		change(c)
		c.Cache.Disk, c.Cache.DiskDirectory = 100<<20, directory
	}
	a, b := startInstance(t, "127.0.0.1:9", change), startInstance(t, "127.0.0.1:9", onDisk)
	awaitShared(t, a, b)
	one, two := origin+"/one", origin+"/two"
	b.put(t, one)
	b.put(t, two)
	a.purge(t, "responses?tag=other")
	testserver.Wait(t, "b has saved where it is", func() bool {
		text, _ := os.ReadFile(filepath.Join(directory, "purges.json"))
		return strings.Contains(string(text), `"number":2`)
	})
	b.Stop()
	a.purge(t, "responses?tag=one")
	b = startInstance(t, "127.0.0.1:9", onDisk)
	awaitShared(t, b)
	requested.Store(0)
	if got := b.proxied(t, "GET", two); !strings.HasPrefix(got, "hit") || requested.Load() != 0 {
		t.Errorf("not purged: %s", got)
	}
	if got := b.proxied(t, "GET", one); got != "fwd=stale 200 /one" || requested.Load() != 1 {
		t.Errorf("purged: %s", got)
	}
	server.Stop()
	server.Start()
	testserver.Wait(t, "b knows that purges may be lost", func() bool {
		_, body := b.AdminRequest(t, "GET /api/v1/responses?uri="+two)
		return strings.Contains(body, `"purged": true`)
	})
}
