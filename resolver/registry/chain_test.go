package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// chained is a registry with a history.
func chained(t *testing.T, names int) *registry.Registry {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := registry.New(registry.Config{
		Store: s, Now: func() time.Time { return time.UnixMilli(1_900_000_000_000) },
		Canonical:       func(text string) (string, error) { return text, nil },
		CanonicalPrefix: func(text string) (string, error) { return text, nil },
	})
	for version := range 2 {
		edits := make([]registry.Edit, names)
		for i := range edits {
			edits[i] = registry.Edit{
				Key: registry.Name(fmt.Sprintf("urn:example:%d", i)), IfVersion: registry.Any, Note: "why",
				Change: registry.Put(registry.Record{
					Targets: []registry.Target{{URI: fmt.Sprintf("https://example.org/%d/%d", version, i)}}, Metadata: `{"title":"secret"}`,
				}),
			}
		}
		if _, err := r.Apply(t.Context(), admin(), edits...); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func admin() registry.Actor { return registry.Actor{Name: "admin", Role: registry.Admin} }

func faultsOf(t *testing.T, s registry.Store) string {
	t.Helper()
	var faults []string
	if err := registry.Verify(t.Context(), s, func(fault string) { faults = append(faults, fault) }, func(_, _ registry.Seq) {}); err != nil {
		t.Errorf("verifying: %v", err)
	}
	return strings.Join(faults, "\n")
}

// Each name is proven, and its proof is of no other registry.
func TestProve(t *testing.T) {
	r, other := chained(t, 300), chained(t, 300)
	head, err := r.TreeHead(t.Context())
	if err != nil || head.Size != 600 {
		t.Fatalf("the head is %+v, %v", head, err)
	}
	for i := range 300 {
		p, err := r.Prove(t.Context(), registry.Name(fmt.Sprintf("urn:example:%d", i)))
		if err != nil || p.Verify() != nil || p.Head != head {
			t.Fatalf("the proof of %d: %+v, %v, %v", i, p, err, p.Verify())
		}
	}
	p, err := other.Prove(t.Context(), registry.Name("urn:example:1"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Head = head; p.Verify() == nil {
		t.Error("a proof of one registry is one of another: its versions have no salt")
	}
	if _, err := r.Prove(t.Context(), registry.Name("urn:example:none")); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("a name that is not registered: %v", err)
	}
}

// What is redacted is nowhere, and the tree verifies as before.
func TestRedact(t *testing.T) {
	r := chained(t, 10)
	key := registry.Name("urn:example:3")
	if _, err := r.Redact(t.Context(), admin(), key, []int{2}, "court order 1"); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("the current version of an active name: %v", err)
	}
	if _, err := r.Redact(t.Context(), admin(), key, []int{7}, "court order 1"); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("a version that is not there: %v", err)
	}
	if _, err := r.Redact(t.Context(), admin(), key, []int{1}, ""); !errors.Is(err, registry.ErrInvalid) {
		t.Errorf("without a reason: %v", err)
	}
	writer := registry.Actor{Name: "w", Role: registry.Writer}
	if _, err := r.Redact(t.Context(), writer, key, []int{1}, "x"); !errors.Is(err, registry.ErrDenied) {
		t.Errorf("by a writer: %v", err)
	}
	for _, want := range []int{1, 0} { // again changes nothing
		if n, err := r.Redact(t.Context(), admin(), key, []int{1, 1}, "court order 1"); err != nil || n != want {
			t.Fatalf("%d were redacted, want %d, %v", n, want, err)
		}
	}
	versions, err := r.History(t.Context(), key, 0, 10)
	if err != nil || len(versions) != 2 {
		t.Fatalf("the history: %+v, %v", versions, err)
	}
	old := versions[1]
	if !old.Redacted || old.Targets != nil || old.Metadata != "" || old.By != "admin" || old.Note != "why" || old.Version != 1 {
		t.Errorf("the redacted version is %+v", old)
	}
	err = r.Store().Read(t.Context(), func(tx registry.Tx) error {
		rows, err := tx.Rows(0, 100)
		for _, row := range rows {
			if bytes.Contains(row.Octets, []byte("https://example.org/0/3")) {
				t.Errorf("number %d has what was redacted", row.Seq)
			}
		}
		if n := len(rows); n != 21 {
			t.Errorf("there are %d rows, want 20 versions and one redaction", n)
		}
		return err
	})
	if faults := faultsOf(t, r.Store()); faults != "" || err != nil {
		t.Errorf("after a redaction: %s, %v", faults, err)
	}
}

// What is redacted of the current version is no longer counted, and what an older program has written without the tree becomes a part of it.
func TestRedactAndCatchUp(t *testing.T) {
	r := chained(t, 2)
	key := registry.Name("urn:example:1")
	withdrawn := registry.Edit{Key: key, IfVersion: registry.Any, Change: registry.Withdraw("lost")}
	if _, err := r.Apply(t.Context(), admin(), withdrawn); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Redact(t.Context(), admin(), key, []int{3}, "court order 2"); err != nil {
		t.Fatal(err)
	}
	if faults := faultsOf(t, r.Store()); faults != "" {
		t.Errorf("after a redaction of the current version: %s", faults)
	}
	old := registry.Entry{Key: registry.Name("urn:example:old"), Version: 1, Changed: time.UnixMilli(1)}
	err := r.Store().Write(t.Context(), func(tx registry.WriteTx) error {
		head, err := r.Store().Head(t.Context())
		if err != nil {
			return err
		}
		return tx.Append([]registry.Row{{Seq: head + 1, Key: old.Key, Octets: registry.Encode(old)}})
	})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, r, lead("urn:example:new", "https://example.org/new"))
	if faults := faultsOf(t, r.Store()); strings.Contains(faults, "number") || !strings.Contains(faults, "totals") {
		t.Errorf("after a change by an older program, which is not counted here: %s", faults)
	}
	if _, err := r.Prove(t.Context(), old.Key); err != nil {
		t.Errorf("proving it: %v", err)
	}
}

