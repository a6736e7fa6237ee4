package valkey_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

// A purge reaches the memory of all instances, and the server, within a second.
func TestPurge(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	for _, c := range []struct {
		purge  valkey.Purge
		key    string
		purged bool
	}{
		{valkey.Purge{Kind: "name", Text: "x:1"}, "x:1", true},
		{valkey.Purge{Kind: "name", Text: "x:1"}, "x:2", false},
		{valkey.Purge{Kind: "prefix", Text: "x:"}, "x:3", true},
		{valkey.Purge{Kind: "prefix", Text: "x:"}, "y:1", false},
		{valkey.Purge{Kind: "name", Text: "x:1", Soft: true}, "x:1", true},
		{valkey.Purge{Kind: valkey.PurgeEverything}, "z:1", true},
	} {
		t.Run(c.purge.Kind+" "+c.purge.Text+" "+c.key, func(t *testing.T) {
			a.put(c.key, "old")
			b.get(c.key, "old")
			started := time.Now()
			if err := a.purge(c.purge); err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { return b.purged(c.purge) })
			if took := time.Since(started); took > time.Second {
				t.Errorf("it took %s", took)
			}
			want := "old"
			if c.purged {
				want = "new"
			}
			late := used(t, server.Addr(), nil)
			for _, i := range []*instance{b, a, late} {
				if got := i.get(c.key, "new"); got.Value != want {
					t.Errorf("got %+v, want %s", got, want)
				}
			}
			_ = a.purge(valkey.Purge{Kind: valkey.PurgeEverything})
			b.mu.Lock()
			b.purges = nil
			b.mu.Unlock()
		})
	}
}

// The outcome of a load that began before a purge does not reappear through the server.
func TestLoadBeforePurge(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	p := valkey.Purge{Kind: "name", Text: "key"}
	writes := b.level.Stats().Writes
	got := b.view.Load(t.Context(), "key", cache.AnyFresh, func(context.Context) (string, time.Duration, error) {
		if err := a.purge(p); err != nil { //nolint:contextcheck // the context of the test
			t.Error(err)
		}
		until(t, func() bool { return b.purged(p) })
		return "old", time.Minute, nil
	})
	if got.Value != "old" { // for the callers that waited for it
		t.Errorf("got %+v", got)
	}
	b.await(func(s valkey.Stats) bool { return s.Writes > writes })
	if got := a.get("key", "new"); got.Value != "new" {
		t.Errorf("a got %+v", got)
	}
	if s := a.level.Stats(); s.Purged != 1 {
		t.Errorf("a counts %+v", s)
	}
}

// A purge reaches an instance later if it, or the publisher, was unreachable, even if it has missed more purges
// than are retained.
func TestPurgeWhileAway(t *testing.T) {
	server := testserver.StartRedis(t)
	relay := testserver.StartRelay(t, server.Addr())
	a, b := used(t, server.Addr(), nil), used(t, relay.Addr(), nil)
	a.put("key", "old")
	b.get("key", "old")
	relay.Cut()
	b.await(func(s valkey.Stats) bool { return !s.Used })
	first := valkey.Purge{Kind: "name", Text: "key"}
	if err := a.purge(first); err != nil {
		t.Fatal(err)
	}
	if got := b.get("key", "new"); got.Value != "old" { // it cannot know of the purge
		t.Errorf("b got %+v", got)
	}
	own := valkey.Purge{Kind: "name", Text: "by b"}
	if err := b.purge(own); err == nil {
		t.Error("a purge that cannot be published says nothing")
	}
	relay.Restore()
	b.await(func(s valkey.Stats) bool { return s.Used })
	if !b.purged(first) {
		t.Error("b has not heard of the purge")
	}
	if got := b.get("key", "new"); got.Value != "new" {
		t.Errorf("b got %+v", got)
	}
	until(t, func() bool { return a.purged(own) })

	b.get("other", "old")
	relay.Cut()
	b.await(func(s valkey.Stats) bool { return !s.Used })
	for n := range 1100 {
		p := valkey.Purge{Kind: "name", Text: strconv.Itoa(n)}
		if err := a.level.Publish(t.Context(), p); err != nil { // a busy machine may be too slow
			until(t, func() bool { return a.purged(p) })
		}
	}
	everything := valkey.Purge{Kind: valkey.PurgeEverything}
	relay.Restore()
	b.await(func(s valkey.Stats) bool { return s.Used })
	if !b.purged(everything) {
		t.Error("b has missed purges")
	}
	if got := b.get("other", "new"); got.Value != "new" {
		t.Errorf("b got %+v", got)
	}
	if n := server.Do("XLEN", logKey(t, server)); n != ":1000\r\n" {
		t.Errorf("the log has %q entries", n)
	}
}

