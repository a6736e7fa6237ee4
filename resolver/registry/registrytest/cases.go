package registrytest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

func testEntries(t *testing.T, s registry.Store) {
	if e := lookup(t, s, registry.Name("urn:example:a")); e.Exists() {
		t.Errorf("an empty store has %+v", e)
	}
	if head, err := s.Head(t.Context()); head != 0 || err != nil {
		t.Errorf("the head of an empty store is %d, %v", head, err)
	}
	in := appended(t, s, entry("urn:example:b", 1), entry("urn:example:a", 1))
	if got := lookup(t, s, registry.Name("urn:example:a")); !reflect.DeepEqual(got, in[1]) {
		t.Errorf("looked up\n%+v, want\n%+v", got, in[1])
	}
	if e := lookup(t, s, registry.Prefix("urn:example:a")); e.Exists() {
		t.Errorf("a name was found as a prefix: %+v", e)
	}
	read(t, s, func(tx registry.Tx) error {
		keys := []registry.Key{
			registry.Name("urn:example:a"), registry.Name("urn:example:none"),
			registry.Name("urn:example:b"),
		}
		got, err := tx.Entries(keys)
		if err == nil && (len(got) != 3 || !reflect.DeepEqual(got[0], in[1]) || got[1].Exists() ||
			!reflect.DeepEqual(got[2], in[0])) {
			t.Errorf("entries: %+v", got)
		}
		return err
	})
}

func testVersions(t *testing.T, s registry.Store) {
	key := registry.Name("urn:example:a")
	first := appended(t, s, entry(key.Name, 1))[0]
	appended(t, s, entry("urn:example:other", 1))
	second := appended(t, s, entry(key.Name, 2))[0]
	both := appended(t, s, entry("urn:example:two", 1), entry("urn:example:two", 2)) // in one batch
	if both[1].First != both[0].Seq {
		t.Errorf("the first version of a batch is %d, want %d", both[1].First, both[0].Seq)
	}
	if got := lookup(t, s, key); !reflect.DeepEqual(got, second) {
		t.Errorf("the current version is %+v, want %+v", got, second)
	}
	read(t, s, func(tx registry.Tx) error {
		for _, c := range []struct {
			before registry.Seq
			limit  int
			want   []registry.Entry
		}{
			{0, 10, []registry.Entry{second, first}},
			{0, 1, []registry.Entry{second}},
			{second.Seq, 10, []registry.Entry{first}},
			{first.Seq, 10, nil},
		} {
			got, err := tx.Versions(key, c.before, c.limit)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("versions before %d, at most %d: %+v, %v; want %+v", c.before, c.limit, got, err, c.want)
			}
		}
		got, err := tx.Versions(registry.Name("urn:example:none"), 0, 10)
		if len(got) > 0 {
			t.Errorf("versions of a name that is not there: %+v", got)
		}
		return err
	})
}

func testList(t *testing.T, s registry.Store) {
	names := []string{"urn:a:1", "urn:a:10", "urn:a:2", "urn:a:B", "urn:a:b", "urn:b:1"}
	var in []registry.Entry
	for _, name := range slices.Backward(names) {
		in = append(in, entry(name, 1))
	}
	in = append(in, registry.Entry{Key: registry.Prefix("urn:a:"), Version: 1, Changed: epoch})
	appended(t, s, in...)
	read(t, s, func(tx registry.Tx) error {
		for _, c := range []struct {
			prefix, after string
			limit         int
			want          []string
		}{
			{"", "", 10, names},
			{"urn:a:", "", 10, names[:5]},
			{"urn:a:1", "", 10, names[:2]},
			{"urn:a:", "urn:a:10", 2, names[2:4]},
			{"urn:a:", "urn:a:b", 10, nil},
			{"urn:c:", "", 10, nil},
		} {
			got, err := tx.List(registry.KindName, c.prefix, c.after, c.limit)
			if err != nil || !slices.Equal(namesOf(got), c.want) {
				t.Errorf("%q after %q, at most %d: %q, %v; want %q", c.prefix, c.after, c.limit, namesOf(got),
					err, c.want)
			}
		}
		got, err := tx.List(registry.KindPrefix, "", "", 10)
		if !slices.Equal(namesOf(got), []string{"urn:a:"}) {
			t.Errorf("prefixes: %q", namesOf(got))
		}
		return err
	})
}

func namesOf(entries []registry.Entry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names
}

func testFloor(t *testing.T, s registry.Store) {
	for _, prefix := range []string{"urn:a:", "urn:a:b:", "urn:B:"} {
		appended(t, s, registry.Entry{Key: registry.Prefix(prefix), Version: 1, Changed: epoch})
	}
	appended(t, s, entry("urn:a:b:c", 1))
	for text, want := range map[string]string{
		"urn:a:b:" + strings.Repeat("c", 2*registry.MaxKey): "urn:a:b:",
		"urn:a:b:c": "urn:a:b:", "urn:a:b:": "urn:a:b:", "urn:a:b": "urn:a:", "urn:z": "urn:a:b:", "urn:C": "urn:B:",
		"urn:A": "",
	} {
		if got, err := s.Floor(t.Context(), text); err != nil || got.Name != want {
			t.Errorf("floor of %s: %q, %v; want %q", text, got.Name, err, want)
		}
	}
}

