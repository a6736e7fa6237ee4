package registry_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// stores returns what opens a store of its own in one file.
func stores(t *testing.T) func() registry.Store {
	path := filepath.Join(t.TempDir(), "registry.db")
	return func() registry.Store {
		s, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
}

// configOf returns the configuration of a registry whose canonical names have lower case letters and
// begin with "urn:".
func configOf(s registry.Store) registry.Config {
	canonical := func(text string) (string, error) {
		text = strings.ToLower(text)
		if !strings.HasPrefix(text, "urn:") {
			return "", errors.New("it is no URN")
		}
		return text, nil
	}
	return registry.Config{
		Store: s, Canonical: canonical, CanonicalPrefix: canonical, Now: func() time.Time { return time.UnixMilli(1_900_000_000_000) },
		CheckDigits: map[string]registry.CheckDigit{
			"urn:number:": {Digits: 4, Of: func(digits string) byte { return digits[0] }},
		},
	}
}

func writer() registry.Actor { return registry.Actor{Name: "someone", Role: registry.Writer} }

func mint(t *testing.T, r *registry.Registry, m registry.Minting) []string {
	t.Helper()
	names, err := r.Mint(t.Context(), writer(), m)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMint(t *testing.T) {
	var audited []registry.Changed
	config := configOf(stores(t)())
	config.Audit = func(_ context.Context, _ registry.Actor, changes []registry.Changed) {
		audited = append(audited, changes...)
	}
	r := registry.New(config)
	for _, name := range []string{"urn:a:2", "urn:a:4"} {
		if _, err := r.Apply(t.Context(), writer(), registry.Edit{Key: registry.Name(name), Change: registry.Put(registry.Record{})}); err != nil {
			t.Fatal(err)
		}
	}
	audited = nil
	from := func(n uint64) *uint64 { return &n }
	for i, tt := range []struct {
		registry.Minting
		want string
	}{
		{registry.Minting{Pattern: "urn:a:{counter}", N: 1, Note: "one"}, "urn:a:1"},
		{registry.Minting{Pattern: "urn:a:{counter}", N: 3}, "urn:a:3 urn:a:5 urn:a:6"},
		{registry.Minting{Pattern: "urn:a:{counter}", N: 2, From: from(10)}, "urn:a:10 urn:a:11"},
		{registry.Minting{Pattern: "urn:a:{counter}", N: 1}, "urn:a:12"},
		{registry.Minting{Pattern: "urn:a:{counter}", N: 6, From: from(1)}, "urn:a:7 urn:a:8 urn:a:9 urn:a:13 urn:a:14 urn:a:15"},
		{registry.Minting{Pattern: "URN:A:{counter}", N: 1}, "urn:a:16"}, // a counter of its own, and the same names
		{registry.Minting{Pattern: "urn:number:1{counter}", N: 2}, "urn:number:10001 urn:number:10011"},
		{registry.Minting{Pattern: "noid:urn:b:.sd", N: 10}, "urn:b:0 urn:b:1 urn:b:2 urn:b:3 urn:b:4 urn:b:5 urn:b:6 urn:b:7 urn:b:8 urn:b:9"},
	} {
		if got := strings.Join(mint(t, r, tt.Minting), " "); got != tt.want {
			t.Errorf("%d: %s: %q, want %q", i, tt.Pattern, got, tt.want)
		}
	}
	e, err := r.Get(t.Context(), registry.Name("urn:a:1"))
	if err != nil || e.Status != registry.Reserved || e.By != "someone" || e.Note != "one" {
		t.Errorf("minted %+v, %v", e, err)
	}
	if len(audited) != 26 || audited[0].After.Name != "urn:a:1" || audited[0].After.Seq == 0 {
		t.Errorf("%d were audited: %+v", len(audited), audited)
	}
}

func TestMintErrors(t *testing.T) {
	r := registry.New(configOf(stores(t)()))
	names := mint(t, r, registry.Minting{Pattern: "noid:urn:full:.sd", N: 8})
	if len(names) != 8 {
		t.Fatalf("minted %q", names)
	}
	mint(t, r, registry.Minting{Pattern: "noid:urn:drawn:.rd", N: 10})
	first := uint64(1)
	below := registry.Actor{Name: "limited", Role: registry.Writer, Prefixes: []string{"urn:b:"}}
	for _, tt := range []struct {
		actor registry.Actor
		registry.Minting
		err  error
		says string
	}{
		{writer(), registry.Minting{Pattern: "urn:a:{counter}"}, registry.ErrInvalid, "not 0"},
		{writer(), registry.Minting{Pattern: "urn:a:{counter}", N: registry.MaxMint + 1}, registry.ErrInvalid, "not 10001"},
		{writer(), registry.Minting{Pattern: "urn:a:", N: 1}, registry.ErrInvalid, "needs {counter}"},
		{writer(), registry.Minting{Pattern: "urn:a:{random:4}", N: 1, From: &first}, registry.ErrInvalid, "no number"},
		{writer(), registry.Minting{Pattern: "x:{counter}", N: 1}, registry.ErrInvalid, `it makes "x:1": not valid: it is no URN`},
		{writer(), registry.Minting{Pattern: "URN:a:{counter}{check}", N: 1}, registry.ErrInvalid, "in their canonical form"},
		{writer(), registry.Minting{Pattern: "urn:a:~{counter}{nbn}", N: 1}, registry.ErrInvalid, "not defined for '~'"},
		{writer(), registry.Minting{Pattern: "urn:a:{counter}", N: 1, Note: strings.Repeat("x", 5000)}, registry.ErrInvalid, "note"},
		{writer(), registry.Minting{Pattern: "noid:urn:full:.sd", N: 3}, registry.ErrExhausted, `of the 10 names of "noid:urn:full:.sd" only 2 are free`},
		{writer(), registry.Minting{Pattern: "noid:urn:drawn:.rd", N: 1}, registry.ErrExhausted, "only 0 were free: nearly all of its 10 names"},
		{registry.Actor{Name: "reader", Role: registry.Reader}, registry.Minting{Pattern: "urn:a:{counter}", N: 1}, registry.ErrDenied, "reader"},
		{below, registry.Minting{Pattern: "urn:a:{counter}", N: 1}, registry.ErrDenied, "urn:b:"},
	} {
		_, err := r.Mint(t.Context(), tt.actor, tt.Minting)
		if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.Pattern, err, tt.says)
		}
	}
	// What failed has changed nothing.
	if got := mint(t, r, registry.Minting{Pattern: "noid:urn:full:.sd", N: 2}); !slices.Equal(got, []string{"urn:full:8", "urn:full:9"}) {
		t.Errorf("minted %q", got)
	}
	if got := mint(t, r, registry.Minting{Pattern: "urn:a:{counter}", N: 1}); !slices.Equal(got, []string{"urn:a:1"}) {
		t.Errorf("minted %q", got)
	}
}

