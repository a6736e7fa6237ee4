package lint_test

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
	"github.com/urnd/urnd/resolver/registry/lint"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

var today = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)

// opened returns an empty registry with the built-in and the given namespaces.
func opened(t *testing.T, namespaces ...urnns.Namespace) (*registry.Registry, resolver.Names) {
	t.Helper()
	set, err := urnns.NewSet(append(urnns.Builtin(), namespaces...)...)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	names := resolver.Names{Set: set, Accept: uri.CurrentURN}
	return registry.New(registry.Config{
		Store: store, CanonicalPrefix: names.CanonicalPrefix, Now: func() time.Time { return today },
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err == nil {
				q, err = names.Canonical(q)
			}
			return q.URI.String(), err
		},
	}), names
}

// stored stores entries without validation: some predate a rule.
func stored(t *testing.T, r *registry.Registry, entries ...registry.Entry) {
	t.Helper()
	err := r.Store().Write(t.Context(), func(tx registry.WriteTx) error {
		b := registry.NewBatch(tx, "test", today)
		for _, e := range entries {
			e.Changed = today
			if _, err := b.Import(e, false); err != nil {
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

func name(name string, targets ...string) registry.Entry {
	return at(registry.Name(name), targets...)
}

func at(key registry.Key, targets ...string) registry.Entry {
	e := registry.Entry{Key: key}
	for _, t := range targets {
		e.Targets = append(e.Targets, registry.Target{URI: t})
	}
	return e
}

func with(e registry.Entry, change func(e *registry.Entry)) registry.Entry {
	change(&e)
	return e
}

func alias(of string) func(*registry.Entry) { return func(e *registry.Entry) { e.Alias = of } }

func withdrawn(successors ...string) func(*registry.Entry) {
	return func(e *registry.Entry) { e.Status, e.Successors = registry.Withdrawn, successors }
}

func until(t time.Time) func(*registry.Entry) {
	return func(e *registry.Entry) { e.Targets[0].Until = t }
}

func found(t *testing.T, c lint.Config, below string) []string {
	t.Helper()
	var lines []string
	c.OwnHost = func(host string) bool { return host == "urn.example.org" }
	_, err := lint.Run(t.Context(), c, below, func(f lint.Finding) error {
		lines = append(lines, f.String())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// Each case is a separate registry; its findings begin with the elements of want, without any others.
func TestFindings(t *testing.T) {
	const self, b = "https://urn.example.org/", "urn:nbn:fi:b"
	for _, c := range []struct {
		title   string
		entries []registry.Entry
		want    []string // the beginning and the rule of each finding
	}{
		{
			"all is well",
			[]registry.Entry{
				name("urn:nbn:fi:a", "https://a.example/1"),
				at(registry.Prefix("urn:example:"), "https://a.example/x/{suffix}"),
			},
			nil,
		},
		{
			"a check digit",
			[]registry.Entry{name("urn:isbn:0395363412", "https://a.example/")},
			[]string{"urn:isbn:0395363412: error: check digit (name)"},
		},
		{
			"not canonical any more",
			[]registry.Entry{name("urn:isbn:0-395-36341-1", "https://a.example/")},
			[]string{"urn:isbn:0-395-36341-1: error: canonical name is urn:isbn:0395363411 (canonical)"},
		},
		{
			"two forms of an ISBN",
			[]registry.Entry{
				name("urn:isbn:0395363411", "https://a.example/1"),
				name("urn:isbn:9780395363416", "https://a.example/2"),
			},
			[]string{"urn:isbn:0395363411: warning: urn:isbn:9780395363416 is equivalent (equivalent)"},
		},
		{
			"two forms, one an alias",
			[]registry.Entry{
				name("urn:isbn:0395363411", "https://a.example/1"),
				with(name("urn:isbn:9780395363416"), alias("urn:isbn:0395363411")),
			},
			nil,
		},
		{
			"an experimental namespace",
			[]registry.Entry{name("urn:x-a:b", "https://a.example/")},
			[]string{"urn:x-a:b: warning: experimental-nid (name)"},
		},
		{
			"no URI",
			[]registry.Entry{name("urn:nbn:fi:a", "https://a b/")},
			[]string{"urn:nbn:fi:a: error: the target https://a b/ (target)"},
		},
		{"a scheme", []registry.Entry{name("urn:nbn:fi:a", "javascript:alert(1)"), name(b, "xyz:1")}, []string{
			"urn:nbn:fi:a: error: the target javascript:alert(1): (target-scheme)",
			b + ": error: the target xyz:1: (target-scheme)",
		}},
		{
			"a normal form",
			[]registry.Entry{name("urn:nbn:fi:a", "https://A.example:443/%7e")},
			[]string{
				"urn:nbn:fi:a: warning: the target https://A.example:443/%7e is not normalized: https://a.example/~ " +
					"(target-normal)",
			},
		},
		{
			"a password",
			[]registry.Entry{name("urn:nbn:fi:a", "ftp://u:p@a.example/")},
			[]string{"urn:nbn:fi:a: warning: the target has a user name or password (target-user)"},
		},
		{"a mail address", []registry.Entry{name("urn:nbn:fi:a", "mailto:a@b.example")}, nil},
		{
			"http",
			[]registry.Entry{name("urn:nbn:fi:a", "http://a.example/")},
			[]string{"urn:nbn:fi:a: hint: the target http://a.example/ is unencrypted (target-http)"},
		},
		{"expired", []registry.Entry{
			with(name("urn:nbn:fi:a", "https://a.example/1"), until(today)),
			with(name(b, "https://a.example/2", "https://a.example/3"), until(today)),
			with(name("urn:nbn:fi:c", "https://a.example/4"), until(today.Add(time.Second))),
		}, []string{
			"urn:nbn:fi:a: error: all targets have expired (target-expired)",
			b + ": hint: 1 of 2 targets (target-expired)",
		}},
		{
			"no target",
			[]registry.Entry{
				name("urn:nbn:fi:a"),
				with(name(b), func(e *registry.Entry) { e.Status = registry.Reserved }),
			},
			[]string{"urn:nbn:fi:a: warning: active without a target (no-target)"},
		},
		{
			"itself",
			[]registry.Entry{name("urn:nbn:fi:a", self+"urn:nbn:fi:a")},
			[]string{"urn:nbn:fi:a: error: resolves to itself (loop)"},
		},
		{"a loop of three by an alias", []registry.Entry{
			name("urn:nbn:fi:a", self+"URN:NBN:fi:b"), with(name(b), alias("urn:nbn:fi:c")),
			name("urn:nbn:fi:c", self+"uri-res/N2L?urn:nbn:fi:a"),
		}, []string{
			"urn:nbn:fi:a: error: resolves to itself (loop)", b + ": error: resolves to itself (loop)",
			"urn:nbn:fi:c: error: resolves to itself (loop)",
		}},
		{
			"a chain",
			[]registry.Entry{name("urn:nbn:fi:a", self+"urn%3Anbn%3Afi%3Ab"), name(b, "https://a.example/")},
			[]string{"urn:nbn:fi:a: warning: the target " + self +
				"urn%3Anbn%3Afi%3Ab resolves to the name urn:nbn:fi:b (chain)"},
		},
		{
			"a chain to what is withdrawn",
			[]registry.Entry{name("urn:nbn:fi:a", self+b), with(name(b), withdrawn())},
			[]string{"urn:nbn:fi:a: error: the target " + self + b +
				" resolves to urn:nbn:fi:b, which is withdrawn (chain)"},
		},
		{
			"another resolver",
			[]registry.Entry{name("urn:nbn:fi:a", "https://r.example/?id="+b), name(b, "https://r.example/"+b)},
			[]string{"urn:nbn:fi:a: hint: the target https://r.example/?id=" + b +
				" resolves to urn:nbn:fi:b through another resolver (chain)"},
		},
		{"a page of ours", []registry.Entry{name("urn:nbn:fi:a", self+"about")}, nil},
		{
			"an alias of nothing",
			[]registry.Entry{with(name("urn:nbn:fi:a"), alias(b))},
			[]string{"urn:nbn:fi:a: error: alias of urn:nbn:fi:b, which is not registered (alias)"},
		},
		{
			"an alias below a prefix",
			[]registry.Entry{
				with(name("urn:nbn:fi:a"), alias("urn:example:b")),
				at(registry.Prefix("urn:example:"), "https://a.example/"),
			},
			nil,
		},
		{
			"an alias below a prefix without targets, which defers to a shorter one",
			[]registry.Entry{
				with(name("urn:nbn:fi:a"), alias("urn:example:test:b")),
				at(registry.Prefix("urn:example:"), "https://a.example/"), at(registry.Prefix("urn:example:test:")),
			},
			nil,
		},
		{
			"an alias of what is withdrawn",
			[]registry.Entry{with(name("urn:nbn:fi:a"), alias(b)), with(name(b), withdrawn())},
			[]string{"urn:nbn:fi:a: warning: alias of urn:nbn:fi:b, which is withdrawn (alias)"},
		},
		{
			"an alias of an alias",
			[]registry.Entry{
				with(name("urn:nbn:fi:a"), alias(b)), with(name(b), alias("urn:nbn:fi:c")),
				name("urn:nbn:fi:c", "https://a.example/"),
			},
			[]string{"urn:nbn:fi:a: hint: alias of urn:nbn:fi:b, which is an alias of urn:nbn:fi:c (alias)"},
		},
		{"successors", []registry.Entry{
			with(name("urn:nbn:fi:a"), withdrawn(b, "https://a.example/", "urn:nbn:fi:d")),
			with(name(b), withdrawn("urn:nbn:fi:c")),
			name("urn:nbn:fi:c", "https://a.example/"),
		}, []string{
			"urn:nbn:fi:a: warning: successor urn:nbn:fi:b is withdrawn too, in favour of urn:nbn:fi:c (successor)",
			"urn:nbn:fi:a: hint: successor urn:nbn:fi:d is not registered here (successor)",
		}},
		{
			"one target for two",
			[]registry.Entry{
				name("urn:nbn:fi:a", "https://a.example/"), name(b, "https://a.example/"),
				name("urn:nbn:fi:c", "https://a.example/", "https://b.example/"),
			},
			[]string{b + ": hint: only target https://a.example/ is also that of urn:nbn:fi:a (target-shared)"},
		},
		{
			"metadata",
			[]registry.Entry{with(name("urn:nbn:fi:a", "https://a.example/"),
				func(e *registry.Entry) { e.Metadata = "[]" })},
			[]string{"urn:nbn:fi:a: error: (record)"},
		},
		{
			"a prefix of a namespace with rules",
			[]registry.Entry{at(registry.Prefix("urn:ietf:rfc:"), "https://a.example/")},
			[]string{`urn:ietf:rfc:*: hint: names below it are no longer resolved by the rules of the namespace "ietf" (hides-rules)`},
		},
		{
			"a needless prefix",
			[]registry.Entry{
				at(registry.Prefix("urn:example:"), "https://a.example/"),
				at(registry.Prefix("urn:example:b:"), "https://a.example/b:"),
				at(registry.Prefix("urn:example:c:"), "https://a.example/d:"),
			},
			[]string{"urn:example:b:*: hint: same target as the prefix urn:example: (redundant)"},
		},
		{
			"a prefix that leads to itself",
			[]registry.Entry{at(registry.Prefix("urn:example:"), self+"urn:example:x")},
			[]string{"urn:example:*: error: resolves to itself (loop)"},
		},
		{
			"a prefix with a bad target",
			[]registry.Entry{at(registry.Prefix("urn:example:"), "{suffix}")},
			[]string{"urn:example:*: error: the target {suffix} (target)"},
		},
	} {
		r, names := opened(t)
		stored(t, r, c.entries...)
		config := lint.Config{Registry: r, Names: names, Hints: true}
		all := found(t, config, "")
		if len(all) != len(c.want) {
			t.Errorf("%s: found\n%s\nwant %q", c.title, strings.Join(all, "\n"), c.want)
			continue
		}
		for i, want := range c.want {
			at := strings.LastIndex(want, " (")
			if !strings.HasPrefix(all[i], want[:at]) || !strings.HasSuffix(all[i], want[at:]) {
				t.Errorf("%s: found\n%s\nwant\n%s", c.title, all[i], want)
			}
		}
		config.Hints = false
		all = slices.DeleteFunc(all, func(line string) bool { return strings.Contains(line, ": hint: ") })
		if some := found(t, config, ""); !slices.Equal(some, all) {
			t.Errorf("%s: without hints found %q, want %q", c.title, some, all)
		}
	}
}

// Names and prefixes outside the owned prefixes are reported, and only entries below the given prefix are
// read.
func TestNotQueried(t *testing.T) {
	r, names := opened(t)
	stored(t, r, name("urn:nbn:fi:a", "https://a.example/"), name("urn:nbn:se:a", "https://a.example/"),
		at(registry.Prefix("urn:nbn:"), "https://a.example/"))
	c := lint.Config{Registry: r, Names: names, OwnedPrefixes: []string{"urn:nbn:fi:"}}
	want := "urn:nbn:se:a: warning: outside the prefixes of the registry (not-owned)"
	if got := found(t, c, ""); !slices.Equal(got, []string{want}) {
		t.Errorf("found %q", got)
	}
	if got := found(t, c, "urn:nbn:fi:"); got != nil {
		t.Errorf("found %q below another prefix", got)
	}
}

// A lenient namespace causes warnings instead of errors.
func TestLenient(t *testing.T) {
	isbn := urnns.Builtin()[slices.IndexFunc(urnns.Builtin(),
		func(ns urnns.Namespace) bool { return ns.NID == "isbn" })]
	isbn.Lenient = true
	r, names := opened(t, isbn)
	stored(t, r, name("urn:isbn:0395363412", "https://a.example/"))
	got := found(t, lint.Config{Registry: r, Names: names}, "")
	if len(got) != 1 || !strings.HasPrefix(got[0], "urn:isbn:0395363412: warning: check digit") {
		t.Errorf("found %q", got)
	}
}

// All pages are read, and shared targets are found across pages. An error of the caller ends the run.
func TestPages(t *testing.T) {
	r, names := opened(t)
	var entries []registry.Entry
	const n = 2500
	for i := range n {
		entries = append(entries, name(fmt.Sprintf("urn:nbn:fi:%04d", i), fmt.Sprintf("https://a.example/%d", i%(n-1))))
	}
	stored(t, r, entries...)
	c := lint.Config{Registry: r, Names: names, Hints: true}
	got := found(t, c, "")
	want := "urn:nbn:fi:2499: hint: only target https://a.example/0 is also that of urn:nbn:fi:0000 (target-shared)"
	if !slices.Equal(got, []string{want}) {
		t.Errorf("found %q", got)
	}
	c.OwnHost = func(string) bool { return false }
	failed := errors.New("the output is closed")
	s, err := lint.Run(t.Context(), c, "", func(lint.Finding) error { return failed })
	if !errors.Is(err, failed) || s.Read != n {
		t.Errorf("read %d, %v", s.Read, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := lint.Run(ctx, c, "", func(lint.Finding) error { return nil }); err == nil {
		t.Errorf("read %d after the end of the context", s.Read)
	}
}
