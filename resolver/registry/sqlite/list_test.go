package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
)

// A page in the middle of many names or documents costs as little as the first one: earlier ones are not read.
func TestPagesCostTheSame(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const n, page = 2000, 10
	name := func(i int) string { return fmt.Sprintf("urn:example:%05d", i) }
	err = s.Write(t.Context(), func(tx registry.WriteTx) error {
		var changes []registry.Changed
		var documents []registry.Document
		for i := range n {
			changes = append(changes,
				registry.Changed{After: registry.Entry{
					Key: registry.Name(name(i)), Version: 1,
					Changed: time.UnixMilli(1),
				}})
			documents = append(documents, registry.Document{Key: name(i), Value: []byte{}})
		}
		if err := tx.Append(&registry.ChangeSet{Time: time.UnixMilli(1)}, changes, nil); err != nil {
			return err
		}
		return tx.Put(registry.TableImports, documents)
	})
	if err != nil {
		t.Fatal(err)
	}
	var used *conn
	count := func() (steps int) {
		for _, statement := range used.statements {
			steps += statement.Status(sqlite3.STMTSTATUS_VM_STEP, true)
		}
		return steps
	}
	steps := func(after string) (list, documents int) {
		// The pool returns this connection again at the next use.
		if err := s.transactions.with(t.Context(), func(c *conn) error { used = c; return nil }); err != nil {
			t.Fatal(err)
		}
		err := s.Read(t.Context(), func(tx registry.Tx) error {
			count()
			entries, err := tx.List(registry.KindName, "urn:", after, page)
			if err != nil || len(entries) != page || entries[0].Name <= after {
				t.Errorf("the page after %q has %d entries, %v", after, len(entries), err)
			}
			list = count()
			found, err := tx.Documents(registry.TableImports, "urn:", after, page)
			if err != nil || len(found) != page || found[0].Key <= after {
				t.Errorf("the page after %q has %d documents, %v", after, len(found), err)
			}
			documents = count()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list, documents
	}
	firstList, firstDocuments := steps("")
	list, documents := steps(name(n - 2*page))
	if firstList == 0 || list > firstList+page || firstDocuments == 0 || documents > firstDocuments+page {
		t.Errorf("steps of a page at the end: %d and %d, of the first one: %d and %d", list, documents, firstList,
			firstDocuments)
	}
}
