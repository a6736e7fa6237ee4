package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
)

// instance models an urnd process: a store, its registry, and a feed of its changes.
type instance struct {
	*registry.Registry
	store *postgres.Store

	mu     sync.Mutex
	seen   map[string]time.Time // when the feed reported a key
	resets int
}

var admin = registry.Actor{Name: "test", Role: registry.Admin}

// connect returns an instance without a feed, which the caller must close. Its clock advances by a millisecond,
// the resolution of version times, with each reading.
func connect(t *testing.T, url string, options ...func(*postgres.Options)) *instance {
	t.Helper()
	same := func(text string) (string, error) { return text, nil }
	var ticks atomic.Int64
	began := time.Now()
	now := func() time.Time { return began.Add(time.Duration(ticks.Add(1)) * time.Millisecond) }
	i := &instance{store: open(t, url, options...), seen: make(map[string]time.Time)}
	i.Registry = registry.New(registry.Config{Store: i.store, Canonical: same, CanonicalPrefix: same, Now: now})
	return i
}

// start starts an instance, which ends with the test.
func start(t *testing.T, url string, every time.Duration, options ...func(*postgres.Options)) *instance {
	t.Helper()
	i := connect(t, url, options...)
	head, err := i.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	feed := registry.Feed{Store: i.store, Every: every, Changed: i.changed, State: func(error) {}, After: time.After}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		feed.Run(ctx, head)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if err := i.store.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return i
}

func (i *instance) changed(keys []registry.Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, key := range keys {
		if key == registry.Prefix("") {
			i.resets++
		}
		i.seen[key.Name] = time.Now()
	}
}

// notified returns when the feed reported a name.
func (i *instance) notified(name string) (time.Time, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	at, ok := i.seen[name]
	return at, ok
}

// set registers a name, and returns the time of the acknowledgement.
func (i *instance) set(t *testing.T, name, target string) time.Time {
	t.Helper()
	if _, err := i.Apply(t.Context(), admin, edit(name, target)); err != nil {
		t.Fatalf("setting %s: %v", name, err)
	}
	return time.Now()
}

func edit(name, target string) registry.Edit {
	return registry.Edit{
		Key: registry.Name(name), IfVersion: registry.AnyVersion,
		Change: registry.Put(registry.Record{Targets: []registry.Target{{URI: target}}}),
	}
}

// noListenConn is a connection on which LISTEN fails.
type noListenConn struct{ net.Conn }

func (d noListenConn) Write(b []byte) (int, error) {
	return d.Conn.Write(bytes.Replace(b, []byte("LISTEN"), []byte("LISSEN"), 1))
}

func withoutListen(o *postgres.Options) {
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return noListenConn{conn}, err
	}
}

// TestFeed measures how soon an instance knows of a change by another one.
func TestFeed(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartPostgres(t)
	for _, c := range []struct {
		name    string
		every   time.Duration
		options []func(*postgres.Options)
	}{
		{"by hints", time.Hour, nil},
		{"by polling", 250 * time.Millisecond, []func(*postgres.Options){withoutListen}},
	} {
		t.Run(c.name, func(t *testing.T) {
			database := "names" + fmt.Sprint(len(c.options))
			server.Create(database)
			a := start(t, server.URL(database), c.every, c.options...)
			b := start(t, server.URL(database), c.every, c.options...)
			if c.options == nil {
				testserver.Wait(t, "both listen", func() bool {
					return server.Query(database,
						"SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN urnd_registry'") == "2"
				})
			}
			var slowest time.Duration
			for n := range 20 {
				name := fmt.Sprintf("urn:example:%d", n)
				written := a.set(t, name, "https://example.org/")
				var at time.Time
				testserver.Wait(t, "the other instance knows of the change", func() (ok bool) {
					at, ok = b.notified(name)
					return ok
				})
				slowest = max(slowest, at.Sub(written))
			}
			t.Logf("the slowest of 20 changes was known after %v", slowest)
			if slowest > time.Second {
				t.Errorf("a change was known only after %v", slowest)
			}
		})
	}
}

// TestFeedAfterLoss checks that a feed detects the loss of changes that it has read.
func TestFeedAfterLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartPostgres(t)
	const loss = "DELETE FROM commits WHERE last = 2; DELETE FROM change_set WHERE id = 2; DELETE FROM name WHERE " +
		"id = 2; DELETE FROM target WHERE version = 2; DELETE FROM version WHERE seq = 2"
	for n, c := range []struct{ name, target string }{
		{"gone", ""},
		{"others", "urn:example:c"},
		{"the same name", "urn:example:b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			database := fmt.Sprintf("names%d", n)
			server.Create(database)
			i := connect(t, server.URL(database))
			defer i.store.Close()
			feed := registry.Feed{Store: i.store, Changed: i.changed}
			i.set(t, "urn:example:a", "https://example.org/a")
			i.set(t, "urn:example:b", "https://example.org/b")
			if err := feed.Poll(t.Context()); err != nil || i.resets != 0 {
				t.Fatalf("%d resets, %v", i.resets, err)
			}
			server.Query(database, loss)
			if c.target != "" {
				i.set(t, c.target, "https://example.org/new")
			}
			if err := feed.Poll(t.Context()); err != nil || i.resets == 0 {
				t.Errorf("%d resets, %v", i.resets, err)
			}
			before := i.resets
			i.set(t, "urn:example:d", "https://example.org/d")
			if err := feed.Poll(t.Context()); err != nil || i.resets != before {
				t.Errorf("%d resets after the loss, want %d; %v", i.resets, before, err)
			}
		})
	}
}
