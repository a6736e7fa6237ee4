package registrytest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// An entry with all fields at their limits is stored unchanged.
func testTexts(t *testing.T, s registry.Store) {
	long := strings.Repeat("ä€𝄞", registry.MaxText/len("ä€𝄞"))
	full := registry.Entry{
		Key: registry.Name("urn:example:" + strings.Repeat("n", registry.MaxName-len("urn:example:"))), Version: 1,
		Changed: epoch, By: "Jörg", Note: long,
		Record: registry.Record{
			Status: registry.Withdrawn, Since: epoch.AddDate(-50, 0, 0), Reason: long,
			Successors: []string{"urn:example:b", "urn:example:c"},
			Metadata:   `{"title":"` + strings.Repeat("x", registry.MaxMetadata-100) + `"}`, Contact: long,
			Redirect: 308,
			Sandbox:  true,
		},
	}
	for i := range registry.MaxTargets {
		full.Targets = append(full.Targets, registry.Target{
			URI: fmt.Sprintf("https://example.org/%d", i), Type: "text/html", Language: "de", Priority: i - 50,
			From: epoch.AddDate(-10, 0, 0), Until: epoch.AddDate(100, 0, 0), Note: "日本語", Rel: "gs1:pip", Title: "标题",
			Context: "CN",
		})
	}
	others := []registry.Entry{
		{
			Key: registry.Name("https://example.org/ä"), Version: 1, Changed: epoch,
			Record: registry.Record{Since: epoch, Alias: "urn:example:a"},
		},
		{
			Key: registry.Prefix("urn:example:"), Version: 1, Changed: epoch,
			Record: registry.Record{Since: epoch, Authoritative: true, Status: registry.Reserved},
		},
		{
			Key: registry.Name("urn:example:'; DROP TABLE names; --%_"), Version: 1, Changed: epoch,
			Record: registry.Record{Since: epoch},
		},
	}
	in := appended(t, s, append([]registry.Entry{full}, others...)...)
	for _, want := range in {
		if got := lookup(t, s, want.Key); !reflect.DeepEqual(got, want) {
			t.Errorf("%.60s: looked up\n%.500v, want\n%.500v", want.Key, fmt.Sprint(got), fmt.Sprint(want))
		}
	}
	value := []byte(strings.Repeat("v", 1<<20))
	write(t, s, func(tx registry.WriteTx) error {
		return tx.Put(registry.TableJobs, []registry.Document{{Key: "größe %_'", Value: value}})
	})
	read(t, s, func(tx registry.Tx) error {
		got, err := tx.Document(registry.TableJobs, "größe %_'")
		if !slices.Equal(got, value) {
			t.Errorf("a document of %d bytes came back with %d", len(value), len(got))
		}
		return err
	})
}

// Keys with a NUL, or that are not UTF-8, are rejected, and their transaction is rolled back.
func testRefused(t *testing.T, s registry.Store) {
	for _, text := range []string{"urn:example:\x00", "\x00", "urn:example:\xff"} {
		for what, f := range map[string]func(tx registry.WriteTx) error{
			"append": func(tx registry.WriteTx) error { return Append(tx, entry(text, 1)) },
			"put": func(tx registry.WriteTx) error {
				return tx.Put(registry.TableJobs, []registry.Document{{Key: text, Value: []byte{1}}})
			},
		} {
			err := s.Write(t.Context(), func(tx registry.WriteTx) error {
				if err := Append(tx, entry("urn:example:before", 1)); err != nil {
					return err
				}
				return f(tx)
			})
			if !errors.Is(err, registry.ErrInvalid) {
				t.Errorf("%s of %q: %v, want %v", what, text, err, registry.ErrInvalid)
			}
		}
	}
	if e := lookup(t, s, registry.Name("urn:example:before")); e.Exists() {
		t.Errorf("there is %+v of a transaction that failed", e)
	}
}

// A transaction that continues after the database rejected a row writes nothing.
func testGoesOn(t *testing.T, s registry.Store) {
	err := s.Write(t.Context(), func(tx registry.WriteTx) error {
		wrong := entry("urn:example:a", 1)
		wrong.Redirect = 999
		if Append(tx, wrong) != nil {
			t.Log("refused at once")
		}
		err := tx.Put(registry.TableJobs, []registry.Document{{Key: "a", Value: []byte("{}")}})
		return errors.Join(err, Append(tx, entry("urn:example:b", 1)))
	})
	if err == nil {
		t.Error("it was written")
	}
	read(t, s, func(tx registry.Tx) error {
		value, err := tx.Document(registry.TableJobs, "a")
		if value != nil {
			t.Errorf("there is %s", value)
		}
		return err
	})
	for _, name := range []string{"urn:example:a", "urn:example:b"} {
		if e := lookup(t, s, registry.Name(name)); e.Exists() {
			t.Errorf("there is %+v", e)
		}
	}
	appended(t, s, entry("urn:example:b", 1))
}

