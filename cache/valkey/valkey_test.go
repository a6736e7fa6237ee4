package valkey_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

const secret = "a secret of at least thirty-two bytes"

// instance simulates one process: a cache in memory with a second level.
type instance struct {
	t       *testing.T
	level   *valkey.Level
	cache   *cache.Cache[string]
	store   *memory.Store[string]
	view    *valkey.View[string]
	loads   atomic.Int32
	reports chan error

	mu     sync.Mutex
	purges []valkey.Purge
}

// newInstance starts an instance, without waiting until it uses the server. change may be nil.
func newInstance(t *testing.T, addr string, change func(*valkey.Config)) *instance {
	t.Helper()
	i := &instance{t: t, reports: make(chan error, 1000)}
	config := valkey.Config{
		URL: "redis://" + addr, Secret: []byte(secret), Prefix: "urnd", Timeout: 5 * time.Second, Now: time.Now,
		Dial:   new(net.Dialer).DialContext,
		Report: func(err error) { i.reports <- err },
	}
	if change != nil {
		change(&config)
	}
	var err error
	if i.level, err = valkey.New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.level.Close)
	i.view = valkey.NewView(valkey.ViewConfig[string]{
		Level: i.level, Name: "test", Basis: "1", Codec: codec(),
		Shares: func(key string) bool { return !strings.HasPrefix(key, "own:") },
		Purged: about,
	})
	if i.store, err = memory.New(memory.Config[string]{
		MaxBytes: 1 << 20,
		Size:     func(s string) int { return len(s) },
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.store.Close)
	i.cache = cache.New(cache.Config[string]{
		Store: i.store, Now: config.Now, Second: i.view, StaleFor: time.Hour,
		RetryAfter: time.Minute, RefreshAhead: true,
	})
	t.Cleanup(i.cache.Close)
	t.Cleanup(i.level.Watch(i.apply))
	i.level.Join(map[string]string{"test": "1"})
	i.level.Start()
	return i
}

// apply purges the memory, as an instance does for a purge in the log.
func (i *instance) apply(p valkey.Purge) {
	i.cache.PurgeAll(i.store, func(key string) bool { return about(p, key) }, p.Soft)
	i.mu.Lock()
	defer i.mu.Unlock()
	p.By = ""
	i.purges = append(i.purges, p)
}

func (i *instance) purged(p valkey.Purge) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Contains(i.purges, p)
}

// purge publishes and applies a purge on this instance, as an administrator does.
func (i *instance) purge(p valkey.Purge) error {
	err := i.level.Publish(i.t.Context(), p)
	i.cache.PurgeAll(i.store, func(key string) bool { return about(p, key) }, p.Soft)
	return err
}

func about(p valkey.Purge, key string) bool {
	switch p.Kind {
	case "name":
		return key == p.Text
	case "prefix":
		return strings.HasPrefix(key, p.Text)
	default:
		return p.Kind == valkey.PurgeEverything
	}
}

// used starts an instance, and returns when it uses the server.
func used(t *testing.T, addr string, change func(*valkey.Config)) *instance {
	t.Helper()
	i := newInstance(t, addr, change)
	i.await(func(s valkey.Stats) bool { return s.Used })
	return i
}

func (i *instance) await(is func(valkey.Stats) bool) {
	i.t.Helper()
	until(i.t, func() bool { return is(i.level.Stats()) })
}

// until waits until a condition holds. The deadline only detects a hang: many instances wait for their servers
// concurrently.
func until(t *testing.T, is func() bool) {
	t.Helper()
	tick, late := time.NewTicker(time.Millisecond), time.NewTimer(3*testserver.Timeout)
	defer tick.Stop()
	defer late.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatal("it does not become so in time")
		}
	}
}

// get returns the cached value of a key, whose source returns value.
func (i *instance) get(key, value string) cache.Result[string] {
	i.t.Helper()
	result, err := i.cache.Get(i.t.Context(), key, i.source(value, time.Minute, nil))
	if err != nil {
		i.t.Fatal(err)
	}
	return result
}

