package valkey_test

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

// Any value at the key of an entry other than the entry itself is not used, but counted and deleted; then
// instances share a new outcome.
func TestPoisonedEntries(t *testing.T) {
	for name, poison := range map[string]func(server *testserver.Redis, key, other string){
		"garbage": func(s *testserver.Redis, key, _ string) {
			s.Do("SET", key, strings.Repeat("x", 100), "PX", "60000")
		},
		"empty":           func(s *testserver.Redis, key, _ string) { s.Do("SET", key, "", "PX", "60000") },
		"another type":    func(s *testserver.Redis, key, _ string) { s.Do("DEL", key); s.Do("LPUSH", key, "x") },
		"another entry":   func(s *testserver.Redis, key, other string) { s.Do("COPY", other, key, "REPLACE") },
		"no time to live": func(s *testserver.Redis, key, _ string) { s.Do("PERSIST", key) },
		"a longer time":   func(s *testserver.Redis, key, _ string) { s.Do("PEXPIRE", key, "90000") },
		"a huge entry": func(s *testserver.Redis, key, _ string) {
			s.Do("SET", key, strings.Repeat("x", 20<<20), "PX", "60000")
		},
		"a longer entry":   func(s *testserver.Redis, key, _ string) { s.Do("APPEND", key, "x") },
		"a shorter entry":  func(s *testserver.Redis, key, _ string) { s.Do("SETRANGE", key, "30", "x") },
		"a lease for ever": func(s *testserver.Redis, key, _ string) { s.Do("DEL", key) },
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.StartRedis(t)
			a := used(t, server.Addr(), nil)
			a.put("key", "of a")
			key := entryKey(t, server)
			a.put("other", "another")
			other := ""
			for _, one := range keysOf(server) {
				if one != key && strings.HasPrefix(server.Do("TYPE", one), "+string") {
					other = one
				}
			}
			poison(server, key, other)
			b, c := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
			b.put("key", "of b")
			if b.loads.Load() < 1 { // one more load is possible if the huge entry closes the connection
				t.Errorf("b has loaded %d times", b.loads.Load())
			}
			if got := c.get("key", "of c"); got.Value != "of b" {
				t.Errorf("c got %+v", got)
			}
			if s := b.level.Stats(); !s.Used ||
				name != "another type" && name != "a huge entry" && name != "a lease for ever" && s.Foreign != 1 &&
					name != "no time to live" {
				t.Errorf("b counts %+v", s)
			}
		})
	}
}

// Instances with different secrets share nothing, and do not disturb each other.
func TestSecrets(t *testing.T) {
	server := testserver.StartRedis(t)
	a := used(t, server.Addr(), nil)
	b := used(t, server.Addr(), func(c *valkey.Config) { c.Secret = []byte(secret + "!") })
	a.put("key", "of a")
	b.put("key", "of b")
	c := used(t, server.Addr(), nil)
	if got := c.get("key", "of c"); got.Value != "of a" {
		t.Errorf("c got %+v", got)
	}
	if s := b.level.Stats(); s.Foreign != 0 {
		t.Errorf("b counts %+v", s)
	}
}

// Entries of different bases, as after a change of configuration or version, coexist.
func TestBases(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	load := func(i *instance, basis, value string) string {
		view := valkey.NewView(valkey.ViewConfig[string]{
			Level: i.level, Name: "test", Basis: basis, Codec: codec(),
			Purged: about,
		})
		writes := i.level.Stats().Writes
		got := view.Load(t.Context(), "key", cache.AnyFresh, i.source(value, time.Minute, nil))
		if !got.Shared {
			i.await(func(s valkey.Stats) bool { return s.Writes > writes })
		}
		return got.Value
	}
	for _, basis := range []string{"1", "2"} {
		if got := load(a, basis, "of a, "+basis); got != "of a, "+basis {
			t.Errorf("%s: a got %q", basis, got)
		}
	}
	for _, basis := range []string{"1", "2"} {
		if got := load(b, basis, "of b"); got != "of a, "+basis {
			t.Errorf("%s: b got %q", basis, got)
		}
	}
}

