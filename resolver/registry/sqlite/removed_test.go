package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/registrytest"
)

// What was purged is in no file when the purge has returned; where somebody reads meanwhile, after the next change once nobody does.
func TestRemovedIsNowhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	s := open(t, path)
	defer closed(t, s)
	const secret = "https://example.org/what-nobody-is-to-know"
	add := func(name string) registry.Key {
		t.Helper()
		key := registry.Name(name)
		e := registry.Entry{Key: key, Version: 1, Changed: time.UnixMilli(1), Record: registry.Record{Targets: []registry.Target{{URI: secret}}}}
		if err := s.Write(t.Context(), func(tx registry.WriteTx) error { return registrytest.Append(tx, e) }); err != nil {
			t.Fatal(err)
		}
		return key
	}
	purge := func(keys ...registry.Key) {
		t.Helper()
		if err := s.Write(t.Context(), func(tx registry.WriteTx) error { return registrytest.Purge(tx, keys...) }); err != nil {
			t.Fatal(err)
		}
	}
	isThere := func() (is bool) {
		t.Helper()
		for _, file := range []string{path, path + "-wal"} {
			octets, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			is = is || bytes.Contains(octets, []byte(secret))
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
