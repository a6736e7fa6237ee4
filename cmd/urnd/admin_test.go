package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

func TestAdminPurge(t *testing.T) {
	w := startDaemon(t, udpAndTCP(zone(t, oneRule)).serve(t), 0, nil)
	paths := []string{"/urn:isbn:0-395-36341-1", "/uri-res/N2Ls?urn:isbn:0-395-36341-1", "/urn:name:1", "/urn:name:12", "/urn:name:1?+a=b", "/urn:ietf:rfc:2648"}
	for _, tt := range []struct {
		query  string
		purged int
		left   string
	}{
		{"uri=URN:ISBN:0395363411", 2, "miss miss hit hit hit hit"},
		{"uri=urn:isbn:9780395363416", 0, "hit hit hit hit hit hit"}, // another name of the book
		{"uri=URN:Name:1", 2, "hit hit miss hit miss hit"},
		{"uri=urn:name:1%3F%2Ba=b", 2, "hit hit miss hit miss hit"},
		{"uri=urn:name:2", 0, "hit hit hit hit hit hit"},
		{"namespace=ISBN", 2, "miss miss hit hit hit hit"},
		{"namespace=name", 3, "hit hit miss miss miss hit"},
		{"namespace=nam", 0, "hit hit hit hit hit hit"},
		{"prefix=urn:name:1", 3, "hit hit miss miss miss hit"},
		{"prefix=urn:name:12", 1, "hit hit hit miss hit hit"},
		{"prefix=urn:&soft=true", 6, "miss miss miss miss miss miss"},
		{"all=true", 6, "miss miss miss miss miss miss"},
	} {
		w.cacheStates(t, paths...)
		status, body := w.adminRequest(t, "DELETE /api/v1/cache/entries?"+tt.query)
		if want := fmt.Sprintf("{\n  \"purged\": %d\n}\n", tt.purged); status != 200 || body != want {
			t.Errorf("%s: %d %s", tt.query, status, body)
		}
		if left := w.cacheStates(t, paths...); left != tt.left {
			t.Errorf("%s: %s, want %s", tt.query, left, tt.left)
		}
	}
	for _, query := range []string{"", "uri=urn:a", "uri=urn:isbn:0395363412", "uri=urn:name:1&all=true", "all=false", "namespace=a_b"} {
		if status, body := w.adminRequest(t, "DELETE /api/v1/cache/entries?"+query); status != 400 {
			t.Errorf("%q: %d %s", query, status, body)
		}
	}
	if left := w.cacheStates(t, paths...); left != "hit hit hit hit hit hit" {
		t.Errorf("after what was refused: %s", left)
	}
}

func TestAdminLookup(t *testing.T) {
	w := startDaemon(t, udpAndTCP(zone(t, oneRule)).serve(t), 0, nil)
	w.cacheStates(t, "/urn:isbn:0-395-36341-1", "/uri-res/N2Ls?urn:isbn:0-395-36341-1", "/urn:none:1", "/urn:name:1", "/urn:name:12")
	w.clock.advance(10 * time.Second)
	for name, want := range map[string]string{
		"URN:ISBN:0-395-36341-1": "urn:isbn:0395363411 86390, urn:isbn:0395363411 I2Ls 86390",
		"urn:isbn:0395363411":    "urn:isbn:0395363411 86390, urn:isbn:0395363411 I2Ls 86390",
		"urn:name:1":             "urn:name:1 50", "urn:name:3": "", "urn:none:1": "urn:none:1 50 name not found",
	} {
		status, body := w.adminRequest(t, "GET /api/v1/cache/entries?uri="+name)
		var document struct {
			Entries []struct {
				Key       string
				TTL       int
				Locations []struct{ URI, Source string }
				No        string
			}
		}
		if err := json.Unmarshal([]byte(body), &document); err != nil || status != 200 {
			t.Errorf("%s: %d %v %s", name, status, err, body)
			continue
		}
		var found []string
		for _, e := range document.Entries {
			no, _, _ := strings.Cut(e.No, ":")
			found = append(found, strings.TrimSpace(fmt.Sprintf("%s %d %s", e.Key, e.TTL, no)))
			if (len(e.Locations) > 0) == (e.No != "") {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Answers that are purged softly are served while their source fails; others that are
// purged are not.
func TestAdminPurgeSoftly(t *testing.T) {
	var fails atomic.Bool
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		if fails.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		redirect(w, "https://a.example/")
	})
	w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) {
		openLoopback(c)
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://" + web.addr}}}
	})
	get := func(status int, cacheStatus string) {
		t.Helper()
		if got := w.get(t, "/urn:book:1"); got.status != status || !strings.HasPrefix(got.cacheStatus, cacheStatus) {
			t.Errorf("%+v", got)
		}
	}
	get(302, "urnd; fwd=uri-miss")
	w.adminRequest(t, "DELETE /api/v1/cache/entries?uri=urn:book:1&soft=true")
	get(302, "urnd; fwd=uri-miss")
	if n := web.asked.Load(); n != 2 {
		t.Errorf("the source was asked %d times", n)
	}
	fails.Store(true)
	get(302, "urnd; hit; ttl=300")
	w.adminRequest(t, "DELETE /api/v1/cache/entries?namespace=book&soft=true")
	get(302, "urnd; hit; detail=stale-on-error; ttl=0")
	if _, body := w.adminRequest(t, "GET /api/v1/cache/entries?uri=urn:book:1"); !strings.Contains(body, `"ttl": 0`) {
		t.Errorf("what is stale: %s", body)
	}
	w.adminRequest(t, "DELETE /api/v1/cache/entries?uri=URN:BOOK:1")
	get(502, "")
}

