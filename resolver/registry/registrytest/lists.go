package registrytest

import (
	"slices"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// Names are found by their current status.
func testStatuses(t *testing.T, s registry.Store) {
	for _, name := range []string{"urn:a:1", "urn:a:2", "urn:b:1"} {
		put(t, s, registry.Name(name), registry.Record{Status: registry.Reserved})
	}
	put(t, s, registry.Name("urn:a:2"), registry.Record{Status: registry.Withdrawn, Reason: "gone"})
	read(t, s, func(tx registry.Tx) error {
		for _, c := range []struct {
			status       registry.Status
			below, after string
			want         []string
		}{
			{registry.Reserved, "", "", []string{"urn:a:1", "urn:b:1"}},
			{registry.Reserved, "", "urn:a:1", []string{"urn:b:1"}},
			{registry.Reserved, "urn:a:", "", []string{"urn:a:1"}},
			{registry.Withdrawn, "", "", []string{"urn:a:2"}},
		} {
			got, err := tx.ByStatus(c.status, c.below, c.after, 10)
			if err != nil || !slices.Equal(namesOf(got), c.want) {
				t.Errorf("%s below %q after %q: %q, %v; want %q", c.status, c.below, c.after, namesOf(got), err, c.want)
			}
		}
		return nil
	})
}

// Aliases returns the current aliases of a name.
func testAliases(t *testing.T, s registry.Store) {
	for alias, name := range map[string]string{
		"urn:x:1": "urn:a:1", "urn:x:2": "urn:a:1", "urn:x:3": "urn:a:2",
		"urn:x:4": "urn:b:1",
	} {
		put(t, s, registry.Name(alias), registry.Record{Alias: name})
	}
	put(t, s, registry.Name("urn:x:2"), registry.Record{Alias: "urn:a:2"})
	read(t, s, func(tx registry.Tx) error {
		one, err := tx.Aliases("urn:a:1", "", 10)
		if err != nil || !slices.Equal(one, []string{"urn:x:1"}) {
			t.Errorf("%q, %v", one, err)
		}
		two, err := tx.Aliases("urn:a:2", "urn:x:2", 10)
		if err != nil || !slices.Equal(two, []string{"urn:x:3"}) {
			t.Errorf("%q, %v", two, err)
		}
		names, err := tx.Aliased("urn:a:", "", 10)
		if err != nil || !slices.Equal(names, []string{"urn:a:1", "urn:a:2"}) {
			t.Errorf("%q, %v", names, err)
		}
		return nil
	})
}

// Totals count current versions.
func testTotals(t *testing.T, s registry.Store) {
	fill(t, s)
	read(t, s, func(tx registry.Tx) error {
		got, err := tx.Totals()
		if err != nil ||
			got["urn:example"] != (registry.Totals{Active: 2, Withdrawn: 1, Aliases: 1, Targets: 1, Prefixes: 1}) ||
			got["https"] != (registry.Totals{Reserved: 1}) {
			t.Errorf("%+v, %v", got, err)
		}
		return nil
	})
}
