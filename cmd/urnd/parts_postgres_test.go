package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/testserver"
)

// startOnPostgres runs urnd with a registry in PostgreSQL, and without an available DNS server.
func startOnPostgres(t *testing.T, url string, change func(*config.Config)) *testDaemon {
	t.Helper()
	return startDaemon(t, "127.0.0.1:1", 0, func(c *config.Config) {
		c.Registry.Store = url
		c.Registry.Owned = []string{"urn:example:"}
		c.DDDS.Enabled = false
		c.Namespaces = []config.Namespace{{
			NID: "book", Order: []string{"namespace"},
			Targets: []config.Target{{Template: "https://book.example/{+nss}"}},
		}}
		if change != nil {
			change(c)
		}
	})
}

// set sets the target of a name through the API of the registry, whatever its version.
func (w *testDaemon) set(t *testing.T, name, target string) {
	t.Helper()
	w.change(t, "PUT", "/api/v1/names?uri="+name, "application/json", `{"targets":[{"uri":"`+target+`"}]}`,
		`If-None-Match: "0"`)
}

// expect waits until a name resolves to a target.
func (w *testDaemon) expect(t *testing.T, name, target string) {
	t.Helper()
	testserver.Wait(t, name+" leads to "+target, func() bool { return w.target(t, name) == target })
}

// seesRegistry waits until the daemon reports the registry as available or unavailable: in its readiness, its
// metrics and urnd status.
func (w *testDaemon) seesRegistry(t *testing.T, there bool) {
	t.Helper()
	testserver.Wait(t, "readiness says what the registry is", func() bool {
		return strings.Contains(w.readiness(t), "the registry is unavailable") != there
	})
	want := map[bool][2]string{
		true:  {"urnd_registry_available 1\n", " names, "},
		false: {"urnd_registry_available 0\n", "unavailable"},
	}[there]
	if status, _ := w.adminRequest(t, "GET /readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d: a balancer would use no instance if all have lost the registry", status)
	}
	if _, text := w.adminRequest(t, "GET /metrics"); !strings.Contains(text, "\n"+want[0]) {
		t.Errorf("the metrics have no %q", want[0])
	}
	if out, exit := runStatus(t, w.admin); exit != 0 || !strings.Contains(out, want[1]) ||
		strings.Contains(out, "yes, degraded") == there {
		t.Errorf("%d: urnd status has no %q:\n%s", exit, want[1], out)
	}
}

// misses waits until the daemon is not ready because of its registry, which was never available in the
// required form.
func (w *testDaemon) misses(t *testing.T, why string) {
	t.Helper()
	testserver.Wait(t, "it is not ready",
		func() bool { return strings.HasPrefix(w.readiness(t), "503 not ready: "+why) })
	if _, text := w.adminRequest(t, "GET /metrics"); !strings.Contains(text, "\nurnd_ready 0\n") {
		t.Error("by the metrics it is ready")
	}
	if out, exit := runStatus(t, w.admin); exit != 1 || !strings.Contains(out, why) {
		t.Errorf("%d: urnd status does not say why:\n%s", exit, out)
	}
}

// lookups returns the number of queries for single names since the server logs statements.
func lookups(server *testserver.Postgres) int { return strings.Count(server.Log(), "AND n.key = $2") }

func logStatements(server *testserver.Postgres) {
	server.Query("", "ALTER SYSTEM SET log_statement = 'all'")
	server.Query("", "SELECT pg_reload_conf()")
}

// crowd requests names with many concurrent clients, and returns the number of each outcome: a status, or the
// target of a redirect.
func (w *testDaemon) crowd(t *testing.T, clients int, names ...string) map[string]int {
	t.Helper()
	var mu sync.Mutex
	outcomes := make(map[string]int)
	var asking sync.WaitGroup
	for n := range clients {
		asking.Go(func() {
			outcome := w.target(t, names[n%len(names)])
			mu.Lock()
			defer mu.Unlock()
			outcomes[outcome]++
		})
	}
	asking.Wait()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections() // otherwise the daemon would wait for them
	return outcomes
}

