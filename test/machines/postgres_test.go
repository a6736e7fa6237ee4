//go:build e2e

package machines

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// database is a database for one test on a shared server.
type database struct {
	*testserver.Postgres
	name string
}

// TestPostgres runs these tests with a database each on one server.
func TestPostgres(t *testing.T) {
	t.Parallel()
	server := testserver.StartPostgres(t)
	for name, test := range map[string]func(*testing.T, database){
		"slow": testPostgresSlow, "split": testPostgresSplit, "newer": testPostgresNewerSchema,
		"reload": testReloadToAStoreThatIsAway, "cut": testCutOff,
	} {
		server.Create(name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, database{server.For(t), name})
		})
	}
}

// startOnPostgres runs urnd with a registry in PostgreSQL and without a responding DNS server.
func startOnPostgres(t *testing.T, url string, change func(*config.Config)) instance {
	t.Helper()
	return startInstance(t, "127.0.0.1:1", func(c *config.Config) {
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

// remembers waits until all changes are known, and the targets of names are cached.
func (w instance) remembers(t *testing.T, names ...string) {
	t.Helper()
	testserver.Wait(t, "all changes are known", func() bool {
		return strings.Contains(w.Scrape(t), "\nurnd_registry_replication_lag_versions 0\n")
	})
	for _, name := range names {
		testserver.Wait(t, name+" is in memory", func() bool { return w.CacheStates(t, "/"+name) == "hit" })
	}
}

// seesRegistry waits until the daemon reports its registry as available or not: by its readiness, its metrics
// and urnd status.
func (w instance) seesRegistry(t *testing.T, there bool) {
	t.Helper()
	testserver.Wait(t, "readiness says what the registry is", func() bool {
		return strings.Contains(w.readiness(t), "the registry is unavailable") != there
	})
	want := map[bool][2]string{
		true:  {"urnd_registry_available 1\n", " names, "},
		false: {"urnd_registry_available 0\n", "unavailable"},
	}[there]
	if status, _ := w.AdminRequest(t, "GET /readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d: a balancer would use no instance if all have lost the registry", status)
	}
	if !strings.Contains(w.Scrape(t), "\n"+want[0]) {
		t.Errorf("the metrics have no %q", want[0])
	}
	if out, exit := runUrnd(t, "status", w.Admin); exit != 0 || !strings.Contains(out, want[1]) ||
		strings.Contains(out, "yes, degraded") == there {
		t.Errorf("%d: urnd status has no %q:\n%s", exit, want[1], out)
	}
}

// misses waits until the daemon is not ready because its configured registry has never been available.
func (w instance) misses(t *testing.T, why string) {
	t.Helper()
	testserver.Wait(t, "it is not ready",
		func() bool { return strings.HasPrefix(w.readiness(t), "503 not ready: "+why) })
	if !strings.Contains(w.Scrape(t), "\nurnd_ready 0\n") {
		t.Error("by the metrics it is ready")
	}
	if out, exit := runUrnd(t, "status", w.Admin); exit != 1 || !strings.Contains(out, why) {
		t.Errorf("%d: urnd status does not say why:\n%s", exit, out)
	}
}

// testPostgresSlow checks that cached names are resolved immediately while PostgreSQL hangs, and other requests
// are rejected within a time limit. If it is only slow, all requests succeed.
func testPostgresSlow(t *testing.T, server database) {
	relay := testserver.StartRelay(t, server.Socket())
	w := startOnPostgres(t, server.URLAt(relay.Addr(), server.name), nil)
	w.seesRegistry(t, true)
	for _, name := range []string{"a", "b", "c"} {
		w.set(t, "urn:example:"+name, "https://"+name+".example/")
	}
	w.expect(t, "urn:example:a", "https://a.example/")

	relay.Delay(300 * time.Millisecond)
	if got := w.crowd(t, 32, "urn:example:b"); got["https://b.example/"] != 32 {
		t.Errorf("from a slow server: %v", got)
	}
	relay.Delay(0)

	relay.Freeze()
	began := time.Now()
	if got := w.crowd(t, 32, "urn:example:a"); got["https://a.example/"] != 32 {
		t.Errorf("from memory: %v", got)
	}
	const lookup = 3 * time.Second // time limit of a query
	if took := time.Since(began); took >= lookup {
		t.Errorf("an answer from memory took %v", took)
	}
	began = time.Now()
	if got := w.crowd(t, 32, "urn:example:c", "urn:example:d", "urn:example:e", "urn:example:f", "urn:example:g",
		"urn:example:h"); got["Service Unavailable"] != 32 {
		t.Errorf("from a server that hangs: %v", got)
	}
	took := time.Since(began)
	t.Logf("who asks a server that hangs is refused after %v", took)
	if took > 3*lookup {
		t.Errorf("a request to a server that hangs takes %v", took)
	}
	w.seesRegistry(t, false)
	relay.Thaw()
	back := time.Now()
	w.expect(t, "urn:example:c", "https://c.example/")
	w.seesRegistry(t, true)
	t.Logf("it is there %v after the return", time.Since(back))
}

// TestPostgresFailover checks that a promoted standby is used for lookups, for changes, and for changes by
// others.
func TestPostgresFailover(t *testing.T) {
	t.Parallel()
	primary := testserver.StartPostgres(t)
	first := startOnPostgres(t, primary.URL(""), nil)
	first.seesRegistry(t, true)
	first.set(t, "urn:example:a", "https://a.example/1")
	standby := primary.StartStandby()
	both := "postgres://" + testserver.PostgresUser + "@" + primary.Addr() + "," + standby.Addr() + "/" +
		testserver.PostgresUser
	a, b := startOnPostgres(t, both, nil), startOnPostgres(t, both, nil)
	a.seesRegistry(t, true)
	b.seesRegistry(t, true)
	a.set(t, "urn:example:b", "https://b.example/1")
	for _, w := range []instance{a, b} {
		w.remembers(t, "urn:example:b")
	}
	end := primary.Query("", "SELECT pg_current_wal_lsn()")
	testserver.Wait(t, "the standby has all",
		func() bool { return standby.Query("", "SELECT pg_last_wal_replay_lsn() >= '"+end+"'") == "t" })
	first.Stop()
	primary.Kill()
	for _, w := range []instance{a, b} {
		w.seesRegistry(t, false)
		if got := w.target(t, "urn:example:b"); got != "https://b.example/1" {
			t.Errorf("from memory, it resolves to %s", got)
		}
	}
	standby.Promote()
	back := time.Now()
	for _, w := range []instance{a, b} {
		w.seesRegistry(t, true)
		w.expect(t, "urn:example:a", "https://a.example/1")
	}
	t.Logf("both use the new server %v after it was promoted", time.Since(back))
	a.set(t, "urn:example:b", "https://b.example/2")
	b.expect(t, "urn:example:b", "https://b.example/2")
}

// testPostgresSplit checks that an urnd that is disconnected from PostgreSQL, while another one is not, uses
// its cache and reports it. After reconnecting it reads only the changes.
func testPostgresSplit(t *testing.T, server database) {
	relay := testserver.StartRelay(t, server.Socket())
	a, b := startOnPostgres(t, server.URL(server.name), nil),
		startOnPostgres(t, server.URLAt(relay.Addr(), server.name), nil)
	a.seesRegistry(t, true)
	b.seesRegistry(t, true)
	a.set(t, "urn:example:moves", "https://a.example/1")
	a.set(t, "urn:example:stays", "https://a.example/1")
	a.set(t, "urn:example:goes", "https://a.example/1")
	b.remembers(t, "urn:example:moves", "urn:example:stays", "urn:example:goes")
	relay.Cut()
	b.seesRegistry(t, false)
	a.seesRegistry(t, true)
	a.set(t, "urn:example:moves", "https://a.example/2")
	a.change(t, "POST /api/v1/names/withdraw?uri=urn:example:goes", `{"reason":"why"}`)
	for name, want := range map[string]string{
		"moves": "https://a.example/2", "goes": "Gone",
		"stays": "https://a.example/1",
	} {
		if got := a.target(t, "urn:example:"+name); got != want {
			t.Errorf("%s: an instance with the registry answers %s", name, got)
		}
		if got := b.target(t, "urn:example:"+name); got != "https://a.example/1" {
			t.Errorf("%s: an instance without it answers %s", name, got)
		}
	}
	relay.Restore()
	back := time.Now()
	b.expect(t, "urn:example:moves", "https://a.example/2")
	b.expect(t, "urn:example:goes", "Gone")
	t.Logf("the changes were known %v after the return", time.Since(back))
	if got := b.CacheStates(t, "/urn:example:stays"); got != "hit" {
		t.Errorf("what has not changed: %s", got)
	}
	b.seesRegistry(t, true)
}

// testPostgresNewerSchema checks that a newer urnd that migrates the schema does not disturb a running one. At
// its next start the older one reports why it does not use the database, and leaves it unchanged.
func testPostgresNewerSchema(t *testing.T, server database) {
	running := startOnPostgres(t, server.URL(server.name), nil)
	running.seesRegistry(t, true)
	running.set(t, "urn:example:a", "https://a.example/1")
	server.Query(server.name, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)")
	running.set(t, "urn:example:a", "https://a.example/2")
	running.expect(t, "urn:example:a", "https://a.example/2")

	again := startOnPostgres(t, server.URL(server.name), nil)
	again.misses(t, "the registry is unavailable: ")
	const message = "schema 99, this version supports "
	if got := again.readiness(t); !strings.Contains(got, message) {
		t.Errorf("readiness: %s", got)
	}
	again.WaitForLog(t, message)
	if got := again.target(t, "urn:example:a"); got != "Service Unavailable" {
		t.Errorf("a name of the registry leads to %s", got)
	}
	if got := again.target(t, "urn:book:1"); got != "https://book.example/1" {
		t.Errorf("another name leads to %s", got)
	}
	if got := server.Query(server.name, "SELECT max(version_id) FROM goose_db_version"); got != "99" {
		t.Errorf("the schema is %s", got)
	}
	if out, exit := runUrnd(t, "registry", "stats", "--store", server.URL(server.name)); exit == 0 ||
		!strings.Contains(out, message) {
		t.Errorf("%d: the commands say %s", exit, out)
	}
}

// TestPostgresReadOnly checks that a read-only database is rejected unless the URL declares it as such, and
// that one that becomes read-only is still queried.
func TestPostgresReadOnly(t *testing.T) {
	t.Parallel()
	server := testserver.StartPostgres(t)
	first := startOnPostgres(t, server.URL(""), nil)
	first.seesRegistry(t, true)
	first.set(t, "urn:example:a", "https://a.example/1")
	accepts := func(changes bool) {
		server.Query("", "ALTER DATABASE "+testserver.PostgresUser+" SET default_transaction_read_only = "+
			map[bool]string{true: "off", false: "on"}[changes])
	}
	accepts(false)
	w := startOnPostgres(t, server.URL(""), nil)
	w.misses(t, "the registry is read-only: the database is read-only: default_transaction_read_only is on")
	reader := startOnPostgres(t, server.URL("")+"&target_session_attrs=any", nil)
	reader.seesRegistry(t, true)
	for _, daemon := range []instance{w, reader} {
		text := daemon.Scrape(t)
		if writable := strings.Contains(text, "\nurnd_registry_writable 1\n"); writable != (daemon == reader) ||
			!strings.Contains(text, "\nurnd_registry_available 1\n") {
			t.Errorf("by the metrics changes are accepted: %t", writable)
		}
	}
	for _, daemon := range []instance{w, reader} {
		if got := daemon.target(t, "urn:example:a"); got != "https://a.example/1" {
			t.Errorf("it leads to %s", got)
		}
	}
	if got := reader.readiness(t); strings.Contains(got, "registry") {
		t.Errorf("a read-only instance: %s", got)
	}
	server.Query("", "SET transaction_read_only = off; ALTER DATABASE "+testserver.PostgresUser+
		" RESET default_transaction_read_only")
	testserver.Wait(t, "it is ready", func() bool { return strings.HasPrefix(w.readiness(t), "200 ready") })
	w.set(t, "urn:example:a", "https://a.example/2")

	server.Query("", "ALTER SYSTEM SET default_transaction_read_only = on")
	server.Query("", "SELECT pg_reload_conf()")
	tries := 0
	testserver.Wait(t, "a change is refused, and readiness says so", func() bool {
		tries++ // a change without effect is not rejected
		patched := urndtest.Send(t, "PATCH "+w.Admin+"/api/v1/names?uri=urn:example:a",
			fmt.Sprintf(`{"note":"%d"}`, tries), "Content-Type: application/merge-patch+json")
		return patched.Status == http.StatusServiceUnavailable && strings.Contains(w.readiness(t), "200 ready: ; ") &&
			strings.Contains(w.readiness(t), "the registry is read-only: ")
	})
}

// testReloadToAStoreThatIsAway checks that load balancers detect a reload to a store that cannot be opened.
func testReloadToAStoreThatIsAway(t *testing.T, server database) {
	relay := testserver.StartRelay(t, server.Socket())
	w := startOnPostgres(t, server.URL(server.name), nil)
	w.seesRegistry(t, true)
	w.set(t, "urn:example:a", "https://a.example/1")
	relay.Cut()
	w.Reload(t, func(c *config.Config) { c.Registry.Store = server.URLAt(relay.Addr(), server.name) })
	w.WaitForLog(t, "configuration reloaded")
	w.misses(t, "the registry is unavailable: ")
	relay.Restore()
	w.seesRegistry(t, true)
	if got := w.target(t, "urn:example:a"); got != "https://a.example/1" {
		t.Errorf("it leads to %s", got)
	}
}
