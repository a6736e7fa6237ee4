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
	s := shelf.New(store, registry.TableCertificates, func() time.Time { return now })
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

// A lease is for one holder, which renews it, until it gives it up.
func TestLease(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := shelf.New(store, registry.TableCertificates, time.Now)
	first, release := s.Lease("x", "one")
	second, releaseSecond := s.Lease("x", "two")
	other, _ := s.Lease("y", "two")
	for _, tt := range []struct {
		name    string
		acquire func(context.Context) (bool, error)
		want    bool
	}{
		{"the first", first, true}, {"the first again", first, true}, {"another holder", second, false}, {"another lease", other, true},
	} {
		if got, err := tt.acquire(ctx); err != nil || got != tt.want {
			t.Errorf("%s: %t, %v", tt.name, got, err)
		}
	}
	if err := releaseSecond(ctx); err == nil {
		if got, err := second(ctx); err != nil || got {
			t.Errorf("who has it not has given it up: %t, %v", got, err)
		}
	}
	if err := release(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := second(ctx); err != nil || !got {
		t.Errorf("after it was given up: %t, %v", got, err)
	}
}
