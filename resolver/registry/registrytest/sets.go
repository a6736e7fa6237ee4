package registrytest

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// registryOf returns a registry with a store.
func registryOf(s registry.Store) *registry.Registry {
	same := func(text string) (string, error) { return text, nil }
	return registry.New(registry.Config{Store: s, Now: func() time.Time { return epoch }, Canonical: same, CanonicalPrefix: same})
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

// A purge is one change set, with who made it and why, and so stay those whose names it has removed.
func testPurgeSet(t *testing.T, s registry.Store) {
	put(t, s, registry.Prefix("urn:example:test:"), registry.Record{Sandbox: true})
	put(t, s, registry.Name("urn:example:test:1"), registry.Record{Status: registry.Reserved})
	admin := registry.Actor{Name: "anna", Role: registry.Admin}
	if n, err := registryOf(s).Purge(t.Context(), admin, "urn:example:test:", "the test is over"); err != nil || n != 2 {
		t.Fatalf("%d, %v", n, err)
	}
	want := []registry.ChangeSet{
		{Number: 1, Last: 1, Rows: 1, By: "test", Time: epoch},
		{Number: 2, Last: 2, Rows: 1, By: "test", Time: epoch},
		{Number: 3, Last: 4, Rows: 2, Kind: registry.KindPurge, By: "anna", Note: "the test is over", Time: epoch.Truncate(time.Millisecond)},
	}
	if all := sets(t, s); !slices.Equal(all, want) {
		t.Errorf("the sets are %+v, want %+v", all, want)
	}
	if found := verified(t, s); found != "" {
		t.Errorf("the faults are %s", found)
	}
	write(t, s, func(tx registry.WriteTx) error {
		value, err := tx.Document(registry.TableSets, "0000000000000002")
		if err != nil {
			return err
		}
		value = bytes.Replace(value, []byte(`"test"`), []byte(`"tess"`), 1)
		return tx.Put(registry.TableSets, []registry.Document{{Key: "0000000000000002", Value: value}})
	})
	mustFind(t, s, "a set whose name was purged, changed", "the change set 2 is not as it was written")
}

// What a change set says of itself is as it was written.
func testSets(t *testing.T, s registry.Store) {
	set := registry.ChangeSet{Kind: registry.KindImport, By: "anna", Note: "all", Time: epoch}
	for _, name := range []string{"urn:example:a", "urn:example:b"} {
		write(t, s, func(tx registry.WriteTx) error {
			b := registry.NewBatch(tx, "anna", epoch)
			b.Into(set)
			if _, _, err := b.Put(registry.Name(name), registry.Record{Status: registry.Reserved}, ""); err != nil {
				return err
			}
			_, err := b.Flush()
			set = b.Set()
			return err
		})
		put(t, s, registry.Name("urn:example:other"), registry.Record{Contact: name})
	}
	if found := verified(t, s); found != "" {
		t.Errorf("the faults are %s", found)
	}
	var is registry.Document
	read(t, s, func(tx registry.Tx) error {
		all, err := tx.Documents(registry.TableSets, "", "", 10)
		if len(all) != 1 {
			t.Fatalf("the documents are %q", all)
		}
		is = all[0]
		return err
	})
	document := func(d registry.Document) {
		write(t, s, func(tx registry.WriteTx) error { return tx.Put(registry.TableSets, []registry.Document{d}) })
	}
	for what, fault := range map[string]string{
		`"anna"`:       "the change set 1 is not as it was written",
		`"all"`:        "the change set 1 is not as it was written",
		`"import"`:     "the change set 1 is not as it was written",
		`"number":1`:   `the change set "0000000000000001" cannot be read`,
		`"last":3`:     "the change set 1 says that it has 2 rows up to number 2",
		`"rows":2`:     "the change set 1 says that it has 3 rows",
		`{"number"`:    `the change set "0000000000000001" cannot be read`,
		`"time":"2030`: "the change set 1 is not as it was written",
	} {
		changed := []byte(what)
		at := bytes.LastIndexAny(changed, "abcdefghijklmnopqrstuvwxyz0123456789")
		changed[at] ^= 1
		if !bytes.Contains(is.Value, []byte(what)) {
			t.Fatalf("%s is not in %s", what, is.Value)
		}
		document(registry.Document{Key: is.Key, Value: bytes.Replace(is.Value, []byte(what), changed, 1)})
		mustFind(t, s, what, fault)
	}
	document(registry.Document{Key: is.Key})
	mustFind(t, s, "without the document", "the change set 1 is missing")
	document(is)
	second := registry.Document{Key: "0000000000000002", Value: bytes.Replace(is.Value, []byte(`"number":1`), []byte(`"number":2`), 1)}
	document(second)
	mustFind(t, s, "another document", "the change set 2 is not as it was written")
	document(registry.Document{Key: second.Key})
	document(registry.Document{Key: "0000000000000009", Value: bytes.Replace(is.Value, []byte(`"number":1`), []byte(`"number":9`), 1)})
	mustFind(t, s, "a document too many", `the change set "0000000000000009" has no versions`)
}
