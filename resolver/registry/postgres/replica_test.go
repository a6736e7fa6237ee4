package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
)

// catchUp waits until a replica has replayed everything from its primary. Before that, it may lack tables.
func catchUp(t *testing.T, standby, primary *testserver.Postgres) {
	t.Helper()
	end := primary.Query("", "SELECT pg_current_wal_lsn()")
	testserver.Wait(t, "the replica has all",
		func() bool { return standby.Query("", "SELECT pg_last_wal_replay_lsn() >= '"+end+"'") == "t" })
}

func TestReplica(t *testing.T) {
	server := testserver.StartPostgres(t)
	standby := server.StartStandby()
	relay := testserver.StartRelay(t, standby.Addr())
	withReplica := func(o *postgres.Options) { o.Replica = standby.URLAt(relay.Addr(), "") }
	writer := connect(t, server.URL(""))
	defer writer.store.Close()
	i := connect(t, server.URL(""), withReplica)
	defer func() { i.store.Close() }()

	name := registry.Name("urn:example:a")
	target := func() string {
		t.Helper()
		e, err := i.store.Lookup(t.Context(), name)
		if err != nil || !e.Exists() {
			t.Fatalf("looking up: %+v, %v", e, err)
		}
		return e.Targets[0].URI
	}
	set := func(target string) { writer.set(t, name.Name, target) }
	poll := func() {
		t.Helper()
		feed := registry.Feed{Store: i.store, Changed: i.changed}
		if err := feed.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	set("https://example.org/1")
	catchUp(t, standby, server)
	standby.Query("", "SELECT pg_wal_replay_pause()")
	testserver.Wait(t, "the replica stands still",
		func() bool { return standby.Query("", "SELECT pg_get_wal_replay_pause_state()") == "paused" })
	set("https://example.org/2")
	if got := target(); got != "https://example.org/1" {
		t.Errorf("before the feed has told of the change: %s, as the replica was not asked", got)
	}
	poll()
	if got := target(); got != "https://example.org/2" {
		t.Errorf("after the feed has told of the change: %s", got)
	}
	if e, err := i.store.Floor(t.Context(), "urn:example:"); e.Exists() || err != nil {
		t.Errorf("a prefix that is not there: %+v, %v", e, err)
	}

	// An instance sees its own writes.
	i.set(t, name.Name, "https://example.org/3")
	if got := target(); got != "https://example.org/3" {
		t.Errorf("after a write: %s", got)
	}

	// Lookups succeed without the replica, which is queried again once it is back.
	relay.Cut()
	if got := target(); got != "https://example.org/3" {
		t.Errorf("without the replica: %s", got)
	}
	if err := i.store.Degraded(); err == nil || i.store.ReadOnlyErr() != nil {
		t.Errorf("without the replica, it says %v, %v", err, i.store.ReadOnlyErr())
	}
	relay.Restore()
	standby.Query("", "SELECT pg_wal_replay_resume()")
	catchUp(t, standby, server)

	// Reads succeed without the primary, even if urnd starts while it is unavailable.
	i.store.Close()
	i = connect(t, server.URL(""), withReplica)
	server.Stop()
	if got := target(); got != "https://example.org/3" {
		t.Errorf("without the primary: %s", got)
	}
	poll()
	if err := i.store.ReadOnlyErr(); err == nil || errors.Is(err, registry.ErrReadOnly) || i.store.Degraded() != nil {
		t.Errorf("without the primary, it says %v, %v", err, i.store.Degraded())
	}
	i.store.Close()
	i = connect(t, server.URL(""), withReplica)
	if got := target(); got != "https://example.org/3" {
		t.Errorf("opened without the primary: %s", got)
	}
	if err := i.store.ReadOnlyErr(); err == nil || errors.Is(err, registry.ErrReadOnly) {
		t.Errorf("opened without the primary, it says %v", err)
	}
	if _, err := i.Apply(t.Context(), admin, edit(name.Name, "https://example.org/4")); !errors.Is(err,
		registry.ErrUnavailable) {
		t.Errorf("writing without the primary: %v", err)
	}
	server.Start()
	if _, err := i.Apply(t.Context(), admin, edit(name.Name, "https://example.org/4")); err != nil {
		t.Errorf("writing: %v", err)
	}
	if err := i.store.ReadOnlyErr(); err != nil {
		t.Errorf("with the primary again, it says %v", err)
	}
}

// A replica that lags when the primary becomes unavailable does not make the feed report changes as lost.
func TestLateReplica(t *testing.T) {
	server := testserver.StartPostgres(t)
	standby := server.StartStandby()
	i := connect(t, server.URL(""), func(o *postgres.Options) { o.Replica = standby.URL("") })
	defer i.store.Close()
	var told []registry.Key
	feed := registry.Feed{Store: i.store, Changed: func(keys []registry.Key) { told = append(told, keys...) }}

	i.set(t, "urn:example:a", "https://example.org/1")
	catchUp(t, standby, server)
	standby.Query("", "SELECT pg_wal_replay_pause()")
	testserver.Wait(t, "the replica stands still",
		func() bool { return standby.Query("", "SELECT pg_get_wal_replay_pause_state()") == "paused" })
	i.set(t, "urn:example:a", "https://example.org/2")
	if err := feed.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(told)
	server.Stop()
	if err := feed.Poll(t.Context()); !errors.Is(err, registry.ErrUnavailable) || len(told) != before {
		t.Errorf("with a late replica alone: %v, told of %v", err, told[before:])
	}
	server.Start()
	i.set(t, "urn:example:b", "https://example.org/3")
	if err := feed.Poll(t.Context()); err != nil || len(told) != before+1 {
		t.Errorf("when the primary is back: %v, told of %v", err, told[before:])
	}
}

// TestReplicaPause checks that an unresponsive replica is not queried for a while.
func TestReplicaPause(t *testing.T) {
	server := testserver.StartPostgres(t)
	relay := testserver.StartRelay(t, server.Addr())
	now := time.Unix(1_900_000_000, 0)
	i := connect(t, server.URL(""), func(o *postgres.Options) {
		o.Replica, o.Now = server.URLAt(relay.Addr(), ""), func() time.Time { return now }
	})
	defer i.store.Close()
	connections := func() string {
		t.Helper()
		if _, err := i.store.Lookup(t.Context(), registry.Name("urn:example:a")); err != nil {
			t.Fatal(err)
		}
		return server.Query("", "SELECT count(*) FROM pg_stat_activity WHERE client_addr IS NOT NULL")
	}
	relay.Cut()
	if got := connections(); got != "0" {
		t.Errorf("%s connections by the relay while it is cut", got)
	}
	relay.Restore()
	if got := connections(); got != "0" {
		t.Errorf("%s connections by the relay soon after it was cut", got)
	}
	now = now.Add(time.Minute)
	if got := connections(); got != "1" {
		t.Errorf("%s connections by the relay later", got)
	}
}
