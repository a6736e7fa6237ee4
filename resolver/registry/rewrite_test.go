package registry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

func targetOf(t *testing.T, r *registry.Registry, name string) string {
	t.Helper()
	e, err := r.Get(t.Context(), registry.Name(name))
	if err != nil || len(e.Targets) == 0 {
		t.Fatalf("%s: %+v, %v", name, e, err)
	}
	return e.Targets[0].URI
}

// A rewrite of the targets below a prefix is one change set and can be reverted; an entry changed meanwhile is
// a conflict and is left unchanged.
func TestRewrite(t *testing.T) {
	r := chained(t, 0)
	apply(t, r,
		lead("urn:example:a", "http://old.example/a"), lead("urn:example:b", "http://old.example/b"),
		lead("urn:example:c", "https://other.example/c"),
		lead("urn:example:d", "http://old.example/d"), lead("urn:other:a", "http://old.example/other"))
	var conflicts []string
	what := registry.Rewrite{
		Prefix: "urn:example:", Replace: "http://old.example/", With: "https://new.example/", DryRun: true,
		Transaction: 2,
		Conflict:    func(key registry.Key, err error) { conflicts = append(conflicts, key.Name+": "+err.Error()) },
	}
	would, err := r.Rewrite(t.Context(), admin(), what)
	if err != nil || would.Changed != 3 || would.Set.Number != 0 ||
		targetOf(t, r, "urn:example:a") != "http://old.example/a" {
		t.Fatalf("a dry run: %+v, %v", would, err)
	}
	apply(t, r, lead("urn:example:b", "http://elsewhere.example/b"), lead("urn:example:d", "http://old.example/dd"),
		lead("urn:example:e", "http://old.example/e"))
	what.DryRun, what.AsOf = false, would.AsOf
	done, err := r.Rewrite(t.Context(), admin(), what)
	if err != nil || done.Changed != 1 || done.Conflicts != 3 || len(conflicts) != 3 ||
		!strings.Contains(conflicts[0], "changed since, by admin") {
		t.Fatalf("%+v, %v, %q", done, err, conflicts)
	}
	for name, want := range map[string]string{
		"urn:example:a": "https://new.example/a", "urn:example:b": "http://elsewhere.example/b",
		"urn:example:c": "https://other.example/c",
		"urn:example:d": "http://old.example/dd", "urn:other:a": "http://old.example/other",
	} {
		if got := targetOf(t, r, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
	sets := setsOf(t, r, 0)
	if last := sets[len(sets)-1]; last.Kind != registry.KindRewrite ||
		last.Note != "targets moved from http://old.example/ to https://new.example/" ||
		last.By != "admin" {
		t.Errorf("the change set is %+v", last)
	}
	if _, err := r.Revert(t.Context(), admin(), registry.Revert{Set: done.Set.Number, Note: "back"}); err != nil ||
		targetOf(t, r, "urn:example:a") != "http://old.example/a" {
		t.Errorf("taken back: %v", err)
	}
}

// An interrupted rewrite continues in the same change set; an entry changed in between is a conflict.
func TestRewriteContinued(t *testing.T) {
	r := chained(t, 0)
	var edits []registry.Edit
	for i := range 10 {
		edits = append(edits, lead(fmt.Sprintf("urn:example:%d", i), fmt.Sprintf("http://old.example/%d", i)))
	}
	apply(t, r, edits...)
	ctx, cancel := context.WithCancel(t.Context())
	what := registry.Rewrite{
		Prefix: "urn:example:", Replace: "http://old.example/", With: "http://old.example/moved/", Transaction: 3,
		Progress: func(p registry.RewriteResult) {
			if p.Changed > 0 {
				cancel()
			}
		},
	}
	first, err := r.Rewrite(ctx, admin(), what)
	if !errors.Is(err, context.Canceled) || first.Changed != 3 {
		t.Fatalf("%+v, %v", first, err)
	}
	apply(t, r, lead("urn:example:8", "http://old.example/8b"))
	what.Progress = nil
	done, err := r.Rewrite(t.Context(), admin(), what)
	if err != nil || !done.Continued || done.Changed != 9 || done.Conflicts != 1 ||
		done.Set.Number != first.Set.Number {
		t.Fatalf("continued: %+v, %v", done, err)
	}
	if got := targetOf(t, r, "urn:example:0"); got != "http://old.example/moved/0" {
		t.Errorf("it leads to %s", got)
	}
	var changed []string
	if err := r.ChangesInSet(t.Context(), done.Set.Number,
		func(c registry.Changed) bool { changed = append(changed, c.After.Name); return true }); err != nil ||
		len(changed) != 9 || slices.Contains(changed, "urn:example:8") {
		t.Errorf("the set has changed %q, %v", changed, err)
	}
}

// An actor that is restricted to some names can rewrite only these.
func TestRewriteDenied(t *testing.T) {
	r := chained(t, 0)
	apply(t, r, lead("urn:example:a", "http://old.example/a"))
	some := registry.Actor{Name: "some", Role: registry.Writer, Prefixes: []string{"urn:example:a"}}
	what := registry.Rewrite{Prefix: "urn:example:", Replace: "http://old.example/", With: "javascript:"}
	if _, err := r.Rewrite(t.Context(), some, what); !errors.Is(err, registry.ErrDenied) {
		t.Errorf("below a prefix that is not its own: %v", err)
	}
	what.Prefix = "urn:example:a"
	if done, err := r.Rewrite(t.Context(), some, what); err != nil || done.Conflicts != 1 ||
		targetOf(t, r, "urn:example:a") != "http://old.example/a" {
		t.Errorf("to what no target may be: %+v, %v", done, err)
	}
}