// An instance started without the server loads by itself, and uses the server as soon as it responds.
func TestAway(t *testing.T) {
	server := testserver.StartRedis(t)
	a := used(t, server.Addr(), nil)
	server.Stop()
	b := newInstance(t, server.Addr(), nil)
	if err := <-b.reports; err == nil {
		t.Error("b does not say that the server is away")
	}
	a.await(func(s valkey.Stats) bool { return !s.Used })
	for _, i := range []*instance{a, b} {
		if got := i.get("key", "own"); got.Value != "own" {
			t.Errorf("without the server: %+v", got)
		}
		if len(i.level.Failures()) != 1 {
			t.Errorf("failures: %q", i.level.Failures())
		}
	}
	server.Start()
	for _, i := range []*instance{a, b} {
		i.await(func(s valkey.Stats) bool { return s.Used })
		if len(i.level.Failures()) != 0 {
			t.Errorf("failures: %q", i.level.Failures())
		}
	}
	a.put("then", "of a")
	if got := b.get("then", "of b"); got.Value != "of a" {
		t.Errorf("b got %+v", got)
	}
}

// While a server hangs, one load at a time waits for the timeout, and after a few timeouts none does; the
// memory store still answers.
func TestSlow(t *testing.T) {
	server := testserver.StartRedis(t)
	const timeout = 200 * time.Millisecond
	a := used(t, server.Addr(), func(c *valkey.Config) { c.Timeout = timeout })
	a.put("key", "of a")
	server.Freeze()
	started := time.Now()
	if got := a.get("first", "own"); got.Value != "own" {
		t.Errorf("got %+v", got)
	}
	if took := time.Since(started); took > 10*timeout {
		t.Errorf("the first load took %s", took)
	}
	started = time.Now()
	for n := range 100 {
		a.get("key "+strconv.Itoa(n), "own")
	}
	if got := a.get("key", "again"); got.Value != "of a" || got.Status != cache.Hit {
		t.Errorf("in memory: %+v", got)
	}
	if took := time.Since(started); took > 12*timeout {
		t.Errorf("further loads took %s", took)
	}
	if s := a.level.Stats(); s.Used || s.Failures == 0 {
		t.Errorf("counts %+v", s)
	}
	server.Thaw()
	a.await(func(s valkey.Stats) bool { return s.Used })
}

// A server without memory answers queries, and stores nothing.
func TestFull(t *testing.T) {
	server := testserver.StartRedis(t, "--maxmemory", "4mb", "--maxmemory-policy", "noeviction")
	a := used(t, server.Addr(), nil)
	a.put("key", "of a")
	server.Do("CONFIG", "SET", "maxmemory", "1")
	b := used(t, server.Addr(), nil)
	if got := b.get("key", "of b"); got.Value != "of a" {
		t.Errorf("b got %+v", got)
	}
	if got := b.get("more", "of b"); got.Value != "of b" {
		t.Errorf("b got %+v", got)
	}
	b.await(func(s valkey.Stats) bool { return s.Full == 1 && s.Used })
}

// The queue of writes is bounded, and no caller waits for it.
func TestQueue(t *testing.T) {
	server := testserver.StartRedis(t)
	a := used(t, server.Addr(), func(c *valkey.Config) { c.Timeout = time.Minute })
	a.put("key", "of a")
	server.Freeze()
	const loads = 5000
	for n := range loads {
		got := a.view.Load(t.Context(), strconv.Itoa(n), cache.Bypass, a.source("v", time.Minute, nil))
		if got.Value != "v" {
			t.Fatalf("got %+v", got)
		}
	}
	if s := a.level.Stats(); s.Dropped == 0 {
		t.Errorf("counts %+v", s)
	}
	server.Thaw()
}

// A caller that cancels does not count as a failure of the server.
func TestCallerLeaves(t *testing.T) {
	server := testserver.StartRedis(t)
	a := used(t, server.Addr(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var loads atomic.Int32
	a.view.Load(ctx, "key", cache.AnyFresh, func(ctx context.Context) (string, time.Duration, error) {
		loads.Add(1)
		return "", 0, ctx.Err()
	})
	if s := a.level.Stats(); !s.Used || s.Failures != 0 || loads.Load() != 1 {
		t.Errorf("counts %+v after %d loads", s, loads.Load())
	}
}