// One bit that is changed in any octet of a version is found, and so is a version that is gone.
func TestVerifyFindsEachBit(t *testing.T) {
	r := chained(t, 3)
	var rows []registry.Row
	err := r.Store().Read(t.Context(), func(tx registry.Tx) (err error) {
		rows, err = tx.Rows(0, 100)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(row registry.Row) {
		t.Helper()
		if err := r.Store().Write(t.Context(), func(tx registry.WriteTx) error { return tx.Rewrite([]registry.Row{row}) }); err != nil {
			t.Fatal(err)
		}
	}
	row := rows[1]
	for i := range row.Octets {
		changed := row
		changed.Octets = bytes.Clone(row.Octets)
		changed.Octets[i] ^= 1 << (i % 8)
		rewrite(changed)
		if faultsOf(t, r.Store()) == "" {
			t.Errorf("octet %d was changed, and no fault is found", i)
		}
	}
	for what, changed := range map[string]registry.Row{
		"another name":   {Seq: row.Seq, Prev: row.Prev, Key: registry.Name("urn:example:other"), Octets: row.Octets},
		"a prefix":       {Seq: row.Seq, Prev: row.Prev, Key: registry.Prefix(row.Name), Octets: row.Octets},
		"one before":     {Seq: row.Seq, Prev: 1, Key: row.Key, Octets: row.Octets},
		"purged":         {Seq: row.Seq, Key: row.Key},
		"that of before": {Seq: row.Seq, Prev: rows[0].Prev, Key: rows[0].Key, Octets: rows[0].Octets},
	} {
		rewrite(changed)
		if faultsOf(t, r.Store()) == "" {
			t.Errorf("%s: no fault is found", what)
		}
	}
	rewrite(row)
	if faults := faultsOf(t, r.Store()); faults != "" {
		t.Errorf("as it was: %s", faults)
	}
}