func testChanges(t *testing.T, s registry.Store) {
	first := appended(t, s, entry("urn:example:a", 1))[0]
	appended(t, s, entry("urn:example:b", 1), entry("urn:example:a", 2))
	read(t, s, func(tx registry.Tx) error {
		all, err := tx.Changes(0, 10)
		if err != nil || len(all) != 3 || all[2].Key != registry.Name("urn:example:a") {
			t.Errorf("changes: %+v, %v", all, err)
		}
		some, err := tx.Changes(first.Seq, 1)
		if err != nil || len(some) != 1 || some[0].Key != registry.Name("urn:example:b") {
			t.Errorf("the first change after %d: %+v, %v", first.Seq, some, err)
		}
		none, err := tx.Changes(all[2].Seq, 10)
		if len(none) > 0 {
			t.Errorf("changes after the last: %+v", none)
		}
		for _, tt := range []struct {
			before registry.Seq
			limit  int
			want   string
			last   registry.Seq
		}{
			{1 << 62, 10, "urn:example:a urn:example:b", 0},
			{1 << 62, 1, "urn:example:a", all[2].Seq},
			{all[2].Seq, 2, "urn:example:b", first.Seq}, // the first version of a is not current
			{first.Seq, 2, "", 0},
		} {
			current, last, err := tx.Latest(tt.before, tt.limit)
			var keys []string
			for _, c := range current {
				keys = append(keys, c.Key.String())
			}
			if got := strings.Join(keys, " "); err != nil || got != tt.want || last != tt.last {
				t.Errorf("the latest before %d: %s up to %d, %v, want %s up to %d", tt.before, got, last, err,
					tt.want, tt.last)
			}
		}
		return err
	})
}

func testDocuments(t *testing.T, s registry.Store) {
	write(t, s, func(tx registry.WriteTx) error {
		documents := []registry.Document{
			{Key: "a 1", Value: []byte("x")},
			{Key: "a 2", Value: []byte{}},
			{Key: "b", Value: []byte("ä")},
		}
		if err := tx.Put(registry.TableImports, documents); err != nil {
			return err
		}
		return tx.Put(registry.TableImports, []registry.Document{{Key: "a 1", Value: []byte("y")}})
	})
	read(t, s, func(tx registry.Tx) error {
		got, err := tx.Documents(registry.TableImports, "a ", "", 10)
		if err != nil || len(got) != 2 || string(got[0].Value) != "y" || got[1].Value == nil || len(got[1].Value) > 0 {
			t.Errorf("documents: %q, %v", got, err)
		}
		value, err := tx.Document(registry.TableMarks, "b")
		if value != nil || err != nil {
			t.Errorf("a document of another table: %q, %v", value, err)
		}
		return err
	})
	write(t, s, func(tx registry.WriteTx) error {
		return tx.Put(registry.TableImports, []registry.Document{{Key: "a 2"}, {Key: "none"}})
	})
	read(t, s, func(tx registry.Tx) error {
		value, err := tx.Document(registry.TableImports, "a 2")
		if value != nil {
			t.Errorf("a removed document is %q", value)
		}
		return err
	})
}

var errTest = errors.New("the function failed")

func testRollback(t *testing.T, s registry.Store) {
	err := s.Write(t.Context(), func(tx registry.WriteTx) error {
		if err := Append(tx, entry("urn:example:a", 1)); err != nil {
			return err
		}
		if got, err := tx.Entries([]registry.Key{registry.Name("urn:example:a")}); err != nil || !got[0].Exists() {
			t.Errorf("a transaction does not see what it wrote: %+v, %v", got, err)
		}
		return errTest
	})
	if !errors.Is(err, errTest) {
		t.Errorf("the error is %v", err)
	}
	if e := lookup(t, s, registry.Name("urn:example:a")); e.Exists() {
		t.Errorf("there is %+v after a rollback", e)
	}
}

func testPurge(t *testing.T, s registry.Store) {
	appended(t, s, entry("urn:example:a", 1))
	second := appended(t, s, entry("urn:example:a", 2))[0]
	key := registry.Name("urn:example:a")
	purge(t, s, key)
	if e := lookup(t, s, key); e.Exists() {
		t.Errorf("there is %+v after a purge", e)
	}
	read(t, s, func(tx registry.Tx) error {
		changes, err := tx.Changes(second.Seq, 10)
		if err != nil || len(changes) != 1 || changes[0].Key != key {
			t.Errorf("changes after a purge: %+v, %v", changes, err)
		}
		versions, err := tx.Versions(key, 0, 10)
		if len(versions) > 0 {
			t.Errorf("versions after a purge: %+v", versions)
		}
		return err
	})
	again := appended(t, s, entry("urn:example:a", 1))[0]
	if got := lookup(t, s, key); !reflect.DeepEqual(got, again) {
		t.Errorf("registered again: %+v, want %+v", got, again)
	}
}

func testConcurrentStores(t *testing.T, a, b registry.Store) {
	const n = 20
	done := make(chan error, 2)
	for _, s := range []registry.Store{a, b} {
		go func() {
			var failed error
			for range n {
				failed = errors.Join(failed, s.Write(t.Context(), func(tx registry.WriteTx) error {
					before, err := tx.Entries([]registry.Key{registry.Name("urn:example:count")})
					if err != nil {
						return err
					}
					return Append(tx, entry("urn:example:count", before[0].Version+1))
				}))
			}
			done <- failed
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("writing: %v", err)
		}
	}
	for _, s := range []registry.Store{a, b} {
		if e := lookup(t, s, registry.Name("urn:example:count")); e.Version != 2*n {
			t.Errorf("two writers made version %d, want %d", e.Version, 2*n)
		}
	}
}