// readiness returns the status of /readyz, and its reasons.
func (w *testDaemon) readiness(t *testing.T) string {
	t.Helper()
	status, body := w.adminRequest(t, "GET /readyz")
	var document struct {
		Status            string
		Unready, Degraded []string
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s: %s; %s", status, document.Status, strings.Join(document.Unready, ", "), strings.Join(document.Degraded, ", "))
}

func TestAdminReadiness(t *testing.T) {
	good := zone(t, oneRule)
	var fails atomic.Bool
	w := startDaemon(t, udpAndTCP(func(rw dns.ResponseWriter, q *dns.Msg) {
		if !fails.Load() {
			good(rw, q)
		}
	}).serve(t), 0, func(c *config.Config) {
		c.DNS.Timeout, c.Cache.RetryAfter, c.Resolve.Backoff = 50*time.Millisecond, time.Second, 0
	})
	expect := func(want string) {
		t.Helper()
		if got := w.readiness(t); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	expect("200 ready: ; ")
	w.clock.advance(time.Millisecond)
	fails.Store(true)
	w.get(t, "/urn:one:1")
	w.clock.advance(time.Hour)
	w.get(t, "/urn:two:1")
	expect("200 ready: ; no DNS server has answered since 2096-10-02T07:06:40Z: see whether they can be reached")
	fails.Store(false)
	w.get(t, "/urn:three:1")
	expect("200 ready: ; ")
	w.setLoad(func() (config.Config, error) {
		return w.config, errors.New("dns.timeout: \"soon\" is no duration\nand more")
	})
	w.hangups <- syscall.SIGHUP
	w.waitForLog(t, "was not reloaded")
	expect(`200 ready: ; the configuration was not reloaded, and the one before is in use: dns.timeout: "soon" is no duration`)
	w.setLoad(func() (config.Config, error) { return w.config, nil })
	w.hangups <- syscall.SIGHUP
	w.waitForLog(t, "was reloaded")
	expect("200 ready: ; ")
	w.expectMetrics(t, `config_reloads_total{outcome="refused"} 1`, `config_reloads_total{outcome="done"} 1`, "config_last_reload_successful 1")
}

// While urnd waits for its last requests, /readyz reports that it is not ready.
func TestAdminReadinessAtTheEnd(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-answer
		redirect(w, "https://a.example/")
	})
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release)
	w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) {
		openLoopback(c)
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://" + web.addr}}}
	})
	var last sync.WaitGroup
	last.Go(func() {
		if got := w.get(t, "/urn:book:1"); got.status != 302 {
			t.Errorf("the last request: %+v", got)
		}
	})
	<-asked
	var stopping sync.WaitGroup
	stopping.Go(w.stop)
	testserver.Wait(t, "the readiness is refused because urnd is stopping", func() bool {
		return strings.HasPrefix(w.readiness(t),
			"503 not ready: urnd is stopping; ")
	})
	release()
	last.Wait()
	stopping.Wait()
}
