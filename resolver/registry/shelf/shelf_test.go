package shelf_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/shelf"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

func TestShelf(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	now := time.Now().Round(time.Second)
	s := shelf.New(store, registry.TableCertificates, "one", func() time.Time { return now })
	if _, _, err := s.Get(ctx, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key that is not there: %v", err)
	}
	for _, key := range []string{"a", "a/b", "a/c/d", "ab"} {
		if err := s.Put(ctx, key, []byte{0, 255, 'x'}); err != nil {
			t.Fatal(err)
		}
	}
	content, at, err := s.Get(ctx, "a/b")
	if err != nil || string(content) != "\x00\xffx" || !at.Equal(now) {
		t.Errorf("got %q of %s, %v", content, at, err)
	}
	for _, tt := range []struct {
		remove, prefix string
		want           []string
	}{
		{"none", "", []string{"a", "a/b", "a/c/d", "ab"}},
		{"none", "a/", []string{"a/b", "a/c/d"}},
		{"a/c", "", []string{"a", "a/b", "ab"}},
		{"a", "", []string{"ab"}},
	} {
		if err := s.Delete(ctx, tt.remove); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Keys(ctx, tt.prefix); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("without %s: got %q, %v, want %q", tt.remove, got, err, tt.want)
		}
	}
}

// A lock is for one call, of this instance or of another; what a killed one leaves is taken when its time is over.
func TestLock(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	a, b := shelf.New(store, registry.TableCertificates, "one", time.Now), shelf.New(store, registry.TableCertificates, "two", time.Now)
	if err := a.Lock(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	for name, s := range map[string]*shelf.Shelf{"the same instance": a, "another": b} {
		if err := s.Lock(done, "x"); err == nil {
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
	if err := b.Unlock(ctx, "x"); err != nil {
		t.Error(err)
	}
}
