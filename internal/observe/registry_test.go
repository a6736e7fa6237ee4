package observe_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/follow"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

func TestRegistryOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	same := func(text string) (string, error) { return text, nil }
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	r := registry.New(registry.Config{
		Store: store, Now: func() time.Time { return now }, Canonical: same,
		CanonicalPrefix: same,
	})
	actor := registry.Actor{Name: "anna", Role: registry.Admin}
	for _, name := range []string{"urn:example:a", "urn:example:b"} {
		edit := registry.Edit{
			Key: registry.Name(name), IfVersion: registry.AnyVersion,
			Change: registry.Put(registry.Record{Status: registry.Reserved}),
		}
		if _, err := r.Apply(t.Context(), actor, edit); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.SetMark(t.Context(), registry.MarkBackup); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if observe.RegistryOf(nil, "", now) != nil {
		t.Error("no registry has a state")
	}
	f := follow.New(follow.Config{
		Open:  func(ctx context.Context, _ bool) (registry.Store, error) { return sqlite.Open(ctx, path) },
		After: time.After,
	})
	if observe.RegistryOf(f, path, now) != nil {
		t.Error("a registry that is not open has a state")
	}
	f.Start()
	t.Cleanup(f.Stop)
	<-f.Opened()
	for {
		m := observe.RegistryOf(f, path, now)
		if m == nil || m.Behind > 0 {
			if t.Context().Err() != nil {
				t.Fatal("it never catches up")
			}
			continue
		}
		if m.Names["reserved"] != 2 || m.Names["active"] != 0 || m.Versions != 2 || !m.Backup.Equal(now) ||
			!m.Verified.IsZero() || m.Size == 0 || len(m.Jobs) == 0 {
			t.Errorf("the state is %+v", m)
		}
		return
	}
}