// A server that has lost everything starts a new log: entries in memory are loaded again, and purges reach all
// instances.
func TestFlushed(t *testing.T) {
	for name, lose := range map[string]func(*testserver.Redis){
		"flushed":   func(s *testserver.Redis) { s.Do("FLUSHALL") },
		"restarted": func(s *testserver.Redis) { s.Stop(); s.Start() },
		"log":       func(s *testserver.Redis) { s.Do("DEL", keysOf(s)[0]); s.Do("FLUSHALL") },
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.StartRedis(t)
			a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
			a.put("key", "old")
			b.get("key", "old")
			for range 3 { // so that the numbers of the old log are higher than those of the new one
				_ = a.purge(valkey.Purge{Kind: "name", Text: "other"})
			}
			before := b.level.Stats().FullPurges
			lose(server)
			b.await(func(s valkey.Stats) bool { return s.FullPurges > before && s.Used })
			failing := func(context.Context) (string, time.Duration, error) { return "", 0, errNotFound }
			if got, err := b.cache.Get(t.Context(), "key", failing); err != nil || got.Value != "old" ||
				got.Status != cache.Stale {
				t.Errorf("while the source fails, b got %+v, %v", got, err)
			}
			a.await(func(s valkey.Stats) bool { return s.Used })
			until(t, func() bool { return a.get("key", "new").Value == "new" })
			p, everything := valkey.Purge{Kind: "name", Text: "key"}, b.level.Stats().FullPurges
			_ = a.purge(p)
			// If a notices the loss only now, its log replaces the one with the purge.
			until(t, func() bool { return b.purged(p) || b.level.Stats().FullPurges > everything })
			if got := b.get("key", "newer"); got.Value != "newer" {
				t.Errorf("b got %+v", got)
			}
		})
	}
}

// A log that was tampered with is replaced, and all instances purge everything.
func TestPoisonedLog(t *testing.T) {
	for name, poison := range map[string]func(s *testserver.Redis, key string){
		"an entry": func(s *testserver.Redis, key string) {
			s.Do("XADD", key, "100-0", "e", "x", "d", strings.Repeat("x", 100))
		},
		"without fields":  func(s *testserver.Redis, key string) { s.Do("XADD", key, "*", "x", "y") },
		"another type":    func(s *testserver.Redis, key string) { s.Do("DEL", key); s.Do("SET", key, "x") },
		"a purge removed": func(s *testserver.Redis, key string) { s.Do("XDEL", key, "3-0") },
		"the last number": func(s *testserver.Redis, key string) {
			s.Do("XADD", key, "18446744073709551615-18446744073709551615", "e", "x", "d", "x")
		},
		"a huge entry": func(s *testserver.Redis, key string) {
			s.Do("XADD", key, "*", "e", "x", "d", strings.Repeat("x", 20<<20))
		},
		"a huge epoch": func(s *testserver.Redis, key string) {
			s.Do("XADD", key, "*", "e", strings.Repeat("x", 20<<20), "d", "x")
		},
		"many fields": func(s *testserver.Redis, key string) {
			s.Do(append([]string{"XADD", key, "*"}, strings.Split(strings.Repeat("x ", 20000), " ")[:20000]...)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.StartRedis(t)
			a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
			for range 2 {
				_ = a.purge(valkey.Purge{Kind: "name", Text: "other"})
			}
			a.put("key", "old")
			before := b.level.Stats().FullPurges
			poison(server, logKey(t, server))
			b.await(func(s valkey.Stats) bool { return s.FullPurges > before && s.Used })
			p, everything := valkey.Purge{Kind: "name", Text: "key"}, b.level.Stats().FullPurges
			_ = a.purge(p)
			// If a notices the loss only now, its log replaces the one with the purge.
			until(t, func() bool { return b.purged(p) || b.level.Stats().FullPurges > everything })
			if got := b.get("key", "new"); got.Value != "new" {
				t.Errorf("b got %+v", got)
			}
		})
	}
}

// A purge too long for the log becomes one of PurgeEverything.
func TestLongPurge(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	for _, c := range []struct {
		text string
		want valkey.Purge
	}{
		{strings.Repeat("x", 8000), valkey.Purge{Kind: "name", Text: strings.Repeat("x", 8000)}},
		{strings.Repeat("<", 8000), valkey.Purge{Kind: valkey.PurgeEverything}}, // escaped in JSON
	} {
		if err := a.purge(valkey.Purge{Kind: "name", Text: c.text}); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { return b.purged(c.want) })
	}
}

// The largest log is within the bounds of a reply.
func TestLargestLog(t *testing.T) {
	server := testserver.StartRedis(t)
	a := used(t, server.Addr(), nil)
	const retained = 1000
	for range retained + 1 {
		if err := a.level.Publish(t.Context(),
			valkey.Purge{Kind: "name", Text: strings.Repeat("x", 8100)}); err != nil {
			t.Fatal(err)
		}
	}
	b := used(t, server.Addr(), nil)
	until(t, func() bool {
		return b.level.Position() == a.level.Position() && a.level.Position().Number == retained+2
	})
	if s := b.level.Stats(); s.Foreign != 0 || s.Failures != 0 {
		t.Errorf("b counts %+v", s)
	}
}

// If a server has lost the last purges, as after a failover, all instances purge everything.
func TestLostEnd(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	key := logKey(t, server)
	server.Do("COPY", key, "before")
	p := valkey.Purge{Kind: "name", Text: "key"}
	_ = a.purge(p)
	until(t, func() bool { return a.purged(p) && b.purged(p) })
	everything := valkey.Purge{Kind: valkey.PurgeEverything}
	server.Do("COPY", "before", key, "REPLACE")
	until(t, func() bool { return a.purged(everything) && b.purged(everything) })
	a.await(func(s valkey.Stats) bool { return s.Used })
	b.await(func(s valkey.Stats) bool { return s.Used })
	tries := 0
	until(t, func() bool { // each with its own key, which neither has stored yet
		tries++
		key := strconv.Itoa(tries)
		a.put(key, "of a")
		return b.get(key, "of b").Shared
	})
}
