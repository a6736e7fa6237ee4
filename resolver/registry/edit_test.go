package registry_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// fixture is a registry in a temporary file. Its clock advances by a second with each reading.
type fixture struct {
	*registry.Registry
	config   registry.Config // configuration of the Registry
	audited  []registry.Changed
	activate bool // edits may activate withdrawn entries
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f := &fixture{}
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	canonical := func(text string) (string, error) {
		if !strings.HasPrefix(strings.ToLower(text), "urn:") && !strings.Contains(text, "://") {
			return "", errors.New("not a URI")
		}
		return strings.ToLower(text), nil
	}
	f.config = registry.Config{
		Store: store, Canonical: canonical, CanonicalPrefix: canonical,
		Now: func() time.Time { now = now.Add(time.Second); return now },
		Audit: func(_ context.Context, _ registry.Actor, changes []registry.Changed) {
			f.audited = append(f.audited, changes...)
		},
	}
	f.Registry = registry.New(f.config)
	return f
}

var librarian = registry.Actor{Name: "librarian", Role: registry.Admin}

// edit applies a single edit.
func (f *fixture) edit(
	t *testing.T, key registry.Key, change func(registry.Entry) (registry.Record, error),
) (registry.Entry, error) {
	t.Helper()
	after, err := f.Apply(t.Context(), librarian,
		registry.Edit{Key: key, IfVersion: registry.AnyVersion, Note: "test", Activate: f.activate, Change: change})
	if err != nil {
		return registry.Entry{}, err
	}
	return after[0], nil
}

func (f *fixture) put(t *testing.T, key registry.Key, record registry.Record) registry.Entry {
	t.Helper()
	e, err := f.edit(t, key, registry.Put(record))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func leadsTo(uri string) registry.Record {
	return registry.Record{Targets: []registry.Target{{URI: uri}}}
}

func TestApply(t *testing.T) {
	f := newFixture(t)
	first := f.put(t, registry.Name("URN:example:A"), leadsTo("https://a.example/1"))
	if first.Name != "urn:example:a" || first.Version != 1 || first.By != "librarian" || first.Seq == 0 ||
		!first.Since.Equal(first.Changed) {
		t.Errorf("registered as %+v", first)
	}
	if same := f.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/1")); same.Version != 1 {
		t.Errorf("an equal record made version %d", same.Version)
	}
	second := f.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/2"))
	if second.Version != 2 || !second.Since.Equal(first.Since) {
		t.Errorf("changed to %+v", second)
	}
	withdrawn, err := f.edit(t, registry.Name("urn:example:a"), registry.Withdraw("why", "urn:example:b"))
	if err != nil || withdrawn.Status != registry.Withdrawn || !withdrawn.Since.Equal(withdrawn.Changed) ||
		len(withdrawn.Targets) != 1 {
		t.Errorf("withdrawn: %+v, %v", withdrawn, err)
	}
	if _, err := f.edit(t, registry.Name("urn:example:a"),
		registry.Put(leadsTo("https://a.example/3"))); !errors.Is(err, registry.ErrInvalid) {
		t.Errorf("a withdrawn name was restored without being requested: %v", err)
	}
	f.activate = true
	if again := f.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/3")); again.Reason != "" ||
		again.Successors != nil || again.Status != registry.Active {
		t.Errorf("in use again: %+v", again)
	}
	if len(f.audited) != 4 || f.audited[1].Before.Version != 1 || f.audited[1].After.Version != 2 {
		t.Errorf("audited: %+v", f.audited)
	}
	for version, at := range map[int]time.Time{
		0: first.Changed.Add(-time.Second), 1: first.Changed, 2: second.Changed,
		3: withdrawn.Changed.Add(time.Millisecond),
	} {
		e, err := f.At(t.Context(), registry.Name("urn:example:a"), at)
		if e.Version != version || (version == 0) != errors.Is(err, registry.ErrUnknown) {
			t.Errorf("at %s: version %d, %v; want %d", at, e.Version, err, version)
		}
	}
	history, err := f.History(t.Context(), registry.Name("urn:example:a"), 0, 10)
	if err != nil || len(history) != 4 || history[3].Version != 1 {
		t.Errorf("history: %+v, %v", history, err)
	}
}

