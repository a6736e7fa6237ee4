package registrytest

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// rename renames in a batch.
func rename(t *testing.T, s registry.Store, from, to registry.Key) error {
	t.Helper()
	return s.Write(t.Context(), func(tx registry.WriteTx) error {
		b := registry.NewBatch(tx, "test", epoch)
		if _, err := b.Rename(from, to, "renamed"); err != nil {
			return err
		}
		_, err := b.Flush()
		return err
	})
}

// A name that is renamed has all its versions, is not there by its former name, and takes its aliases along.
func testRenamed(t *testing.T, s registry.Store) {
	former, name, alias := registry.Name("ark:/1/x-1"), registry.Name("ark:/1/x1"), registry.Name("urn:example:alias-1")
	for i := range 3 {
		put(t, s, former, registry.Record{Contact: strconv.Itoa(i), Targets: []registry.Target{{URI: "https://example.org/"}}})
	}
	put(t, s, alias, registry.Record{Alias: former.Name})
	other := registry.Name("https://example.org/ark:/1/y") // of another group
	put(t, s, other, registry.Record{Status: registry.Reserved})
	put(t, s, registry.Prefix("hdl:A/"), registry.Record{Authoritative: true})
	for from, to := range map[registry.Key]registry.Key{
		former: name, other: registry.Name("ark:/1/y"), registry.Prefix("hdl:A/"): registry.Prefix("hdl:a/"),
	} {
		if err := rename(t, s, from, to); err != nil {
			t.Errorf("renaming %s: %v", from, err)
		}
		if e := lookup(t, s, from); e.Exists() {
			t.Errorf("there is %+v by a former name", e)
		}
		if e := lookup(t, s, to); e.Former != from.Name || e.Version < 2 {
			t.Errorf("renamed to %+v", e)
		}
	}
	if e := lookup(t, s, alias); e.Alias != name.Name || e.Version != 2 {
		t.Errorf("the alias is %+v", e)
	}
	put(t, s, name, registry.Record{Contact: "last"})
	if e := lookup(t, s, name); e.Former != "" || e.Version != 5 {
		t.Errorf("the version after the new name is %+v", e)
	}
	testRenamedVersions(t, s, former, name)
	for _, c := range []struct{ from, to registry.Key }{{former, registry.Name("ark:/1/z")}, {name, alias}, {name, name}, {name, registry.Prefix("ark:/1/")}} {
		if err := rename(t, s, c.from, c.to); err == nil {
			t.Errorf("%s was renamed to %s", c.from, c.to)
		}
	}
	if got := verified(t, s); got != "" {
		t.Errorf("after renaming: %s", got)
	}
	write(t, s, func(tx registry.WriteTx) error { // one that follows a version of a name that it does not say
		e := entry("ark:/1/stolen", 6, lookup(t, s, name).Seq)
		return registry.Append(tx, []registry.Entry{e})
	})
	if got := verified(t, s); got == "" {
		t.Error("a version of another name was taken for one before")
	}
}

// testRenamedVersions reads the versions of a name and those by its former name, in pages.
func testRenamedVersions(t *testing.T, s registry.Store, former, name registry.Key) {
	read(t, s, func(tx registry.Tx) error {
		var got []string
		for before := registry.Seq(0); ; {
			page, err := tx.Versions(name, before, 2)
			if err != nil {
				return err
			}
			for _, e := range page {
				got = append(got, fmt.Sprint(e.Version, e.Key, e.Contact))
				before = e.Seq
			}
			if len(page) < 2 {
				break
			}
		}
		want := []string{
			fmt.Sprint(5, name, "last"), fmt.Sprint(4, name, "2"), fmt.Sprint(3, former, "2"), fmt.Sprint(2, former, "1"), fmt.Sprint(1, former, "0"),
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("versions %q, want %q", got, want)
		}
		versions, err := tx.Versions(former, 0, 10)
		if len(versions) > 0 {
			t.Errorf("a former name has versions %+v", versions)
		}
		return err
	})
}
