//go:build e2e

package cache

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// versioned is an origin that serves "v1", "v2" and so on, according to version, with validators and in the
// requested language. If version is negative it fails. Responses are fresh for an hour and have the given Age.
type versioned struct {
	*urndtest.WebServer
	version, age atomic.Int64
}

func serveVersions(t *testing.T) *versioned {
	t.Helper()
	o := new(versioned)
	o.version.Store(1)
	o.WebServer = urndtest.ServeHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		v := o.version.Load()
		if v < 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		tag := fmt.Sprintf(`"%d%s"`, v, r.Header.Get("Accept-Language"))
		w.Header().Set("Age", strconv.FormatInt(o.age.Load(), 10))
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Etag", tag)
		w.Header().Set("Vary", "Accept-Language, Cookie")
		w.Header().Set("Cache-Tag", "all,"+strings.Trim(r.URL.Path, "/"))
		if r.URL.Path == "/private" && v > 1 {
			w.Header().Set("Cache-Control", "no-store")
		}
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, "v%d", v)
	})
	return o
}

// proxied sends a request to the proxy, and returns the first word of Cache-Status, the status and the body.
func proxied(t *testing.T, d *urndtest.Daemon, method, target string, fields ...string) string {
	t.Helper()
	got := d.Exchange(t, method+" "+target, fields...)
	word, _, _ := strings.Cut(strings.TrimPrefix(got.CacheStatus, "urnd; "), ";")
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", word, got.Status, strings.Join(strings.Fields(got.Body), "")))
}

// stored contains the responses shown by the admin interface.
type stored struct {
	Responses []struct {
		Status, Age, TTL, Size int
		ETag                   string
		Selecting              map[string]*string
		Where, Tags            []string
	}
}

// isAnHour reports whether the sum of an age and a remaining time, which is rounded down, is an hour.
func isAnHour(seconds int) bool { return seconds == 3600 || seconds == 3599 }

// lookup requests the stored responses of a URL from the admin interface.
func lookup(t *testing.T, d *urndtest.Daemon, target string) (all stored, body string) {
	t.Helper()
	status, body := d.AdminRequest(t, "GET /api/v1/responses?uri="+target)
	if err := json.Unmarshal([]byte(body), &all); err != nil || status != 200 {
		t.Fatalf("%d %v %s", status, err, body)
	}
	return all, body
}

func TestAdminPurgeResponses(t *testing.T) {
	t.Parallel()
	web := serveVersions(t)
	w := urndtest.Start(t, "127.0.0.1:9", urndtest.OpenLoopback)
	a, b := "http://"+web.Addr+"/a", "http://"+web.Addr+"/b"
	states := func() string {
		return strings.Join([]string{
			proxied(t, w, "GET", a), proxied(t, w, "GET", a, "Accept-Language: en"),
			proxied(t, w, "GET", b),
		}, ", ")
	}
	const hits = "hit 200 v1, hit 200 v1, hit 200 v1"
	for _, tt := range []struct {
		query  string
		purged int
		after  string
	}{
		{"uri=" + strings.ToUpper(a[:4]) + a[4:] + "%23x", 2, "fwd=stale 200 v1, fwd=stale 200 v1, hit 200 v1"},
		{"uri=" + a + "&mode=hard", 2, "fwd=uri-miss 200 v1, fwd=vary-miss 200 v1, hit 200 v1"},
		{"prefix=http://" + web.Addr + "/", 3, "fwd=stale 200 v1, fwd=stale 200 v1, fwd=stale 200 v1"},
		{"prefix=" + b + "&mode=hard", 1, "hit 200 v1, hit 200 v1, fwd=uri-miss 200 v1"},
		{"host=127.0.0.1", 3, "fwd=stale 200 v1, fwd=stale 200 v1, fwd=stale 200 v1"},
		{"host=" + web.Addr, 3, "fwd=stale 200 v1, fwd=stale 200 v1, fwd=stale 200 v1"},
		{"host=127.0.0.1:1", 0, hits},
		{"host=a.example", 0, hits},
		{"tag=b", 1, "hit 200 v1, hit 200 v1, fwd=stale 200 v1"},
		{"tag=all&mode=hard", 3, "fwd=uri-miss 200 v1, fwd=vary-miss 200 v1, fwd=uri-miss 200 v1"},
		{"tag=c", 0, hits},
		{"all=true", 3, "fwd=stale 200 v1, fwd=stale 200 v1, fwd=stale 200 v1"},
		{"uri=http://a.example/&mode=refresh", 0, hits},
	} {
		states()
		if got := states(); got != hits {
			t.Fatalf("before %s: %s", tt.query, got)
		}
		status, body := w.AdminRequest(t, "DELETE /api/v1/responses?"+tt.query)
		if want := fmt.Sprintf("{\n  \"purged\": %d\n}\n", tt.purged); status != 200 || body != want {
			t.Errorf("%s: %d %s", tt.query, status, body)
		}
		if got := states(); got != tt.after {
			t.Errorf("%s: %s", tt.query, got)
		}
	}
}

