package follow_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/follow"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// restorable is a store whose content is replaced by that of another one while it is open, as by a restore of a
// PostgreSQL database. It is unavailable for some reads after the replacement was noticed.
type restorable struct {
	registry.Store
	other    registry.Store
	restored atomic.Bool
	failures atomic.Int32 // reads that still fail
}

func (s *restorable) current() registry.Store {
	if s.restored.Load() {
		return s.other
	}
	return s.Store
}

func (s *restorable) Head(ctx context.Context) (registry.Seq, error) {
	if s.restored.Load() {
		s.failures.Store(3)
	}
	return s.current().Head(ctx)
}

func (s *restorable) Read(ctx context.Context, f func(registry.Tx) error) error {
	if s.failures.Add(-1) >= 0 {
		return registry.ErrUnavailable
	}
	return s.current().Read(ctx, f)
}

// storeWith returns a store with names.
func storeWith(t *testing.T, names ...string) registry.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	same := func(text string) (string, error) { return text, nil }
	r := registry.New(registry.Config{Store: store, Now: time.Now, Canonical: same, CanonicalPrefix: same})
	for _, name := range names {
		_, err := r.Apply(t.Context(), registry.Actor{Name: "anna", Role: registry.Admin}, registry.Edit{
			Key: registry.Name(name), IfVersion: registry.AnyVersion,
			Change: registry.Put(registry.Record{Status: registry.Reserved}),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// The names of a restored store are requested from it, and cached responses of other systems for them dropped, even if
// it was unavailable when the restore was noticed.
func TestPrefixesOfRestoredStore(t *testing.T) {
	store := &restorable{Store: storeWith(t, "ark:/1/a", "ark:/1/b"), other: storeWith(t, "ark:/2/b")}
	s := follow.New(follow.Config{
		After: soon, Open: func(context.Context, bool) (registry.Store, error) { return store, nil },
	})
	var mu sync.Mutex
	var dropped bool // after the prefixes were known
	s.Watch(func(keys []registry.Key) {
		mu.Lock()
		defer mu.Unlock()
		dropped = slices.Contains(keys, registry.Prefix("")) && s.Prefixes().Contains("ark:/2/b")
	})
	s.Start()
	defer s.Stop()
	s.Await(t.Context())
	if s.Prefixes().Contains("ark:/2/b") {
		t.Error("a prefix that is not registered is known")
	}
	store.restored.Store(true)
	testserver.Wait(t, "the new prefix is known", func() bool { return s.Prefixes().Contains("ark:/2/b") })
	testserver.Wait(t, "responses are dropped", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return dropped
	})
}
