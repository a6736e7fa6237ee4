package registrytest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// Before returns the predecessor of each version, in any order; the zero value for the first version and for a
// purged one.
func testBefore(t *testing.T, s registry.Store) {
	var a []registry.Entry
	for version := 1; version <= 4; version++ {
		a = append(a, appended(t, s, entry("urn:example:a", version))...)
	}
	b := appended(t, s, entry("urn:example:b", 1), entry("urn:example:b", 2))
	read(t, s, func(tx registry.Tx) error {
		got, err := tx.Predecessors([]registry.Entry{b[1], a[3], a[0], {}, a[1], a[2], b[0]})
		var names []string
		for _, e := range got {
			names = append(names, fmt.Sprint(e.Name, e.Version))
		}
		want := []string{"urn:example:b1", "urn:example:a3", "0", "0", "urn:example:a1", "urn:example:a2", "0"}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%q, %v; want %q", names, err, want)
		}
		return err
	})
}

// Events returns versions, redactions and purges in ascending order, each with its change set, without purged
// versions.
func testEvents(t *testing.T, s registry.Store) {
	fill(t, s)
	read(t, s, func(tx registry.Tx) error {
		var got []string
		for after := registry.Seq(0); ; {
			page, err := tx.Events(after, 3)
			if err != nil || len(page) == 0 {
				want := []string{
					"1 urn:example:a 1 []", "2 urn:example:a 2 []", "3 urn:example:a 3 []",
					"5 urn:example:a redaction court order [1]",
					"6 urn:example:test purge over [4]", "7 urn:example:alias 1 []", "8 urn:example:* 1 []",
					"9 https://example.org/ 1 []", "10 urn:example:b 1 []",
				}
				if !slices.Equal(got, want) {
					t.Errorf("events %q, want %q", got, want)
				}
				return err
			}
			for _, e := range page {
				after = e.Seq
				what := strconv.Itoa(e.Version.Version)
				if e.Kind != "" {
					what = e.Kind + " " + e.Note
				}
				got = append(got, fmt.Sprintf("%d %s %s %d", e.Set, e.Key, what, e.Affected))
			}
		}
	})
	e := lookup(t, s, registry.Name("urn:example:a"))
	read(t, s, func(tx registry.Tx) error {
		versions, err := tx.Versions(e.Key, 0, 10)
		if err != nil || len(versions) != 3 || !versions[2].Redacted || len(versions[2].Targets) > 0 ||
			versions[2].Contact != "" || versions[1].Redacted {
			t.Errorf("%+v, %v", versions, err)
		}
		return err
	})
}

// Events behind many purged versions still have the correct change set.
func testEventsBehindPurged(t *testing.T, s registry.Store) {
	var gone []registry.Key
	put(t, s, registry.Name("urn:example:first"), registry.Record{Contact: "a"})
	for i := range 20 {
		gone = append(gone, registry.Name(fmt.Sprintf("urn:example:%d", i)))
		put(t, s, gone[i], registry.Record{Contact: "a"})
	}
	put(t, s, registry.Name("urn:example:last"), registry.Record{Contact: "a"})
	purge(t, s, gone...)
	read(t, s, func(tx registry.Tx) error {
		page, err := tx.Events(0, 2)
		if err != nil || len(page) != 2 || page[0].Set != 1 || page[1].Set != 22 || page[1].Name != "urn:example:last" {
			t.Errorf("%+v, %v", page, err)
		}
		return err
	})
}