// TestAdminRefreshResponses checks that a refresh applies to all variants, and keeps stored responses if the
// origin fails.
func TestAdminRefreshResponses(t *testing.T) {
	t.Parallel()
	web := serveVersions(t)
	w := urndtest.Start(t, "127.0.0.1:9", urndtest.OpenLoopback)
	target := "http://" + web.Addr + "/a"
	states := func() string {
		return proxied(t, w, "GET", target) + ", " +
			proxied(t, w, "GET", target, "Accept-Language: en", "Cookie: secret=1")
	}
	refresh := func(of string, status int, part string) {
		t.Helper()
		if got, body := w.AdminRequest(t, "DELETE /api/v1/responses?mode=refresh&uri="+of); got != status ||
			!strings.Contains(body, part) {
			t.Errorf("%d %s", got, body)
		}
	}
	states()
	web.version.Store(2)
	if got := states(); got != "hit 200 v1, hit 200 v1" {
		t.Error(got)
	}
	web.age.Store(3000)
	refresh(target, 200, `"purged": 2`)
	if got, requested := states(), web.Requests.Load(); got != "hit 200 v2, hit 200 v2" || requested != 4 {
		t.Errorf("%s; the origin was asked %d times", got, requested)
	}
	ages := func(want func(age int) bool) {
		t.Helper()
		all, body := lookup(t, w, target)
		for _, response := range all.Responses {
			if len(all.Responses) != 2 || !want(response.Age) || !isAnHour(response.Age+response.TTL) {
				t.Errorf("%s", body)
			}
		}
	}
	ages(func(age int) bool { return age >= 3000 })
	web.age.Store(0)
	refresh(target, 200, `"purged": 2`) // unchanged responses are validated
	ages(func(age int) bool { return age < 3000 })
	if got := states(); got != "hit 200 v2, hit 200 v2" {
		t.Error(got)
	}
	web.version.Store(-1)
	refresh(target, 502, "0 of 2 stored responses were fetched again")
	if got := states(); got != "hit 200 v2, hit 200 v2" {
		t.Errorf("after a refresh that failed: %s", got)
	}
	web.version.Store(3)
	w.Reload(t, func(c *config.Config) {
		c.Proxy.Policy, c.Proxy.Rules = "enforce", []config.ProxyRule{{ID: "all", Action: "deny"}}
	})
	refresh(target, 200, `"purged": 2`) // rules are for clients
	w.Reload(t, func(c *config.Config) { c.Proxy.Policy = "report" })
	testserver.Wait(t, "the rules are off again", func() bool { return states() == "hit 200 v3, hit 200 v3" })
	web.version.Store(1)
	private := "http://" + web.Addr + "/private"
	proxied(t, w, "GET", private)
	web.version.Store(2)
	refresh(private, 200, `"purged": 1`)
	if got := proxied(t, w, "GET", private); got != "fwd=stale 200 v2" {
		t.Errorf("a response that may not be stored any more: %s", got)
	}
}

