package registry_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// setsOf returns the change sets of a registry after a number.
func setsOf(t *testing.T, r *registry.Registry, after registry.Seq) (sets []registry.ChangeSet) {
	t.Helper()
	if err := r.ChangeSets(t.Context(), after,
		func(s registry.ChangeSet) bool { sets = append(sets, s); return true }); err != nil {
		t.Fatal(err)
	}
	return sets
}

func lead(name, target string) registry.Edit {
	return registry.Edit{
		Key: registry.Name(name), IfVersion: registry.AnyVersion, Note: "why",
		Change: registry.Put(registry.Record{Targets: []registry.Target{{URI: target}}}),
	}
}

func apply(t *testing.T, r *registry.Registry, edits ...registry.Edit) {
	t.Helper()
	if _, err := r.Apply(t.Context(), admin(), edits...); err != nil {
		t.Fatal(err)
	}
}

func TestChangeSets(t *testing.T) {
	r := chained(t, 5)
	apply(t, r, lead("urn:example:a", "https://example.org/a"))
	sets := setsOf(t, r, 0)
	if len(sets) != 3 || sets[0].Number != 1 || sets[0].Rows != 5 || sets[1].Number != 6 || sets[2].Number != 11 ||
		sets[2].Last != 11 {
		t.Errorf("the change sets are %+v", sets)
	}
	if s := sets[2]; s.By != "admin" || s.Note != "why" || s.Time.IsZero() {
		t.Errorf("the last one is %+v", s)
	}
	if later := setsOf(t, r, 6); len(later) != 1 || later[0].Number != 11 {
		t.Errorf("those after 6 are %+v", later)
	}
}

