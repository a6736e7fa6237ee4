//go:build e2e

package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

func TestAdminPurge(t *testing.T) {
	t.Parallel()
	w := urndtest.Start(t, urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule)).Serve(t), nil)
	paths := []string{
		"/urn:isbn:0-395-36341-1", "/uri-res/N2Ls?urn:isbn:0-395-36341-1", "/urn:name:1", "/urn:name:12",
		"/urn:name:1?+a=b", "/urn:ietf:rfc:2648",
	}
	for _, tt := range []struct {
		query  string
		purged int
		left   string
	}{
		{"uri=URN:ISBN:0395363411&mode=hard", 2, "miss miss hit hit hit hit"},
		{"uri=urn:isbn:9780395363416&mode=hard", 0, "hit hit hit hit hit hit"}, // another name of the book
		{"uri=URN:Name:1&mode=hard", 2, "hit hit miss hit miss hit"},
		{"uri=urn:name:1%3F%2Ba=b&mode=hard", 2, "hit hit miss hit miss hit"},
		{"uri=urn:name:2&mode=hard", 0, "hit hit hit hit hit hit"},
		{"namespace=ISBN&mode=hard", 2, "miss miss hit hit hit hit"},
		{"namespace=name&mode=hard", 3, "hit hit miss miss miss hit"},
		{"namespace=nam&mode=hard", 0, "hit hit hit hit hit hit"},
		{"prefix=urn:name:1&mode=hard", 3, "hit hit miss miss miss hit"},
		{"prefix=urn:name:12&mode=hard", 1, "hit hit hit miss hit hit"},
		{"prefix=urn:", 6, "miss miss miss miss miss miss"},
		{"all=true&mode=hard", 6, "miss miss miss miss miss miss"},
	} {
		w.CacheStates(t, paths...)
		status, body := w.AdminRequest(t, "DELETE /api/v1/cache/entries?"+tt.query)
		if want := fmt.Sprintf("{\n  \"purged\": %d\n}\n", tt.purged); status != 200 || body != want {
			t.Errorf("%s: %d %s", tt.query, status, body)
		}
		if left := w.CacheStates(t, paths...); left != tt.left {
			t.Errorf("%s: %s, want %s", tt.query, left, tt.left)
		}
	}
	for _, query := range []string{
		"", "uri=urn:a", "uri=urn:isbn:0395363412", "uri=urn:name:1&all=true", "all=false",
		"namespace=a_b",
	} {
		if status, body := w.AdminRequest(t, "DELETE /api/v1/cache/entries?"+query); status != 400 {
			t.Errorf("%q: %d %s", query, status, body)
		}
	}
	if left := w.CacheStates(t, paths...); left != "hit hit hit hit hit hit" {
		t.Errorf("after the rejected request: %s", left)
	}
}

func TestAdminLookup(t *testing.T) {
	t.Parallel()
	w := urndtest.Start(t, urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule)).Serve(t), nil)
	w.CacheStates(t, "/urn:isbn:0-395-36341-1", "/uri-res/N2Ls?urn:isbn:0-395-36341-1", "/urn:none:1", "/urn:name:1",
		"/urn:name:12")
	for name, want := range map[string]string{
		"URN:ISBN:0-395-36341-1": "urn:isbn:0395363411 86400, urn:isbn:0395363411 I2Ls 86400",
		"urn:isbn:0395363411":    "urn:isbn:0395363411 86400, urn:isbn:0395363411 I2Ls 86400",
		"urn:name:1":             "urn:name:1 60", "urn:name:3": "", "urn:none:1": "urn:none:1 60 name not found",
	} {
		if got := lookUp(t, w, name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	testserver.Wait(t, "the TTL goes down", func() bool { return ttlOf(t, w, "urn:name:1") < 60 })
}

// cacheEntries is the response of the admin listener about the cached answers for a name.
type cacheEntries struct {
	Entries []struct {
		Key       string
		TTL       int
		Locations []struct{ URI, Source string }
		No        string
	}
}

func entriesOf(t *testing.T, w *urndtest.Daemon, name string) (all cacheEntries) {
	t.Helper()
	status, body := w.AdminRequest(t, "GET /api/v1/cache/entries?uri="+name)
	if err := json.Unmarshal([]byte(body), &all); err != nil || status != 200 {
		t.Fatalf("%s: %d %v %s", name, status, err, body)
	}
	return all
}

func ttlOf(t *testing.T, w *urndtest.Daemon, name string) int {
	t.Helper()
	return entriesOf(t, w, name).Entries[0].TTL
}

// lookUp returns the keys of the cached answers for a name with their original TTLs, and the reasons of
// negative answers. A TTL has decreased by a few seconds since.
func lookUp(t *testing.T, w *urndtest.Daemon, name string) string {
	t.Helper()
	var found []string
	for _, e := range entriesOf(t, w, name).Entries {
		for _, first := range []int{60, 86400} {
			if lost := first - e.TTL; lost >= 0 && lost < 60 {
				e.TTL = first
				break
			}
		}
		no, _, _ := strings.Cut(e.No, ":")
		found = append(found, strings.TrimSpace(fmt.Sprintf("%s %d %s", e.Key, e.TTL, no)))
		if (len(e.Locations) > 0) == (e.No != "") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	return strings.Join(found, ", ")
}

// TestAdminPurgeSoftly checks that softly purged answers are served while their source fails, and that others
// are not.
func TestAdminPurgeSoftly(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		if fails.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		redirect(w, "https://a.example/")
	})
	w := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://" + web.addr}}}
	})
	get := func(status int, cacheStatus string) {
		t.Helper()
		if got := w.Get(t, "/urn:book:1"); got.Status != status ||
			!regexp.MustCompile("^"+cacheStatus).MatchString(got.CacheStatus) {
			t.Errorf("%+v", got)
		}
	}
	get(302, "urnd; fwd=uri-miss")
	w.AdminRequest(t, "DELETE /api/v1/cache/entries?uri=urn:book:1")
	get(302, "urnd; fwd=uri-miss")
	if n := web.requests.Load(); n != 2 {
		t.Errorf("the source was asked %d times", n)
	}
	fails.Store(true)
	get(302, `urnd; hit; ttl=(300|2\d\d)$`)
	w.AdminRequest(t, "DELETE /api/v1/cache/entries?namespace=book")
	get(302, "urnd; hit; detail=stale-on-error; ttl=0")
	if _, body := w.AdminRequest(t, "GET /api/v1/cache/entries?uri=urn:book:1"); !strings.Contains(body, `"ttl": 0`) {
		t.Errorf("stale: %s", body)
	}
	w.AdminRequest(t, "DELETE /api/v1/cache/entries?uri=URN:BOOK:1&mode=hard")
	get(502, "")
}

