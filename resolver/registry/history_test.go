package registry_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// chained returns a registry of names with two versions each.
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
				Key: registry.Name(fmt.Sprintf("urn:example:%d", i)), IfVersion: registry.AnyVersion, Note: "why",
				Change: registry.Put(registry.Record{
					Targets:  []registry.Target{{URI: fmt.Sprintf("https://example.org/%d/%d", version, i)}},
					Metadata: `{"title":"secret"}`,
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

func problemsOf(t *testing.T, s registry.Store) string {
	t.Helper()
	var problems []string
	if err := s.Verify(t.Context(), func(problem string) { problems = append(problems, problem) },
		func(_, _ registry.Seq) {}); err != nil {
		t.Errorf("verifying: %v", err)
	}
	return strings.Join(problems, "\n")
}

// Redacted data is found nowhere, and the chain of digests still verifies.
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
	for _, want := range []int{1, 0} { // the second redaction changes nothing
		if n, err := r.Redact(t.Context(), admin(), key, []int{1, 1}, "court order 1"); err != nil || n != want {
			t.Fatalf("%d were redacted, want %d, %v", n, want, err)
		}
	}
	versions, err := r.History(t.Context(), key, 0, 10)
	if err != nil || len(versions) != 2 {
		t.Fatalf("the history: %+v, %v", versions, err)
	}
	old := versions[1]
	if !old.Redacted || old.Targets != nil || old.Metadata != "" || old.By != "admin" || old.Note != "why" ||
		old.Version != 1 {
		t.Errorf("the redacted version is %+v", old)
	}
	entry, err := r.At(t.Context(), key, old.Changed)
	if strings.Contains(fmt.Sprint(entry), "https://example.org/0/3") {
		t.Errorf("as it was: %+v", entry)
	}
	if problems := problemsOf(t, r.Store()); problems != "" || err != nil {
		t.Errorf("after a redaction: %s, %v", problems, err)
	}
}

// The totals exclude redacted targets of a current version.
func TestRedactCurrent(t *testing.T) {
	r := chained(t, 2)
	key := registry.Name("urn:example:1")
	withdrawn := registry.Edit{Key: key, IfVersion: registry.AnyVersion, Change: registry.Withdraw("lost")}
	if _, err := r.Apply(t.Context(), admin(), withdrawn); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Redact(t.Context(), admin(), key, []int{3}, "court order 2"); err != nil {
		t.Fatal(err)
	}
	if problems := problemsOf(t, r.Store()); problems != "" {
		t.Errorf("after a redaction of the current version: %s", problems)
	}
}
