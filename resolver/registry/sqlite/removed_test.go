package sqlite_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/registrytest"
	"github.com/urnd/urnd/resolver/registry/title"
)

// Purged data is in no file once the purge has returned; with a concurrent reader, once the next change after
// the end of that reader has returned.
func TestRemovedIsNowhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	s := open(t, path)
	defer closed(t, s)
	const secret = "https://example.org/what-nobody-is-to-know"
	add := func(name string) registry.Key {
		t.Helper()
		key := registry.Name(name)
		e := registry.Entry{
			Key: key, Version: 1, Changed: time.UnixMilli(1),
			Record: registry.Record{Targets: []registry.Target{{URI: secret}}},
		}
		if err := s.Write(t.Context(),
			func(tx registry.WriteTx) error { return registrytest.Append(tx, e) }); err != nil {
			t.Fatal(err)
		}
		return key
	}
	purge := func(keys ...registry.Key) {
		t.Helper()
		if err := s.Write(t.Context(),
			func(tx registry.WriteTx) error { return registrytest.Purge(tx, keys...) }); err != nil {
			t.Fatal(err)
		}
	}
	isThere := func() (is bool) {
		t.Helper()
		for _, file := range []string{path, path + "-wal"} {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			is = is || bytes.Contains(data, []byte(secret))
		}
		return is
	}
	key := add("urn:example:a")
	if !isThere() {
		t.Fatal("the target is in no file although it was not purged")
	}
	purge(key)
	if isThere() {
		t.Error("after a purge the target is still in a file")
	}

	key = add("urn:example:b")
	err := s.Read(t.Context(), func(tx registry.Tx) error {
		if _, err := tx.Changes(0, 1); err != nil {
			return err
		}
		purge(key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	purge(registry.Name("urn:example:none")) // the next change
	if isThere() {
		t.Error("after the next change the target is still in a file")
	}
}

// No purged or redacted word of a title remains anywhere in the pages of the index, and the words in between
// are still found.
func TestRemovedTitlesAreNowhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	s := open(t, path)
	defer closed(t, s)
	const names = 6000
	// Adjacent words in the index, every fifth of which is removed.
	titleOf := func(i int) string {
		word := fmt.Sprintf("%08x", uint32(i)*2654435761)
		if i%5 == 0 {
			word = word[:2] + "unwanted" + word[2:]
		}
		return "title " + word
	}
	entries := make([]registry.Entry, names)
	var purged []registry.Key
	for i := range entries {
		entries[i] = registry.Entry{
			Key: registry.Name(fmt.Sprintf("urn:example:%d", i)), Version: 1,
			Changed: time.UnixMilli(1), Record: registry.Record{
				Targets: []registry.Target{{URI: "https://example.org/", Title: titleOf(i)}},
			},
		}
		if i%10 == 0 {
			purged = append(purged, entries[i].Key)
		}
	}
	write := func(f func(tx registry.WriteTx) error) {
		t.Helper()
		if err := s.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	write(func(tx registry.WriteTx) error { return registrytest.Append(tx, entries...) })
	var changed []registry.Entry // their first versions are redacted
	for i := 5; i < names; i += 10 {
		e := entries[i]
		e.Version, e.Targets = 2, nil
		changed = append(changed, e)
	}
	write(func(tx registry.WriteTx) error { return registrytest.Append(tx, changed...) })
	write(func(tx registry.WriteTx) error {
		var first []registry.Entry
		for i := range changed {
			first = append(first, entries[i*10+5])
		}
		return tx.Redact(&registry.ChangeSet{By: "test", Time: time.UnixMilli(1)}, first)
	})
	write(func(tx registry.WriteTx) error { return registrytest.Purge(tx, purged...) })
	for _, file := range []string{path, path + "-wal"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(content, []byte("unwanted")); n > 0 {
			at := bytes.Index(content, []byte("unwanted"))
			t.Errorf("%s has %d words that were removed, such as %q", filepath.Base(file), n,
				content[at-8:min(at+16, len(content))])
		}
	}
	if err := s.Verify(t.Context(), func(problem string) { t.Error(problem) },
		func(registry.Seq, registry.Seq) {}); err != nil {
		t.Error(err)
	}
	err := s.Read(t.Context(), func(tx registry.Tx) error {
		for i := 0; i < names; i += 13 {
			found, _, err := tx.ByTitle(title.Words(titleOf(i)), "", "", 2)
			if err != nil {
				return err
			}
			if there := i%5 != 0; there != (len(found) == 1) || there && found[0].Name != entries[i].Name {
				t.Fatalf("%q is the title of %d names", titleOf(i), len(found))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
