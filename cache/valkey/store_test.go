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
	a := valkey.NewStore(used(t, server.Addr(), nil).level, "test", clock)
	b := valkey.NewStore(used(t, server.Addr(), nil).level, "test", clock)
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
	foreign := valkey.NewStore(used(t, server.Addr(),
		func(c *valkey.Config) { c.Secret = []byte("another secret of thirty-two bytes or so") }).level, "test", clock)
	if keys, err := foreign.Keys(ctx, ""); err != nil || len(keys) > 0 {
		t.Errorf("with another secret: %q, %v", keys, err)
	}
	server.Stop()
	if err := a.Put(ctx, "a", nil); err == nil {
		t.Error("the server is away, and a value was kept")
	}
}

// A lease has one holder, on any instance, who renews it until it is released.
func TestShelfLease(t *testing.T) {
	server, ctx := testserver.StartRedis(t), t.Context()
	a := valkey.NewStore(used(t, server.Addr(), nil).level, "test", time.Now)
	b := valkey.NewStore(used(t, server.Addr(), nil).level, "test", time.Now)
	first, release := a.Lease("x", "one")
	second, releaseSecond := b.Lease("x", "two")
	third, _ := a.Lease("x", "three")
	other, _ := b.Lease("y", "two")
	for _, tt := range []struct {
		name    string
		acquire func(context.Context) (bool, error)
		want    bool
	}{
		{"the first", first, true},
		{"the first again", first, true},
		{"another instance", second, false},
		{"the same instance", third, false},
		{"another lease", other, true},
	} {
		if got, err := tt.acquire(ctx); err != nil || got != tt.want {
			t.Errorf("%s: %t, %v", tt.name, got, err)
		}
	}
	if err := releaseSecond(ctx); err != nil {
		t.Error(err)
	}
	if got, err := third(ctx); err != nil || got {
		t.Errorf("released by an instance that does not hold it: %t, %v", got, err)
	}
	if err := release(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := second(ctx); err != nil || !got {
		t.Errorf("after it was given up: %t, %v", got, err)
	}
	server.Stop()
	if _, err := second(ctx); err == nil {
		t.Error("the server is away, and the lease is held")
	}
}
