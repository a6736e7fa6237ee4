package registrytest

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// rows returns all rows of a store.
func rows(t *testing.T, s registry.Store) (all []registry.Row) {
	t.Helper()
	read(t, s, func(tx registry.Tx) (err error) {
		all, err = tx.Rows(0, 1000)
		return err
	})
	return all
}

func rewrite(t *testing.T, s registry.Store, changed ...registry.Row) {
	t.Helper()
	write(t, s, func(tx registry.WriteTx) error { return tx.Rewrite(changed) })
}

// mustFind reports where Verify does not find a fault that a text is in.
func mustFind(t *testing.T, s registry.Store, what, fault string) {
	t.Helper()
	if found := verified(t, s); !strings.Contains(found, fault) {
		t.Errorf("%s: the faults are %q, want %q", what, found, fault)
	}
}

// twice makes a key with two versions, of which the first leads to a place that nobody is to know.
func twice(t *testing.T, s registry.Store, name string) {
	t.Helper()
	for _, uri := range []string{"https://example.org/secret", "https://example.org/open"} {
		put(t, s, registry.Name(name), registry.Record{Targets: []registry.Target{{URI: uri}}})
	}
}

// Each version that is purged is named by a purge, and each that one names is purged.
func testPurged(t *testing.T, s registry.Store) {
	twice(t, s, "urn:example:a")
	twice(t, s, "urn:example:b")
	before := rows(t, s)
	var purged []registry.Row
	undone := errors.New("undone")
	err := s.Write(t.Context(), func(tx registry.WriteTx) error {
		if err := registry.PurgeKeys(tx, []registry.Key{registry.Name("urn:example:a")}); err != nil {
			return err
		}
		var err error
		purged, err = tx.Rows(0, 1000)
		return errors.Join(err, undone)
	})
	if !errors.Is(err, undone) || len(purged) != len(before)+1 {
		t.Fatalf("%d rows after a purge of %d, %v", len(purged), len(before), err)
	}
	rewrite(t, s, purged[0]) // its leaf is as it was
	mustFind(t, s, "purged by hand", "number 1 is purged, and nobody is said to have done it")
	rewrite(t, s, before[0])
	if found := verified(t, s); found != "" {
		t.Errorf("as it was: %s", found)
	}

	// urn:example:b has the numbers 3 and 4.
	write(t, s, func(tx registry.WriteTx) error {
		return registry.PurgeKeys(tx, []registry.Key{registry.Name("urn:example:b")})
	})
	if found := verified(t, s); strings.Contains(found, "number") {
		t.Errorf("after a purge: %s", found)
	}
	rewrite(t, s, before[2])
	mustFind(t, s, "a purged version that is there again", "number 3 is said to be purged, and is not")
}

// What is left of a version that was redacted is what its redaction says, also where it was written before there was a tree.
func testRedacted(t *testing.T, s registry.Store) {
	key := registry.Name("urn:example:a")
	first := entry(key.Name, 1, 0)
	write(t, s, func(tx registry.WriteTx) error {
		return tx.Append([]registry.Row{{Seq: 1, Key: key, Octets: registry.Encode(first)}})
	})
	put(t, s, key, registry.Record{Targets: []registry.Target{{URI: "https://example.org/second"}}})
	put(t, s, key, registry.Record{Status: registry.Withdrawn, Reason: "moved"})
	health := []registry.Document{{Key: key.Name + " 00", Value: []byte("https://example.org/1")}, {Key: key.Name + "b 00", Value: []byte("of another")}}
	write(t, s, func(tx registry.WriteTx) error { return tx.Put(registry.TableHealth, health) })
	before := rows(t, s)
	counted := verified(t, s) // the first version is not
	r := registry.New(registry.Config{
		Store: s, Now: func() time.Time { return epoch },
		Canonical:       func(text string) (string, error) { return text, nil },
		CanonicalPrefix: func(text string) (string, error) { return text, nil },
	})
	if _, err := r.Redact(t.Context(), registry.Actor{Name: "admin", Role: registry.Admin}, key, []int{1, 2}, "court order"); err != nil {
		t.Fatal(err)
	}
	if found := verified(t, s); found != counted {
		t.Errorf("after a redaction: %q, before: %q", found, counted)
	}
	read(t, s, func(tx registry.Tx) error {
		left, err := tx.Documents(registry.TableHealth, "", "", 10)
		if len(left) != 1 || left[0].Key != health[1].Key {
			t.Errorf("the health of targets that is left: %+v", left)
		}
		return err
	})
	redacted := rows(t, s)
	for i := range 2 {
		rewrite(t, s, before[i])
		mustFind(t, s, "a redacted version that is there again", "is said to be redacted, and is not")
		changed := redacted[i]
		at := bytes.Index(changed.Octets, []byte("test")) // who made it
		if at < 0 {
			t.Fatalf("who made number %d is not in what is left of it", changed.Seq)
		}
		changed.Octets = bytes.Clone(changed.Octets)
		changed.Octets[at] ^= 1
		rewrite(t, s, changed)
		mustFind(t, s, "what is left of a redacted version, changed", "is not what its redaction has left of it")
		rewrite(t, s, redacted[i])
	}
	if found := verified(t, s); found != counted {
		t.Errorf("as it was: %q, before: %q", found, counted)
	}
}

// A store whose versions were written with a tree has one.
func testTree(t *testing.T, s registry.Store) {
	twice(t, s, "urn:example:a")
	write(t, s, func(tx registry.WriteTx) error {
		for _, table := range []registry.Table{registry.TableTree, registry.TableCommits} {
			all, err := tx.Documents(table, "", "", 1000)
			if err != nil {
				return err
			}
			for i := range all {
				all[i].Value = nil
			}
			if err := tx.Put(table, all); err != nil {
				return err
			}
		}
		return nil
	})
	mustFind(t, s, "a store without its tree", "the tree of the registry is missing")
}

// Of a key that has two versions that nothing follows only one can be the current one.
func testForked(t *testing.T, s registry.Store) {
	key := registry.Name("urn:example:a")
	put(t, s, key, registry.Record{Status: registry.Reserved})
	first := lookup(t, s, key)
	fork := entry(key.Name, 2, first.Seq)
	for range 2 {
		appended(t, s, fork)
	}
	mustFind(t, s, "two versions after one", "are not those that no other one follows")
}
