package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// versionedOrigin serves "v1", "v2" and so on by the value of version, with validators, in the
// language that is asked for. Where version is negative it fails. Its clock must be set.
func versionedOrigin(t *testing.T, version *atomic.Int64) (web *webServer, setClock func(now func() time.Time)) {
	t.Helper()
	var now atomic.Pointer[func() time.Time]
	setClock = func(f func() time.Time) { now.Store(&f) }
	web = serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		v := version.Load()
		if v < 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		tag := fmt.Sprintf(`"%d%s"`, v, r.Header.Get("Accept-Language"))
		w.Header().Set("Date", (*now.Load())().UTC().Format(http.TimeFormat))
		w.Header().Set("Cache-Control", "max-age=60")
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
	return web, setClock
}

// proxied sends a request to the proxy, and returns the first word of Cache-Status, the status and the
// body.
func (d *testService) proxied(t *testing.T, method, target string, fields ...string) string {
	t.Helper()
	at, err := url.Parse(d.url)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(method, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		request.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at), DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(response.Header.Get("Cache-Status"), "urnd; "), ";")
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", word, response.StatusCode, strings.Join(strings.Fields(string(body)), "")))
}

func TestAdminPurgeResponses(t *testing.T) {
	var version atomic.Int64
	version.Store(1)
	web, setClock := versionedOrigin(t, &version)
	w := startDaemon(t, "127.0.0.1:9", 0, openLoopback)
	setClock(w.clock.now)
	a, b := "http://"+web.addr+"/a", "http://"+web.addr+"/b"
	states := func() string {
		return strings.Join([]string{w.proxied(t, "GET", a), w.proxied(t, "GET", a, "Accept-Language: en"), w.proxied(t, "GET", b)}, ", ")
	}
	const hits = "hit 200 v1, hit 200 v1, hit 200 v1"
	for _, tt := range []struct {
		query  string
		purged int
		after  string
	}{
		{"uri=" + strings.ToUpper(a[:4]) + a[4:] + "%23x", 2, "fwd=stale 200 v1, fwd=stale 200 v1, hit 200 v1"},
		{"uri=" + a + "&mode=hard", 2, "fwd=uri-miss 200 v1, fwd=vary-miss 200 v1, hit 200 v1"},
		{"prefix=http://" + web.addr + "/", 3, "fwd=stale 200 v1, fwd=stale 200 v1, fwd=stale 200 v1"},
		{"prefix=" + b + "&mode=hard", 1, "hit 200 v1, hit 200 v1, fwd=uri-miss 200 v1"},
		{"host=127.0.0.1", 3, "fwd=stale 200 v1, fwd=stale 200 v1, fwd=stale 200 v1"},
		{"host=" + web.addr, 3, "fwd=stale 200 v1, fwd=stale 200 v1, fwd=stale 200 v1"},
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
		status, body := w.adminRequest(t, "DELETE /api/v1/responses?"+tt.query)
		if want := fmt.Sprintf("{\n  \"purged\": %d\n}\n", tt.purged); status != 200 || body != want {
			t.Errorf("%s: %d %s", tt.query, status, body)
		}
		if got := states(); got != tt.after {
			t.Errorf("%s: %s", tt.query, got)
		}
	}
}

// A refresh reaches all variants, and leaves what is stored where the origin fails.
func TestAdminRefreshResponses(t *testing.T) {
	var version atomic.Int64
	version.Store(1)
	web, setClock := versionedOrigin(t, &version)
	w := startDaemon(t, "127.0.0.1:9", 0, openLoopback)
	setClock(w.clock.now)
	target := "http://" + web.addr + "/a"
	states := func() string {
		return w.proxied(t, "GET", target) + ", " + w.proxied(t, "GET", target, "Accept-Language: en", "Cookie: secret=1")
	}
	refresh := func(of string, status int, part string) {
		t.Helper()
		if got, body := w.adminRequest(t, "DELETE /api/v1/responses?mode=refresh&uri="+of); got != status || !strings.Contains(body, part) {
			t.Errorf("%d %s", got, body)
		}
	}
	states()
	version.Store(2)
	if got := states(); got != "hit 200 v1, hit 200 v1" {
		t.Error(got)
	}
	refresh(target, 200, `"purged": 2`)
	if got, asked := states(), web.asked.Load(); got != "hit 200 v2, hit 200 v2" || asked != 4 {
		t.Errorf("%s; the origin was asked %d times", got, asked)
	}
	w.clock.advance(50 * time.Second)
	refresh(target, 200, `"purged": 2`) // what has not changed is validated
	w.clock.advance(50 * time.Second)
	if got := states(); got != "hit 200 v2, hit 200 v2" {
		t.Error(got)
	}
	version.Store(-1)
	refresh(target, 502, "0 of 2 stored responses were fetched again")
	if got := states(); got != "hit 200 v2, hit 200 v2" {
		t.Errorf("after a refresh that failed: %s", got)
	}
	version.Store(3)
	w.config.Proxy.Policy, w.config.Proxy.Rules = "enforce", []config.ProxyRule{{ID: "all", Action: "deny"}}
	w.hangups <- syscall.SIGHUP
	w.waitForLog(t, "was reloaded")
	refresh(target, 200, `"purged": 2`) // rules are for clients
	w.config.Proxy.Policy = "report"
	w.hangups <- syscall.SIGHUP
	testserver.Wait(t, "the rules are off again", func() bool { return states() == "hit 200 v3, hit 200 v3" })
	version.Store(1)
	private := "http://" + web.addr + "/private"
	w.proxied(t, "GET", private)
	version.Store(2)
	refresh(private, 200, `"purged": 1`)
	if got := w.proxied(t, "GET", private); got != "fwd=stale 200 v2" {
		t.Errorf("a response that may not be stored any more: %s", got)
	}
}

