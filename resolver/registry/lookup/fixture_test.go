package lookup_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// fixture is a registry in a temporary file. Its clock advances by a second with each reading.
type fixture struct {
	*registry.Registry
	config   registry.Config // configuration of the Registry
	activate bool            // edits may activate withdrawn entries
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	lower := func(text string) (string, error) { return strings.ToLower(text), nil }
	f := &fixture{config: registry.Config{
		Store: store, Canonical: lower, CanonicalPrefix: lower,
		Now: func() time.Time { now = now.Add(time.Second); return now },
	}}
	f.Registry = registry.New(f.config)
	return f
}

// edit applies a single edit.
func (f *fixture) edit(
	t *testing.T, key registry.Key, change func(registry.Entry) (registry.Record, error),
) (registry.Entry, error) {
	t.Helper()
	after, err := f.Apply(t.Context(), librarian, registry.Edit{
		Key: key, IfVersion: registry.AnyVersion, Note: "test", Activate: f.activate, Change: change,
	})
	if err != nil {
		return registry.Entry{}, err
	}
	return after[0], nil
}

func (f *fixture) put(t *testing.T, key registry.Key, record registry.Record) registry.Entry {
	t.Helper()
	e, err := f.edit(t, key, registry.Put(record))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var librarian = registry.Actor{Name: "librarian", Role: registry.Admin}

func leadsTo(uri string) registry.Record {
	return registry.Record{Targets: []registry.Target{{URI: uri}}}
}