func TestApplyRefuses(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/"))
	f.put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	many := make([]registry.Target, registry.MaxTargets+1)
	for i := range many {
		many[i].URI = fmt.Sprintf("https://a.example/%d", i)
	}
	for _, c := range []struct {
		name    string
		key     registry.Key
		record  registry.Record
		message string
	}{
		{"no URI", registry.Name("a b"), registry.Record{}, "not a URI"},
		{"a target that is code", registry.Name("urn:example:b"), leadsTo("javascript:alert(1)"), "javascript"},
		{"a file as a target", registry.Name("urn:example:b"), leadsTo("file:///etc/passwd"), "file"},
		{"a target with a line break", registry.Name("urn:example:b"), leadsTo("https://a.example/\r\nX: y"), "target"},
		{"too many targets", registry.Name("urn:example:b"), registry.Record{Targets: many}, "targets"},
		{
			"a template as the target of a name", registry.Name("urn:example:b"), leadsTo("https://a.example/{suffix}"),
			"target",
		},
		{
			"a target that ends before it begins", registry.Name("urn:example:b"),
			registry.Record{Targets: []registry.Target{{
				URI: "https://a.example/", From: time.Unix(2, 0),
				Until: time.Unix(1, 0),
			}}},
			"end before",
		},
		{
			"an alias with targets", registry.Name("urn:example:b"),
			registry.Record{Alias: "urn:example:a", Targets: leadsTo("https://a.example/").Targets},
			"alias",
		},
		{"an alias of itself", registry.Name("urn:example:b"), registry.Record{Alias: "URN:example:b"}, "itself"},
		{
			"a loop of aliases", registry.Name("urn:example:a"),
			registry.Record{Alias: "urn:example:alias"},
			"alias loop",
		},
		{"metadata that is no object", registry.Name("urn:example:b"), registry.Record{Metadata: "[1]"}, "JSON object"},
		{
			"its own successor", registry.Name("urn:example:a"),
			registry.Record{Status: registry.Withdrawn, Successors: []string{"URN:example:a"}},
			"successor",
		},
		{
			"a successor that is code", registry.Name("urn:example:a"),
			registry.Record{Status: registry.Withdrawn, Successors: []string{"javascript://x"}},
			"successor",
		},
		{"reserved again", registry.Name("urn:example:a"), registry.Record{Status: registry.Reserved}, "withdraw it"},
		{"a prefix within a part", registry.Prefix("urn:example:a"), registry.Record{}, "must end"},
		{"a prefix that leads to any server", registry.Prefix("urn:example:"), leadsTo("https://a.example"), "host"},
		{"a prefix that leads to any port", registry.Prefix("urn:example:"), leadsTo("https://a.example:80"), "host"},
		{"an alias for a prefix", registry.Prefix("urn:example:"), registry.Record{Alias: "urn:example:a"}, "alias"},
		{
			"a template that is not valid", registry.Prefix("urn:example:"), leadsTo("https://a.example/{suffix"),
			"template",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := f.edit(t, c.key, registry.Put(c.record))
			if !errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), c.message) {
				t.Errorf("got %v, want one that says %q", err, c.message)
			}
		})
	}
	if n := len(f.audited); n != 2 {
		t.Errorf("%d changes were audited", n)
	}
}