// A site that urnd is the gateway of is refreshed from its server.
func TestAdminRefreshOfGateway(t *testing.T) {
	var version atomic.Int64
	version.Store(1)
	web, setClock := versionedOrigin(t, &version)
	w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) {
		openLoopback(c)
		c.Proxy.Origins = []config.Site{{Host: "www.example.org", Servers: []string{"http://" + web.addr}}}
	})
	setClock(w.clock.now)
	if got := w.get(t, "/a", "Host: www.example.org"); got.body != "v1" {
		t.Fatalf("%+v", got)
	}
	version.Store(2)
	if status, body := w.adminRequest(t, "DELETE /api/v1/responses?mode=refresh&uri=http://WWW.example.org/a"); status != 200 || !strings.Contains(body,
		`"purged": 1`) {
		t.Errorf("%d %s", status, body)
	}
	if got := w.get(t, "/a", "Host: www.example.org"); got.body != "v2" || !strings.HasPrefix(got.cacheStatus, "urnd; hit") {
		t.Errorf("%+v", got)
	}
}

func TestAdminLookupResponses(t *testing.T) {
	var version atomic.Int64
	version.Store(1)
	web, setClock := versionedOrigin(t, &version)
	directory := t.TempDir()
	w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) {
		openLoopback(c)
		c.Cache.Disk, c.Cache.DiskDirectory = 64<<20, directory
	})
	setClock(w.clock.now)
	target := "http://" + web.addr + "/a"
	w.proxied(t, "GET", target, "Accept-Language: en", "Cookie: secret=1")
	w.clock.advance(10 * time.Second)
	w.proxied(t, "GET", target)
	status, body := w.adminRequest(t, "GET /api/v1/responses?uri="+target)
	var document struct {
		Responses []struct {
			Status, Age, TTL, Size int
			ETag                   string
			Selecting              map[string]*string
			Where, Tags            []string
		}
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil || status != 200 || len(document.Responses) != 2 {
		t.Fatalf("%d %v %s", status, err, body)
	}
	last, first := document.Responses[0], document.Responses[1]
	if first.Status != 200 || first.Age != 10 || first.TTL != 50 || first.Size != 2 || first.ETag != `"1en"` || *first.Selecting["Accept-Language"] != "en" ||
		strings.Join(first.Tags, " ") != "all a" || len(first.Where) == 0 || first.Where[0] != "memory" || strings.Contains(body, "secret") {
		t.Errorf("%s", body)
	}
	if value, ok := last.Selecting["Accept-Language"]; last.Age != 0 || !ok || value != nil {
		t.Errorf("%s", body)
	}
	if status, body := w.adminRequest(t, "GET /api/v1/responses?uri="+target+"x"); status != 200 || body != "{\n  \"responses\": []\n}\n" {
		t.Errorf("%d %s", status, body)
	}
	if _, body := w.adminRequest(t, "GET /api/v1/cache"); !strings.Contains(body, `"responses": {`) || !strings.Contains(body, `"disk": {`) {
		t.Errorf("%s", body)
	}
}

// PURGE makes all variants of a URL to be validated, for who may.
func TestMethodPURGE(t *testing.T) {
	var version atomic.Int64
	version.Store(1)
	web, setClock := versionedOrigin(t, &version)
	target := "http://" + web.addr + "/a"
	w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) {
		openLoopback(c)
		c.Proxy.Origins = []config.Site{{Host: "www.example.org", Servers: []string{"http://" + web.addr}}}
		c.Listen.Names = []string{"www.example.org"} // by other names loopback has no rights: DNS rebinding
	})
	setClock(w.clock.now)
	if got := w.proxied(t, "PURGE", target); got != `404 {"purged":0}` {
		t.Error(got)
	}
	w.proxied(t, "GET", target)
	w.proxied(t, "GET", target, "Accept-Language: en")
	if got := w.proxied(t, "PURGE", target); got != `200 {"purged":2}` {
		t.Error(got)
	}
	if got := w.proxied(t, "GET", target) + ", " + w.proxied(t, "GET", target); got != "fwd=stale 200 v1, hit 200 v1" {
		t.Error(got)
	}
	asked := web.asked.Load()
	w.get(t, "/a", "Host: www.example.org")
	if got := w.raw(t, "PURGE /a HTTP/1.1", "Host: www.example.org"); !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(got, `"purged": 1`) {
		t.Errorf("of a gateway: %s", got)
	}
	if now := web.asked.Load(); now != asked+1 {
		t.Errorf("the origin was asked for PURGE: %d", now-asked)
	}
	locked := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) {
		openLoopback(c)
		c.Access.PurgeClients = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	locked.proxied(t, "GET", target)
	if got := locked.proxied(t, "PURGE", target); !strings.HasPrefix(got, "403 ") {
		t.Errorf("who may not: %s", got)
	}
	if got := locked.proxied(t, "GET", target); got != "hit 200 v1" {
		t.Errorf("after it: %s", got)
	}
}

// raw sends the lines of a request without a body, and returns the response.
func (d *testService) raw(t *testing.T, lines ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, strings.Join(append(lines, "Connection: close"), "\r\n")+"\r\n\r\n")
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