// Without PostgreSQL urnd starts, resolves names outside of the registry, and uses PostgreSQL as soon as it
// is available. While it is unavailable, cached answers are served, even stale ones; after its recovery, no
// client fails, and each name is queried at most once.
func TestPostgresAway(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartPostgres(t)
	logStatements(server)
	relay := testserver.StartRelay(t, server.Socket())
	relay.Cut()
	w := startOnPostgres(t, server.URLAt(relay.Addr(), ""), nil)
	w.misses(t, "the registry is unavailable: ")
	if got := w.target(t, "urn:book:1"); got != "https://book.example/1" {
		t.Errorf("a name that is not of the registry, without it: %s", got)
	}
	if got := w.target(t, "urn:example:a"); got != "Service Unavailable" {
		t.Errorf("a name of the registry, without it: %s", got)
	}
	relay.Restore()
	w.seesRegistry(t, true)
	if got := w.readiness(t); !strings.HasPrefix(got, "200 ready") {
		t.Errorf("with it: %s", got)
	}
	w.set(t, "urn:example:a", "https://a.example/1")
	w.set(t, "urn:example:b", "https://b.example/1")
	w.expect(t, "urn:example:a", "https://a.example/1")

	other := startOnPostgres(t, server.URL(""), nil)
	relay.Cut()
	w.seesRegistry(t, false)
	other.set(t, "urn:example:a", "https://a.example/2")
	if got := w.cacheStates(t, "/urn:example:a"); got != "hit" {
		t.Errorf("from memory: %s", got)
	}
	w.clock.advance(w.config.Registry.TTL + time.Hour)
	if got := w.crowd(t, 64, "urn:example:a"); got["https://a.example/1"] != 64 {
		t.Errorf("what has expired leads to %v", got)
	}
	if got := w.crowd(t, 16, "urn:example:b"); got["Service Unavailable"] != 16 {
		t.Errorf("a name that is not in memory resolves to %v", got)
	}
	w.clock.advance(w.config.Cache.StaleFor)
	if got := w.target(t, "urn:example:a"); got != "Service Unavailable" {
		t.Errorf("beyond cache.stale_for it leads to %s", got)
	}

	server.Stop()
	server.Start() // empties its log
	relay.Restore()
	back := time.Now()
	w.expect(t, "urn:example:a", "https://a.example/2")
	t.Logf("the change was known %v after the return", time.Since(back))
	w.seesRegistry(t, true)
	before := lookups(server)
	if got := w.crowd(t, 200, "urn:example:b"); got["https://b.example/1"] != 200 {
		t.Errorf("it leads to %v", got)
	}
	if n := lookups(server) - before; n != 1 {
		t.Errorf("200 clients at once were %d questions", n)
	}
}

// Instances whose clocks are an hour fast or slow write and receive changes like the others.
func TestPostgresClocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartPostgres(t)
	daemons := []*testDaemon{
		startOnPostgres(t, server.URL(""), nil), startOnPostgres(t, server.URL(""), nil),
		startOnPostgres(t, server.URL(""), nil),
	}
	daemons[1].clock.advance(time.Hour)
	daemons[2].clock.advance(-time.Hour)
	for _, w := range daemons {
		w.seesRegistry(t, true)
	}
	for round := range 2 {
		for n, w := range daemons {
			target := fmt.Sprintf("https://a.example/%d/%d", round, n)
			w.set(t, "urn:example:a", target)
			for _, other := range daemons {
				other.expect(t, "urn:example:a", target)
			}
		}
	}
}

// runStatus runs urnd status.
func runStatus(t *testing.T, args ...string) (out string, exit int) {
	t.Helper()
	var text bytes.Buffer
	root := newRoot()
	root.SetArgs(append([]string{"status"}, args...))
	root.SetOut(&text)
	root.SetErr(&text)
	err := root.ExecuteContext(t.Context())
	if err == nil {
		return text.String(), 0
	}
	if !errors.Is(err, cli.ErrReported) {
		text.WriteString(err.Error())
	}
	return text.String(), cli.StatusOf(err)
}