// No name is handed out twice, by instances that mint at the same time in one store.
func TestMintByTwo(t *testing.T) {
	const instances, rounds, each = 2, 20, 7
	for _, pattern := range []string{"urn:a:{counter}", "urn:b:{counter:4}{check}", "noid:urn:c:.reeek"} {
		open := stores(t)
		var all [instances][]string
		var running sync.WaitGroup
		for i := range instances {
			r := registry.New(configOf(open()))
			running.Go(func() {
				for range rounds {
					names, err := r.Mint(t.Context(), writer(), registry.Minting{Pattern: pattern, N: each})
					if err != nil {
						t.Errorf("%s: %v", pattern, err)
						return
					}
					all[i] = append(all[i], names...)
				}
			})
		}
		running.Wait()
		seen := make(map[string]bool)
		for _, name := range slices.Concat(all[:]...) {
			if seen[name] {
				t.Errorf("%s was handed out twice", name)
			}
			seen[name] = true
		}
		if len(seen) != instances*rounds*each {
			t.Errorf("%s: %d names, want %d", pattern, len(seen), instances*rounds*each)
		}
	}
}

// Names that were registered otherwise are skipped, a bounded number.
func TestMintSkips(t *testing.T) {
	s := stores(t)()
	const n = 20_050
	entries := make([]registry.Entry, n)
	for i := range entries {
		entries[i] = registry.Entry{Key: registry.Name(fmt.Sprintf("urn:a:%d", i+1)), Version: 1}
	}
	if err := s.Bulk(t.Context(), func(tx registry.WriteTx) error { return tx.Append(entries) }); err != nil {
		t.Fatal(err)
	}
	r := registry.New(configOf(s))
	_, err := r.Mint(t.Context(), writer(), registry.Minting{Pattern: "urn:a:{counter}", N: 1})
	if !errors.Is(err, registry.ErrExhausted) || !strings.Contains(err.Error(), "begin from a greater number") {
		t.Errorf("got %v", err)
	}
	from := uint64(n - 1000)
	got := mint(t, r, registry.Minting{Pattern: "urn:a:{counter}", N: 2500, From: &from})
	if len(got) != 2500 || got[0] != fmt.Sprintf("urn:a:%d", n+1) {
		t.Errorf("minted %d names from %q on", len(got), got[:1])
	}
}