func (i *instance) source(value string, ttl time.Duration, err error) cache.LoadFunc[string] {
	return func(context.Context) (string, time.Duration, error) {
		i.loads.Add(1)
		return value, ttl, err
	}
}

// put makes the instance load a value, and returns when the server has it. If the server did not store it,
// because a connection was lost, the value is loaded again.
func (i *instance) put(key, value string) {
	i.t.Helper()
	for first := true; ; first = false {
		if !first {
			i.await(func(s valkey.Stats) bool { return s.Used })
			_ = i.purge(valkey.Purge{Kind: "name", Text: key})
		}
		before := i.level.Stats()
		i.get(key, value)
		i.await(func(s valkey.Stats) bool { return s.Writes > before.Writes || s.Dropped > before.Dropped })
		if i.level.Stats().Writes > before.Writes {
			return
		}
	}
}

var errNotFound = errors.New("not found")

// codec returns a codec for texts and one error.
func codec() valkey.Codec[string] {
	return valkey.Codec[string]{
		Encode: func(value string, failure error) ([]byte, bool) {
			if failure != nil {
				return []byte("-"), errors.Is(failure, errNotFound)
			}
			return []byte("+" + value), true
		},
		Decode: func(payload []byte, _ time.Duration) (value string, failure, err error) {
			if string(payload) == "-" {
				return "", errNotFound, nil
			}
			text, ok := strings.CutPrefix(string(payload), "+")
			if !ok {
				return "", nil, errors.New("unknown")
			}
			return text, nil, nil
		},
	}
}

func TestShared(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	a.put("key", "of a")
	got := b.get("key", "of b")
	if got.Value != "of a" || !got.Shared || got.Status != cache.Miss || b.loads.Load() != 0 || got.TTL > time.Minute ||
		got.TTL < time.Minute/2 {
		t.Errorf("b got %+v after %d loads", got, b.loads.Load())
	}
	if got := b.get("key", "of b"); got.Status != cache.Hit || got.Shared {
		t.Errorf("then b got %+v", got)
	}
	if s := b.level.Stats(); s.Hits != 1 || s.Misses != 0 {
		t.Errorf("b counts %+v", s)
	}
	// Neither names nor values are visible at the server.
	for _, command := range [][]string{{"KEYS", "*"}, {"GET", entryKey(t, server)}} {
		if got := server.Do(command...); strings.Contains(got, "key") || strings.Contains(got, "of a") {
			t.Errorf("%s shows %q", command, got)
		}
	}
}

func TestNegative(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	_, _ = a.cache.Get(t.Context(), "none", a.source("", time.Minute, errNotFound))
	a.await(func(s valkey.Stats) bool { return s.Writes == 1 })
	if got, err := b.cache.Get(t.Context(), "none", b.source("there", time.Minute, nil)); !errors.Is(err,
		errNotFound) || !got.Shared || b.loads.Load() != 0 {
		t.Errorf("b got %+v, %v", got, err)
	}
}

// Outcomes that must not be shared are loaded by each instance; one that must not be stored deletes the entry;
// a failure is not shared.
func TestNotShared(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	a.get("own:key", "of a")
	if got := b.get("own:key", "of b"); got.Value != "of b" {
		t.Errorf("b got %+v", got)
	}
	if keys := keysOf(server); len(keys) != 1 { // the log
		t.Errorf("the server has %q", keys)
	}
	_, _ = a.cache.Get(t.Context(), "fails", a.source("", 0, errors.New("failing")))
	if got := b.get("fails", "of b"); got.Value != "of b" {
		t.Errorf("after a failure of a, b got %+v", got)
	}
	a.put("key", "of a")
	if got, err := a.cache.Renew(t.Context(), "key", a.source("for once", cache.NoStore, nil)); err != nil ||
		got.Value != "for once" {
		t.Errorf("renewed: %+v, %v", got, err)
	}
	until(t, func() bool { return len(keysOf(server)) == 2 }) // the log and the entry of b
	if got := b.get("key", "of b"); got.Value != "of b" {
		t.Errorf("b got %+v", got)
	}
}

