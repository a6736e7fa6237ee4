package certificate_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/certificate"
)

// shelf is an in-memory store that can be made unavailable.
type shelf struct {
	mu   sync.Mutex
	all  map[string][]byte
	away bool
}

var errAway = errors.New("the shelf is away")

func (s *shelf) do(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return errAway
	}
	return f()
}

func (s *shelf) Get(_ context.Context, key string) (content []byte, at time.Time, err error) {
	err = s.do(func() error {
		var is bool
		if content, is = s.all[key]; !is {
			return fs.ErrNotExist
		}
		return nil
	})
	return content, at, err
}

func (s *shelf) Put(_ context.Context, key string, content []byte) error {
	return s.do(func() error { s.all[key] = content; return nil })
}

func (s *shelf) Delete(_ context.Context, key string) error {
	return s.do(func() error {
		maps.DeleteFunc(s.all, func(k string, _ []byte) bool { return k == key || strings.HasPrefix(k, key+"/") })
		return nil
	})
}

func (s *shelf) Keys(_ context.Context, prefix string) (keys []string, err error) {
	err = s.do(func() error {
		for _, key := range slices.Sorted(maps.Keys(s.all)) {
			if strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
		}
		return nil
	})
	return keys, err
}

func (s *shelf) Lease(
	name, holder string,
) (acquire func(context.Context) (bool, error), release func(context.Context) error) {
	key := "lease " + name
	acquire = func(context.Context) (held bool, err error) {
		err = s.do(func() error {
			if other, is := s.all[key]; !is || string(other) == holder {
				s.all[key], held = []byte(holder), true
			}
			return nil
		})
		return held, err
	}
	return acquire, func(context.Context) error { return s.do(func() error { delete(s.all, key); return nil }) }
}

// TestSharedLock requires that one call, on any machine, holds a lock until it is released.
func TestSharedLock(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), &shelf{all: make(map[string][]byte)}
	a, b := certificate.SharedStorage(s, certificate.FileStorage(t.TempDir())),
		certificate.SharedStorage(s, certificate.FileStorage(t.TempDir()))
	if err := a.Lock(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	for name, machine := range map[string]certificate.Storage{"the same machine": a, "another": b} {
		if err := machine.Lock(done, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s has the lock, too: %v", name, err)
		}
	}
	taken := make(chan error)
	go func() { taken <- b.Lock(ctx, "x") }()
	if err := b.Unlock(ctx, "x"); err != nil {
		t.Errorf("a lock that it has not: %v", err)
	}
	if err := a.Unlock(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Errorf("after it was given up: %v", err)
	}
	s.away = true
	if err := a.Lock(ctx, "y"); !errors.Is(err, errAway) {
		t.Errorf("while the shelf is away: %v", err)
	}
}

// TestSharedStorage requires that a machine keeps what it has stored or loaded while the shelf is unavailable,
// and after it has lost everything.
func TestSharedStorage(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), &shelf{all: make(map[string][]byte)}
	a, b := certificate.SharedStorage(s, certificate.FileStorage(t.TempDir())),
		certificate.SharedStorage(s, certificate.FileStorage(t.TempDir()))
	for _, key := range []string{"ca/a.test/a.crt", "ca/a.test/a.key", "ca/b.test/b.crt", "challenges/http/x"} {
		if err := a.Store(ctx, key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"ca/a.test/a.crt", "challenges/http/x"} {
		if got, err := b.Load(ctx, key); err != nil || string(got) != key {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
	if got, err := b.List(ctx, "ca", false); err != nil || !slices.Equal(got, []string{"ca/a.test", "ca/b.test"}) {
		t.Errorf("listed: %q, %v", got, err)
	}
	if got, err := b.List(ctx, "ca/a.test", true); err != nil ||
		!slices.Equal(got, []string{"ca/a.test/a.crt", "ca/a.test/a.key"}) {
		t.Errorf("listed below: %q, %v", got, err)
	}
	if info, err := b.Stat(ctx, "ca/a.test/a.crt"); err != nil || info.Size != int64(len("ca/a.test/a.crt")) ||
		!info.IsTerminal {
		t.Errorf("%+v, %v", info, err)
	}
	if !b.Exists(ctx, "ca/a.test") || !b.Exists(ctx, "ca/a.test/a.key") || b.Exists(ctx, "ca/c.test") {
		t.Error("it is wrong what exists")
	}
	s.away = true
	for key, want := range map[string]error{
		"ca/a.test/a.crt": nil, "ca/b.test/b.crt": errAway,
		"challenges/http/x": errAway,
	} {
		if _, err := b.Load(ctx, key); !errors.Is(err, want) {
			t.Errorf("while the shelf is away, %s: %v", key, err)
		}
	}
	if err := b.Store(ctx, "ca/a.test/a.crt", nil); !errors.Is(err, errAway) {
		t.Errorf("stored while the shelf is away: %v", err)
	}
	s.away = false
	clear(s.all)
	if got, err := b.Load(ctx, "ca/a.test/a.crt"); err != nil || len(got) == 0 {
		t.Errorf("after the shelf has lost it: %q, %v", got, err)
	}
	if err := b.Delete(ctx, "ca/a.test"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Load(ctx, "ca/a.test/a.crt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted: %v", err)
	}
}