// TestAdminRefreshOfGateway checks that a site for which urnd is the gateway is refreshed from its server.
func TestAdminRefreshOfGateway(t *testing.T) {
	t.Parallel()
	web := serveVersions(t)
	w := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Proxy.Sites = []config.Site{{Hosts: []string{"www.example.org"}, Servers: []string{"http://" + web.Addr}}}
	})
	if got := w.Get(t, "/a", "Host: www.example.org"); got.Body != "v1" {
		t.Fatalf("%+v", got)
	}
	web.version.Store(2)
	if status, body := w.AdminRequest(t,
		"DELETE /api/v1/responses?mode=refresh&uri=http://WWW.example.org/a"); status != 200 || !strings.Contains(body,
		`"purged": 1`) {
		t.Errorf("%d %s", status, body)
	}
	if got := w.Get(t, "/a", "Host: www.example.org"); got.Body != "v2" ||
		!strings.HasPrefix(got.CacheStatus, "urnd; hit") {
		t.Errorf("%+v", got)
	}
}

func TestAdminLookupResponses(t *testing.T) {
	t.Parallel()
	web := serveVersions(t)
	directory := t.TempDir()
	w := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Cache.Disk, c.Cache.DiskDirectory = 64<<20, directory
	})
	target := "http://" + web.Addr + "/a"
	web.age.Store(100)
	proxied(t, w, "GET", target, "Accept-Language: en", "Cookie: secret=1")
	web.age.Store(0)
	proxied(t, w, "GET", target)
	document, body := lookup(t, w, target)
	if len(document.Responses) != 2 {
		t.Fatal(body)
	}
	last, first := document.Responses[0], document.Responses[1]
	if first.Status != 200 || first.Age < 100 || !isAnHour(first.Age+first.TTL) || first.Size != 2 ||
		first.ETag != `"1en"` || *first.Selecting["Accept-Language"] != "en" ||
		strings.Join(first.Tags, " ") != "all a" || len(first.Where) == 0 || first.Where[0] != "memory" ||
		strings.Contains(body, "secret") {
		t.Errorf("%s", body)
	}
	if value, ok := last.Selecting["Accept-Language"]; last.Age >= 100 || !ok || value != nil {
		t.Errorf("%s", body)
	}
	if status, body := w.AdminRequest(t, "GET /api/v1/responses?uri="+target+"x"); status != 200 ||
		body != "{\n  \"responses\": []\n}\n" {
		t.Errorf("%d %s", status, body)
	}
	if _, body := w.AdminRequest(t, "GET /api/v1/cache"); !strings.Contains(body, `"responses": {`) ||
		!strings.Contains(body, `"disk": {`) {
		t.Errorf("%s", body)
	}
}

// TestMethodPURGE checks that PURGE by an authorized client makes all variants of a URL require validation.
func TestMethodPURGE(t *testing.T) {
	t.Parallel()
	web := serveVersions(t)
	target := "http://" + web.Addr + "/a"
	w := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Proxy.Sites = []config.Site{{Hosts: []string{"www.example.org"}, Servers: []string{"http://" + web.Addr}}}
		c.Listen.Names = []string{"www.example.org"} // with other names loopback has no privileges: DNS rebinding
	})
	if got := proxied(t, w, "PURGE", target); got != `404 {"purged":0}` {
		t.Error(got)
	}
	proxied(t, w, "GET", target)
	proxied(t, w, "GET", target, "Accept-Language: en")
	if got := proxied(t, w, "PURGE", target); got != `200 {"purged":2}` {
		t.Error(got)
	}
	if got := proxied(t, w, "GET", target) + ", " +
		proxied(t, w, "GET", target); got != "fwd=stale 200 v1, hit 200 v1" {
		t.Error(got)
	}
	requested := web.Requests.Load()
	w.Get(t, "/a", "Host: www.example.org")
	if got := w.Exchange(t, "PURGE /a", "Host: www.example.org"); got.Status != 200 ||
		!strings.Contains(got.Body, `"purged": 1`) {
		t.Errorf("of a gateway: %+v", got)
	}
	if now := web.Requests.Load(); now != requested+1 {
		t.Errorf("the origin was asked for PURGE: %d", now-requested)
	}
	locked := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Access.PurgeClients = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	proxied(t, locked, "GET", target)
	if got := proxied(t, locked, "PURGE", target); !strings.HasPrefix(got, "403 ") {
		t.Errorf("an unauthorized client: %s", got)
	}
	if got := proxied(t, locked, "GET", target); got != "hit 200 v1" {
		t.Errorf("after it: %s", got)
	}
}