// A limit of 0, or an empty list of keys, yields an empty result.
func testNothing(t *testing.T, s registry.Store) {
	in := appended(t, s, entry("urn:example:a", 1),
		registry.Entry{Key: registry.Prefix("urn:example:"), Version: 1, Changed: epoch})
	write(t, s, func(tx registry.WriteTx) error {
		return errors.Join(tx.Append(new(registry.ChangeSet), nil, nil), tx.Redact(new(registry.ChangeSet), nil),
			tx.Put(registry.TableJobs, nil),
			tx.Put(registry.TableJobs, []registry.Document{{Key: "a", Value: []byte{}}}))
	})
	read(t, s, func(tx registry.Tx) error {
		list, err := tx.List(registry.KindName, "", "", 0)
		versions, err2 := tx.Versions(in[0].Key, 0, 0)
		changes, err3 := tx.Changes(0, 0)
		documents, err4 := tx.Documents(registry.TableJobs, "", "", 0)
		none, err5 := tx.Entries(nil)
		if n := len(list) + len(versions) + len(changes) + len(documents) + len(none); n > 0 {
			t.Errorf("with a limit of 0, there are %d", n)
		}
		return errors.Join(err, err2, err3, err4, err5)
	})
	if head, err := s.Head(t.Context()); head != in[1].Seq || err != nil {
		t.Errorf("the head is %d, %v after appending nothing, want %d", head, err, in[1].Seq)
	}
}

// Names, prefixes and documents are in byte order, regardless of the collation of the database.
func testOrder(t *testing.T, s registry.Store) {
	names := []string{
		"urn:a:-", "urn:a:1", "urn:a:A", "urn:a:B", "urn:a:_", "urn:a:a", "urn:a:a-b", "urn:a:ab", "urn:a:z", "urn:a:~",
		"urn:a:Ä", "urn:a:ä", "urn:a:日",
		"urn:a:𝄞",
	}
	var in []registry.Entry
	var documents []registry.Document
	for _, name := range slices.Backward(names) {
		in = append(in, entry(name, 1), registry.Entry{Key: registry.Prefix(name), Version: 1, Changed: epoch})
		documents = append(documents, registry.Document{Key: name, Value: []byte(name)})
	}
	appended(t, s, in...)
	write(t, s, func(tx registry.WriteTx) error { return tx.Put(registry.TableImports, documents) })
	read(t, s, func(tx registry.Tx) error {
		for from := -1; from < len(names); from++ {
			after := ""
			if from >= 0 {
				after = names[from]
			}
			for _, kind := range []registry.Kind{registry.KindName, registry.KindPrefix} {
				got, err := tx.List(kind, "urn:a:", after, 100)
				if err != nil || !slices.Equal(namesOf(got), names[from+1:]) {
					t.Errorf("%d after %q: %q, %v; want %q", kind, after, namesOf(got), err, names[from+1:])
				}
			}
			got, err := tx.Documents(registry.TableImports, "urn:", after, 100)
			if err != nil || len(got) != len(names)-from-1 {
				t.Errorf("documents after %q: %d, %v; want %d", after, len(got), err, len(names)-from-1)
			}
			if floor, err := tx.Floor(after); err != nil || floor.Name != after {
				t.Errorf("the floor of %q is %q, %v", after, floor.Name, err)
			}
		}
		return nil
	})
}

// Many entries in one batch are all stored, whether their keys are sorted or not, and keys between them do not
// exist.
func testMany(t *testing.T, s registry.Store) {
	const n = 10_000
	var in []registry.Entry
	var requested []registry.Key
	for i := range n {
		in = append(in, entry(fmt.Sprintf("urn:example:%05d", i*7919%n*2), 1))           // unsorted
		requested = append(requested, registry.Name(fmt.Sprintf("urn:example:%05d", i))) // every other one exists
	}
	in = appended(t, s, in...)
	for i, e := range in {
		if e.Seq != in[0].Seq+registry.Seq(i) {
			t.Fatalf("entry %d has number %d, the first has %d", i, e.Seq, in[0].Seq)
		}
	}
	read(t, s, func(tx registry.Tx) error {
		sorted, err := tx.Entries(requested)
		if err != nil {
			return err
		}
		for i, e := range sorted {
			if e.Exists() != (i%2 == 0) || e.Exists() && e.Key != requested[i] {
				t.Fatalf("%s: %+v", requested[i], e)
			}
		}
		keys := make([]registry.Key, len(in))
		for i := range in {
			keys[i] = in[i].Key
		}
		got, err := tx.Entries(keys)
		if err == nil && !reflect.DeepEqual(got, in) {
			t.Error("entries are not in the order of their keys")
		}
		return err
	})
	for i := range in {
		in[i].Version, in[i].Contact = 2, "second"
	}
	in = appended(t, s, in...)
	if got := lookup(t, s, in[n/2].Key); !reflect.DeepEqual(got, in[n/2]) {
		t.Errorf("the second version is %+v, want %+v", got, in[n/2])
	}
}