// readiness returns the status and the reasons of /readyz.
func readiness(t *testing.T, w *urndtest.Daemon) string {
	t.Helper()
	status, body := w.AdminRequest(t, "GET /readyz")
	var document struct {
		Status            string
		Unready, Degraded []string
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s: %s; %s", status, document.Status, strings.Join(document.Unready, ", "),
		strings.Join(document.Degraded, ", "))
}

func TestAdminReadiness(t *testing.T) {
	t.Parallel()
	good := urndtest.Zone(t, urndtest.ExampleRule)
	var fails atomic.Bool
	w := urndtest.Start(t, urndtest.UDPAndTCP(func(rw dns.ResponseWriter, q *dns.Msg) {
		if !fails.Load() {
			good(rw, q)
		}
	}).Serve(t), func(c *config.Config) {
		c.DNS.Timeout, c.Cache.RetryAfter, c.Resolve.Backoff = 400*time.Millisecond, time.Second, 0
	})
	expect := func(want string) {
		t.Helper()
		if got := readiness(t, w); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	requested := 0
	answered := func() bool {
		requested++
		w.Get(t, fmt.Sprintf("/urn:three-%d:1", requested)) // another namespace, which is not cached
		return readiness(t, w) == "200 ready: ; "
	}
	testserver.Wait(t, "the DNS has answered", answered)
	fails.Store(true)
	w.Get(t, "/urn:one:1")
	expect(`^200 ready: ; no DNS server has responded since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ: check whether they are reachable$`)
	fails.Store(false)
	testserver.Wait(t, "a probe has found that the DNS answers again",
		func() bool { return readiness(t, w) == "200 ready: ; " })
	before := w.Config.DNS
	if reload(t, w, func(c *config.Config) { c.DNS.Timeout, c.DNS.Rounds = -1, -1 }) {
		t.Error("a configuration with faults is taken")
	}
	// The first of several errors.
	expect(`^200 ready: ; configuration reload failed, keeping the previous one: \S+/urnd\.yaml:\d+:\d+: dns\.rounds: -1 is not between 1 and 10$`)
	if !reload(t, w, func(c *config.Config) { c.DNS = before }) {
		t.Error("a good configuration is refused")
	}
	expect("^200 ready: ; $")
	w.ExpectMetrics(t, `config_reloads_total{outcome="failure"} 1`, `config_reloads_total{outcome="success"} 1`,
		"config_last_reload_successful 1")
}

// TestAdminReadinessAtTheEnd checks that /readyz reports not ready while urnd waits for its last requests.
func TestAdminReadinessAtTheEnd(t *testing.T) {
	t.Parallel()
	requested, answer := make(chan struct{}), make(chan struct{})
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		close(requested)
		<-answer
		redirect(w, "https://a.example/")
	})
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release)
	w := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://" + web.addr}}}
	})
	var last sync.WaitGroup
	last.Go(func() {
		if got := w.Get(t, "/urn:book:1"); got.Status != 302 {
			t.Errorf("the last request: %+v", got)
		}
	})
	<-requested
	var stopping sync.WaitGroup
	stopping.Go(w.Stop)
	testserver.Wait(t, "the readiness is refused because urnd is stopping", func() bool {
		return strings.HasPrefix(readiness(t, w),
			"503 not ready: urnd is stopping; ")
	})
	release()
	last.Wait()
	stopping.Wait()
}