func TestConditionsAndRights(t *testing.T) {
	f := newFixture(t)
	key := registry.Name("urn:example:a")
	f.put(t, key, leadsTo("https://a.example/1"))
	edit := func(version int) registry.Edit {
		return registry.Edit{
			Key: key, IfVersion: version,
			Change: registry.Put(leadsTo(fmt.Sprintf("https://a.example/%d", version+2))),
		}
	}
	for version, want := range map[int]error{0: registry.ErrConflict, 2: registry.ErrConflict} {
		if _, err := f.Apply(t.Context(), librarian, edit(version)); !errors.Is(err, want) {
			t.Errorf("if version %d: %v", version, err)
		}
	}
	// All or none: the second edit fails.
	other := registry.Edit{
		Key: registry.Name("urn:example:b"), IfVersion: 0,
		Change: registry.Put(leadsTo("https://a.example/")),
	}
	if _, err := f.Apply(t.Context(), librarian, other, edit(7)); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("the second of two edits: %v", err)
	}
	if _, err := f.Get(t.Context(), other.Key); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("the first of two edits was made: %v", err)
	}
	for _, c := range []struct {
		actor registry.Actor
		key   registry.Key
		may   bool
	}{
		{
			registry.Actor{Role: registry.Writer, Prefixes: []string{"urn:example:"}},
			registry.Name("urn:example:c"), true,
		},
		{
			registry.Actor{Role: registry.Writer, Prefixes: []string{"urn:other:"}},
			registry.Name("urn:example:d"), false,
		},
		{registry.Actor{Role: registry.Writer, Prefixes: []string{}}, registry.Name("urn:example:d"), false},
		{registry.Actor{Role: registry.Reader}, registry.Name("urn:example:d"), false},
		{registry.Actor{Role: registry.Writer}, registry.Prefix("urn:example:"), false},
		{registry.Actor{Role: registry.Admin}, registry.Prefix("urn:example:"), true},
	} {
		_, err := f.Apply(t.Context(), c.actor,
			registry.Edit{
				Key: c.key, IfVersion: registry.AnyVersion,
				Change: registry.Put(leadsTo("https://a.example/")),
			})
		if (err == nil) != c.may || !c.may && !errors.Is(err, registry.ErrDenied) {
			t.Errorf("%+v for %s: %v", c.actor, c.key, err)
		}
	}
}

func TestSupersede(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/"))
	f.put(t, registry.Name("urn:example:b"), leadsTo("https://b.example/"))
	if _, err := registry.Supersede([]string{"urn:example:a"}, []string{"urn:example:c"}, "", ""); !errors.Is(err,
		registry.ErrInvalid) {
		t.Errorf("without a note: %v", err)
	}
	edits, err := registry.Supersede([]string{"urn:example:a", "urn:example:b"},
		[]string{"urn:example:c", "https://d.example/"}, "merged", "decided in May")
	if err != nil {
		t.Fatal(err)
	}
	after, err := f.Apply(t.Context(), librarian, edits...)
	if err != nil || len(after) != 2 {
		t.Fatalf("%+v, %v", after, err)
	}
	for _, e := range after {
		if e.Status != registry.Withdrawn || len(e.Successors) != 2 || e.Reason != "merged" ||
			e.Note != "decided in May" {
			t.Errorf("%+v", e)
		}
	}
}

// An entry can only leave a sandbox: an entry registered outside of a sandbox is never purged.
func TestSandbox(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name("urn:example:t:real"), leadsTo("https://a.example/real"))
	f.put(t, registry.Prefix("urn:example:t:"), registry.Record{Sandbox: true})
	trial := f.put(t, registry.Name("urn:example:t:trial"), leadsTo("https://a.example/trial"))
	deep := f.put(t, registry.Prefix("urn:example:t:deep:"), leadsTo("https://a.example/"))
	changed := f.put(t, registry.Name("urn:example:t:real"), leadsTo("https://a.example/changed"))
	outside := f.put(t, registry.Name("urn:example:u"),
		registry.Record{Sandbox: true, Contact: "x", Status: registry.Reserved})
	if !trial.Sandbox || !deep.Sandbox || changed.Sandbox || outside.Sandbox {
		t.Errorf("in the sandbox: %t %t %t %t, want true true false false", trial.Sandbox, deep.Sandbox,
			changed.Sandbox, outside.Sandbox)
	}
	if n, err := f.Purge(t.Context(), librarian, "urn:example:", ""); n != 3 || err != nil {
		t.Errorf("purged %d, %v", n, err)
	}
	for name, want := range map[string]error{
		"urn:example:t:real": nil, "urn:example:t:trial": registry.ErrUnknown,
		"urn:example:u": nil,
	} {
		if _, err := f.Get(t.Context(), registry.Name(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := f.Store().Read(t.Context(), func(tx registry.Tx) error {
		totals, err := tx.Totals()
		if got := totals["urn:example"]; got.Active != 1 || got.Reserved != 1 || got.Prefixes != 0 {
			t.Errorf("totals: %+v", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
