package rename_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/rename"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

var today = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)

// opened is a registry in a file, by the rules of today.
func opened(t *testing.T, path string) *registry.Registry {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	names := resolver.Names{Set: set, Accept: uri.CurrentURN}.Owning([]string{"urn:", "ark:/12345/", "doi:10.", "hdl:"})
	return registry.New(registry.Config{
		Store: store, CanonicalPrefix: names.CanonicalPrefix, Now: func() time.Time { return today },
		Spelling: func(key registry.Key) string { return names.Spelling(key.Name, key.Kind == registry.KindPrefix) },
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err == nil {
				q, err = names.Canonical(names.Named(q))
			}
			return q.URI.String(), err
		},
	})
}

// stored puts names into a store as older versions did: by the names that were canonical then.
func stored(t *testing.T, r *registry.Registry, records map[registry.Key]registry.Record) {
	t.Helper()
	keys := make([]registry.Key, 0, len(records))
	for key := range records {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b registry.Key) int { return strings.Compare(a.Name, b.Name) })
	err := r.Store().Write(t.Context(), func(tx registry.WriteTx) error {
		b := registry.NewBatch(tx, "before", today.AddDate(-1, 0, 0))
		for _, key := range keys {
			if _, _, err := b.Put(key, records[key], ""); err != nil {
				return err
			}
		}
		_, err := b.Flush()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func to(target string) registry.Record {
	return registry.Record{Targets: []registry.Target{{URI: "https://example.org/" + target}}}
}

// ran runs a Run, and returns its lines: a name, and what happens to it.
func ran(t *testing.T, run rename.Run) (lines []string, sum rename.Summary) {
	t.Helper()
	run.Actor, run.Note = registry.Actor{Name: "admin", Role: registry.Admin}, "migrated"
	run.Report = func(a rename.Action) error {
		lines = append(lines, fmt.Sprint(a.Key, " ", a.What))
		return nil
	}
	sum, err := run.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lines, sum
}

func faultsOf(t *testing.T, r *registry.Registry) (faults []string) {
	t.Helper()
	err := registry.Verify(t.Context(), r.Store(), func(fault string) { faults = append(faults, fault) }, func(_, _ registry.Seq) {})
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// leads returns where a name leads, as a resolver that was asked by this spelling does; "" is nowhere.
func leads(t *testing.T, r *registry.Registry, asked string, at time.Time) string {
	t.Helper()
	u, err := uri.Parse(asked)
	if err != nil {
		t.Fatal(err)
	}
	q, err := resolver.NewQuery(u, resolver.I2L)
	if err != nil {
		t.Fatal(err)
	}
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	q, err = resolver.Names{Set: set, Accept: uri.CurrentURN}.Owning([]string{"urn:", "ark:/12345/", "doi:10.", "hdl:"}).Canonical(q)
	if err != nil {
		t.Fatal(err)
	}
	q.At = at
	answer, err := registry.NewResolver(registry.ResolverConfig{Store: r.Store(), Now: func() time.Time { return today }}).Resolve(t.Context(), q)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(answer.Locations[0].URI, "https://example.org/")
}

func TestRun(t *testing.T) {
	r := opened(t, filepath.Join(t.TempDir(), "registry.db"))
	name, prefix := registry.Name, registry.Prefix
	stored(t, r, map[registry.Key]registry.Record{
		name("ark:/12345/x-1"): to("x"), name("ark:/12345/y-2"): to("y-2"), name("ark:/12345/y2"): to("y2"),
		name("doi:10.1/ABC"): to("abc"), name("doi:10.1/Foo"): to("Foo"), name("doi:10.1/FOO"): to("FOO"),
		name("urn:nbn:fi:x"): {Alias: "ark:/12345/x-1"}, name("urn:nbn:fi:y"): {Alias: "ark:/12345/y-2"}, name("urn:nbn:fi:ok"): to("ok"),
		prefix("hdl:UP/"): to("up/"), prefix("ark:/12345/p-"): to("p/"), prefix("hdl:Q/"): to("Q/"), prefix("hdl:q/"): to("q/"),
	})
	run := rename.Run{Config: rename.Config{Registry: r, TempDir: t.TempDir()}}
	want := []string{
		"ark:/12345/p-* left", "hdl:q/* collision", "hdl:Q/* collision", "hdl:UP/* rename", "ark:/12345/x-1 rename", "ark:/12345/y2 collision",
		"ark:/12345/y-2 collision", "doi:10.1/ABC rename", "doi:10.1/FOO collision", "doi:10.1/Foo collision",
	}
	check := func(what string, run rename.Run, want ...string) rename.Summary {
		t.Helper()
		got, sum := ran(t, run)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		if faults := faultsOf(t, r); len(faults) > 0 {
			t.Errorf("%s: %q", what, faults)
		}
		return sum
	}
	head, _ := r.Store().Head(t.Context())
	dry := run
	dry.DryRun = true
	check("dry", dry, want...)
	if now, _ := r.Store().Head(t.Context()); now != head {
		t.Errorf("a dry run has written %d versions", now-head)
	}
	sum := check("first", run, want...)
	for asked, want := range map[string]string{
		"ark:/12345/x-1": "x", "ark:12345/x1": "x", "urn:nbn:fi:x": "x", "ark:/12345/y-2": "y-2", "ark:/12345/y2": "y2", "urn:nbn:fi:y": "y-2",
		"doi:10.1/aBc": "abc", "doi:10.1/Foo": "Foo", "doi:10.1/FOO": "FOO", "doi:10.1/foo": "", "hdl:up/1": "up/1", "hdl:UP/1": "up/1",
	} {
		if got := leads(t, r, asked, time.Time{}); got != want {
			t.Errorf("after the first run %s leads to %q, want %q", asked, got, want)
		}
	}
	if got := leads(t, r, "ark:/12345/x1", today.AddDate(0, -1, 0)); got != "x" {
		t.Errorf("before it was renamed, it led to %q", got)
	}
	if e, err := r.Get(t.Context(), name("ark:/12345/x1")); err != nil || e.Former != "ark:/12345/x-1" || e.Version != 2 {
		t.Errorf("it is %+v, %v", e, err)
	}
	_, err := r.Revert(t.Context(), registry.Actor{Role: registry.Admin}, registry.Revert{Set: sum.Set.Number, Note: "back"})
	if err != nil || len(faultsOf(t, r)) > 0 {
		t.Errorf("reverting: %v", err)
	}
	run.Resolve = func(g rename.Group) (registry.Key, bool) {
		if g.To.Kind == registry.KindPrefix {
			return prefix("hdl:q/"), true
		}
		if g.To.Name == "ark:/12345/y2" {
			return name("ark:/12345/y-2"), true
		}
		return rename.Newest(g)
	}
	check("decided", run, "ark:/12345/p-* left", "hdl:q/* keep", "hdl:Q/* alias", "ark:/12345/y2 replace", "ark:/12345/y-2 merge",
		"doi:10.1/FOO alias", "doi:10.1/Foo rename")
	for asked, want := range map[string]string{
		"ark:/12345/y-2": "y-2", "ark:/12345/y2": "y-2", "urn:nbn:fi:y": "y-2", "doi:10.1/Foo": "Foo", "doi:10.1/FOO": "Foo", "doi:10.1/foo": "Foo",
		"hdl:q/1": "q/1", "hdl:Q/1": "q/1",
	} {
		if got := leads(t, r, asked, time.Time{}); got != want {
			t.Errorf("when it was decided %s leads to %q, want %q", asked, got, want)
		}
	}
	key, err := r.KeyOf(t.Context(), name("doi:10.1/FOO"))
	if err != nil || key != name("doi:10.1/foo") {
		t.Errorf("what was decided on is changed by %s, %v", key, err)
	}
	check("again", run, "ark:/12345/p-* left")
}

// Who is no administrator migrates nothing.
func TestRunForbidden(t *testing.T) {
	r := opened(t, filepath.Join(t.TempDir(), "registry.db"))
	run := rename.Run{Config: rename.Config{Registry: r}, Actor: registry.Actor{Name: "writer", Role: registry.Writer}}
	if _, err := run.Do(t.Context()); !errors.Is(err, registry.ErrDenied) {
		t.Errorf("a writer: %v", err)
	}
}

// What changes between a look and the change stays, and is said to.
func TestRunMeanwhile(t *testing.T) {
	r := opened(t, filepath.Join(t.TempDir(), "registry.db"))
	records := make(map[registry.Key]registry.Record)
	for i := range 20 {
		records[registry.Name(fmt.Sprintf("ark:/12345/a-%d", i))] = to("a")
	}
	stored(t, r, records)
	run := rename.Run{Config: rename.Config{Registry: r, TempDir: t.TempDir()}}
	changed := false
	run.Moved = func(tx registry.WriteTx, from, _ string) error {
		if from == "ark:/12345/a-3" && !changed {
			changed = true
			return fmt.Errorf("%w: it was changed meanwhile", registry.ErrConflict)
		}
		return nil
	}
	_, sum := ran(t, run)
	if sum.Seen[rename.Rename] != 20 { // the second time, alone
		t.Errorf("%v", sum.Seen)
	}
	run.Moved = nil
	stored(t, r, map[registry.Key]registry.Record{registry.Name("ark:/12345/b-1"): to("b")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run.Do(ctx); err == nil {
		t.Error("an end was not heard of")
	}
}