// ChangeSetsBefore yields the change sets in reverse order: sets of one row and of thousands, over many pages,
// and interleaved ones.
func TestChangeSetsBefore(t *testing.T) {
	r := chained(t, 3)
	n := 0
	into := func(set registry.ChangeSet, rows int) registry.ChangeSet {
		t.Helper()
		_, err := r.Change(t.Context(), admin(), func(_ registry.WriteTx, w *registry.Batch) error {
			if set.Kind != "" {
				w.SetChangeSet(set)
			}
			for range rows {
				n++
				record := registry.Record{Targets: []registry.Target{{URI: "https://a.example/"}}}
				if _, _, err := w.Put(registry.Name(fmt.Sprintf("urn:example:before-%d", n)), record,
					"why"); err != nil {
					return err
				}
			}
			if _, err := w.Flush(); err != nil {
				return err
			}
			set = w.ChangeSet()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	imported := into(registry.ChangeSet{Kind: registry.KindImport, By: "admin", Time: r.Now()}, 3000)
	for i := range 1300 {
		if into(registry.ChangeSet{}, 1); i%400 == 0 {
			imported = into(imported, 700)
		}
	}
	want := setsOf(t, r, 0)
	slices.Reverse(want)
	for _, before := range []registry.Seq{0, 1, 2, 4, 1000, 3003, 3004, 3500, want[0].Number, want[0].Number + 1} {
		var got []registry.Seq
		err := r.ChangeSetsBefore(t.Context(), before,
			func(s registry.ChangeSet) bool { got = append(got, s.Number); return true })
		var numbers []registry.Seq
		for _, set := range want {
			if before == 0 || set.Number < before {
				numbers = append(numbers, set.Number)
			}
		}
		if err != nil || !slices.Equal(got, numbers) {
			t.Errorf("before %d there are %d sets, %v; want %d", before, len(got), err, len(numbers))
		}
	}
	calls := 0
	if err := r.ChangeSetsBefore(t.Context(), 0,
		func(registry.ChangeSet) bool { calls++; return calls < 3 }); err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// A revert restores changed records, withdraws created names, and leaves keys that were changed meanwhile.
func TestRevert(t *testing.T) {
	r := chained(t, 0)
	apply(t, r, lead("urn:example:a", "https://old.example/a"), lead("urn:example:b", "https://old.example/b"))
	apply(t, r, lead("urn:example:a", "https://new.example/a"), lead("urn:example:b", "https://new.example/b"),
		lead("urn:example:c", "https://new.example/c"))
	apply(t, r, lead("urn:example:b", "https://other.example/b"))
	set := setsOf(t, r, 0)[1]
	var conflicts []string
	revert := registry.Revert{
		Set: set.Number, Note: "a mistake", DryRun: true,
		Conflict: func(key registry.Key, err error) { conflicts = append(conflicts, key.Name+": "+err.Error()) },
	}
	report, err := r.Revert(t.Context(), admin(), revert)
	if err != nil || report.Names != 2 || report.Conflicts != 1 || report.Set.Number != 0 || len(setsOf(t, r, 0)) != 3 {
		t.Errorf("a dry run: %+v, %v", report, err)
	}
	revert.DryRun, conflicts = false, nil
	if report, err = r.Revert(t.Context(), admin(), revert); err != nil || report.Names != 2 || report.Conflicts != 1 {
		t.Errorf("reverting: %+v, %v", report, err)
	}
	if len(conflicts) != 1 || !strings.HasPrefix(conflicts[0], "urn:example:b: ") {
		t.Errorf("conflicts: %q", conflicts)
	}
	for name, want := range map[string]string{
		"urn:example:a": "https://old.example/a active ", "urn:example:b": "https://other.example/b active ",
		"urn:example:c": "https://new.example/c withdrawn a mistake",
	} {
		e, err := r.Get(t.Context(), registry.Name(name))
		if err != nil || e.Targets[0].URI+" "+e.Status.String()+" "+e.Reason != want {
			t.Errorf("%s: %+v, %v; want %s", name, e, err, want)
		}
	}
	made := setsOf(t, r, 0)[3]
	if made.Kind != registry.KindRevert || made.Reverts != set.Number || made.Rows != 2 || made.Note != "a mistake" ||
		made.By != "admin" {
		t.Errorf("the change set of it is %+v", made)
	}
	if report, err := r.Revert(t.Context(), admin(), revert); err != nil || report.Names != 0 || report.Conflicts != 1 {
		t.Errorf("again: %+v, %v", report, err)
	}
	// A revert can be reverted.
	if report, err := r.Revert(t.Context(), admin(),
		registry.Revert{Set: made.Number, Note: "no mistake"}); err != nil || report.Names != 2 {
		t.Errorf("reverting that: %+v, %v", report, err)
	}
	if e, err := r.Get(t.Context(), registry.Name("urn:example:c")); err != nil || e.Status != registry.Active {
		t.Errorf("urn:example:c is %+v, %v", e, err)
	}
	if failures := problemsOf(t, r.Store()); failures != "" {
		t.Errorf("afterwards: %s", failures)
	}
}

func TestRevertRefused(t *testing.T) {
	r := chained(t, 2)
	for what, c := range map[string]struct {
		actor  registry.Actor
		revert registry.Revert
		want   error
	}{
		"by a writer": {
			registry.Actor{Name: "w", Role: registry.Writer},
			registry.Revert{Set: 1, Note: "x"},
			registry.ErrDenied,
		},
		"without a note": {admin(), registry.Revert{Set: 1}, registry.ErrInvalid},
		"of no set":      {admin(), registry.Revert{Set: 2, Note: "x"}, registry.ErrUnknown},
		"of a later one": {admin(), registry.Revert{Set: 99, Note: "x"}, registry.ErrUnknown},
	} {
		if report, err := r.Revert(t.Context(), c.actor, c.revert); !errors.Is(err, c.want) || report.Names != 0 {
			t.Errorf("%s: %+v, %v; want %v", what, report, err, c.want)
		}
	}
}

// An interrupted revert continues: keys that it has already reverted are no conflicts.
func TestRevertAgain(t *testing.T) {
	r := chained(t, 0)
	apply(t, r, lead("urn:example:a", "https://old.example/a"))
	apply(t, r, lead("urn:example:a", "https://new.example/a"), lead("urn:example:b", "https://new.example/b"))
	set := setsOf(t, r, 0)[1].Number
	for _, want := range []int64{2, 0} {
		revert := registry.Revert{
			Set: set, Note: "a mistake",
			Conflict: func(key registry.Key, err error) { t.Errorf("%s: %v", key, err) },
		}
		if report, err := r.Revert(t.Context(), admin(), revert); err != nil || report.Names != want {
			t.Errorf("%+v, %v, want %d", report, err, want)
		}
	}
}

// A change set that swapped an alias and its target is reverted as a whole.
func TestRevertSwap(t *testing.T) {
	f := newFixture(t)
	record := func(name string, r registry.Record) registry.Edit {
		return registry.Edit{Key: registry.Name(name), IfVersion: registry.AnyVersion, Change: registry.Put(r)}
	}
	for _, edits := range [][]registry.Edit{
		{record(link(1), leadsTo("https://a.example/")), record(link(2), registry.Record{Alias: link(1)})},
		{record(link(2), leadsTo("https://a.example/")), record(link(1), registry.Record{Alias: link(2)})},
	} {
		apply(t, f.Registry, edits...)
	}
	sets := setsOf(t, f.Registry, 0)
	report, err := f.Revert(t.Context(), admin(), registry.Revert{Set: sets[1].Number, Note: "why"})
	if err != nil || report.Names != 2 || report.Conflicts != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	e, err := f.Get(t.Context(), registry.Name(link(2)))
	if err != nil || e.Alias != link(1) {
		t.Errorf("%+v, %v", e, err)
	}
}
