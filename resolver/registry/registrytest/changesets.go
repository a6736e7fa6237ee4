package registrytest

import (
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// registryOf returns a registry on a store.
func registryOf(s registry.Store) *registry.Registry {
	same := func(text string) (string, error) { return text, nil }
	return registry.New(registry.Config{
		Store: s, Now: func() time.Time { return epoch }, Canonical: same,
		CanonicalPrefix: same,
	})
}

// sets returns the change sets of a store.
func sets(t *testing.T, s registry.Store) (all []registry.ChangeSet) {
	t.Helper()
	err := registryOf(s).ChangeSets(t.Context(), 0, func(set registry.ChangeSet) bool {
		all = append(all, set)
		return true
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// A purge is one change set, with its author and reason. The change sets of the purged versions are retained.
func testPurgeSet(t *testing.T, s registry.Store) {
	put(t, s, registry.Prefix("urn:example:test:"), registry.Record{Sandbox: true})
	put(t, s, registry.Name("urn:example:test:1"), registry.Record{Status: registry.Reserved})
	admin := registry.Actor{Name: "anna", Role: registry.Admin}
	if n, err := registryOf(s).Purge(t.Context(), admin, "urn:example:test:", "the test is over"); err != nil ||
		n != 2 {
		t.Fatalf("%d, %v", n, err)
	}
	want := []registry.ChangeSet{
		{Number: 1, Last: 1, Rows: 1, By: "test", Time: epoch},
		{Number: 2, Last: 2, Rows: 1, By: "test", Time: epoch},
		{
			Number: 3, Last: 4, Rows: 2, Kind: registry.KindPurge, By: "anna", Note: "the test is over",
			Time: epoch.Truncate(time.Millisecond),
		},
	}
	if all := sets(t, s); !slices.Equal(all, want) {
		t.Errorf("the sets are %+v, want %+v", all, want)
	}
	if found := verified(t, s); found != "" {
		t.Errorf("the problems are %s", found)
	}
}