// keysOf returns the keys of entries, leases and the log.
func keysOf(server *testserver.Redis) []string {
	var keys []string
	for _, line := range strings.Split(server.Do("KEYS", "*"), "\r\n") {
		if strings.HasPrefix(line, "{") && !strings.HasSuffix(line, ":member") {
			keys = append(keys, line)
		}
	}
	return keys
}

// entryKey returns the key of the only entry.
func entryKey(t *testing.T, server *testserver.Redis) string {
	t.Helper()
	var keys []string
	for _, key := range keysOf(server) {
		if strings.HasPrefix(server.Do("TYPE", key), "+string") {
			keys = append(keys, key)
		}
	}
	if len(keys) != 1 {
		t.Fatalf("the server has the entries %q", keys)
	}
	return keys[0]
}

func logKey(t *testing.T, server *testserver.Redis) string {
	t.Helper()
	for _, key := range keysOf(server) {
		if strings.HasPrefix(server.Do("TYPE", key), "+stream") {
			return key
		}
	}
	t.Fatal("no log")
	return ""
}

// A key without an entry is loaded once for all instances.
func TestHerd(t *testing.T) {
	server := testserver.StartRedis(t)
	const instances, callers = 3, 20
	var all []*instance
	for range instances {
		all = append(all, used(t, server.Addr(), nil))
	}
	var loads atomic.Int32
	release := make(chan struct{})
	var done sync.WaitGroup
	for _, i := range all {
		for range callers {
			done.Go(func() {
				got, err := i.cache.Get(t.Context(), "key", func(context.Context) (string, time.Duration, error) {
					loads.Add(1)
					<-release
					return "v", time.Minute, nil
				})
				if err != nil || got.Value != "v" {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		}
	}
	until(t, func() bool { // the others wait for the lease
		waits := 0
		for _, i := range all {
			waits += min(int(i.level.Stats().Waits), 1)
		}
		return waits == instances-1
	})
	close(release)
	done.Wait()
	if loads.Load() != 1 {
		t.Errorf("%d loads", loads.Load())
	}
}

// An instance that ends while it holds a lease delays the others by at most a second, and one whose load panics
// not at all.
func TestLease(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	_, err := a.cache.Get(t.Context(), "panics",
		func(context.Context) (string, time.Duration, error) { panic("on purpose") })
	if err == nil {
		t.Error("no error")
	}
	until(t, func() bool { return len(keysOf(server)) == 1 }) // the lease is released, the log remains
	release := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		_, _ = a.cache.Get(t.Context(), "key", func(context.Context) (string, time.Duration, error) {
			<-release
			return "of a", time.Minute, nil
		})
	})
	until(t, func() bool { return len(keysOf(server)) == 2 })
	a.level.Close() // the lease is no longer renewed
	if got := b.get("key", "of b"); got.Value != "of b" || b.level.Stats().Waits == 0 {
		t.Errorf("got %+v", got)
	}
	close(release)
	done.Wait()
}

// A clock that is an hour off does no harm.
func TestClocks(t *testing.T) {
	server := testserver.StartRedis(t)
	a := used(t, server.Addr(), nil)
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		b := used(t, server.Addr(), func(c *valkey.Config) { c.Now = func() time.Time { return time.Now().Add(off) } })
		key := off.String()
		a.put(key, "of a")
		if got := b.get(key, "of b"); got.Value != "of a" || got.TTL > time.Minute || got.TTL < time.Minute/2 {
			t.Errorf("%s off: b got %+v", off, got)
		}
		b.put(key+"!", "of b")
		if got := a.get(key+"!", "of a"); got.Value != "of b" || got.TTL > time.Minute || got.TTL < time.Minute/2 {
			t.Errorf("%s off: a got %+v", off, got)
		}
	}
}
