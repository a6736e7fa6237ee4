package valkey_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

func TestShelf(t *testing.T) {
	server, ctx := testserver.StartRedis(t), t.Context()
	now := time.Now().Round(time.Second)
	clock := func() time.Time { return now }
	a := valkey.NewShelf(used(t, server.Addr(), nil).level, "test", clock)
	b := valkey.NewShelf(used(t, server.Addr(), nil).level, "test", clock)
	if _, _, err := a.Get(ctx, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key that is not there: %v", err)
	}
	for _, key := range []string{"a", "a/b.example", "a/c/d", "ab"} {
		if err := a.Put(ctx, key, []byte{0, 255, 'x'}); err != nil {
			t.Fatal(err)
		}
	}
	content, at, err := b.Get(ctx, "a/b.example")
	if err != nil || string(content) != "\x00\xffx" || !at.Equal(now) {
		t.Errorf("got %q of %s, %v", content, at, err)
	}
	for _, key := range keysOf(server) {
		if dump := server.Do("DUMP", key); strings.Contains(dump, "b.example") {
			t.Errorf("the server knows a name: %q", dump)
		}
	}
	for _, tt := range []struct {
		remove, prefix string
		want           []string
	}{
		{"none", "", []string{"a", "a/b.example", "a/c/d", "ab"}},
		{"none", "a/", []string{"a/b.example", "a/c/d"}},
		{"a/c", "", []string{"a", "a/b.example", "ab"}},
		{"a", "", []string{"ab"}},
	} {
		if err := b.Delete(ctx, tt.remove); err != nil {
			t.Fatal(err)
		}
		if got, err := a.Keys(ctx, tt.prefix); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("without %s: got %q, %v, want %q", tt.remove, got, err, tt.want)
		}
	}
	foreign := valkey.NewShelf(used(t, server.Addr(), func(c *valkey.Config) { c.Secret = []byte("another secret of thirty-two octets or so") }).level, "test", clock)
	if keys, err := foreign.Keys(ctx, ""); err != nil || len(keys) > 0 {
		t.Errorf("with another secret: %q, %v", keys, err)
	}
	server.Stop()
	if err := a.Put(ctx, "a", nil); err == nil {
		t.Error("the server is away, and a value was kept")
	}
}

// A lock is for one call, of this instance or of another.
func TestShelfLock(t *testing.T) {
	server, ctx := testserver.StartRedis(t), t.Context()
	a := valkey.NewShelf(used(t, server.Addr(), nil).level, "test", time.Now)
	b := valkey.NewShelf(used(t, server.Addr(), nil).level, "test", time.Now)
	if err := a.Lock(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*valkey.Shelf{"the same instance": a, "another": b} {
		done, cancel := context.WithCancel(ctx)
		ended := make(chan error)
		go func() { ended <- s.Lock(done, "x") }()
		cancel()
		if err := <-ended; err == nil {
			t.Errorf("%s has the lock, too", name)
		}
	}
	taken := make(chan error)
	go func() { taken <- b.Lock(ctx, "x") }()
	if err := a.Unlock(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Errorf("after it was given up: %v", err)
	}
	if err := a.Unlock(ctx, "x"); err != nil {
		t.Errorf("a lock that it has no longer: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := a.Lock(done, "x"); err == nil {
		t.Error("a has given up the lock of b")
	}
	if err := b.Unlock(ctx, "x"); err != nil {
		t.Error(err)
	}
}
