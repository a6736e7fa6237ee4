package mint_test

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
	"github.com/urnd/urnd/resolver/registry/mint"
	"github.com/urnd/urnd/resolver/registry/registrytest"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// stores returns a function that opens another store on the same file.
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

// configOf returns the configuration of a registry whose canonical names are lower case and begin with
// "urn:".
func configOf(s registry.Store) registry.Config {
	canonical := func(text string) (string, error) {
		text = strings.ToLower(text)
		if !strings.HasPrefix(text, "urn:") {
			return "", errors.New("it is no URN")
		}
		return text, nil
	}
	return registry.Config{
		Store: s, Canonical: canonical, CanonicalPrefix: canonical,
		Now: func() time.Time { return time.UnixMilli(1_900_000_000_000) },
		CheckDigits: map[string]registry.CheckDigit{
			"urn:number:": {Digits: 4, Compute: func(digits string) byte { return digits[0] }},
		},
	}
}

func writer() registry.Actor { return registry.Actor{Name: "someone", Role: registry.Writer} }

func minted(t *testing.T, r *registry.Registry, m mint.Request) []string {
	t.Helper()
	names, err := mint.New(r).Mint(t.Context(), writer(), m)
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
		edit := registry.Edit{
			Key:    registry.Name(name),
			Change: registry.Put(registry.Record{Status: registry.Reserved}),
		}
		if _, err := r.Apply(t.Context(), writer(), edit); err != nil {
			t.Fatal(err)
		}
	}
	audited = nil
	from := func(n uint64) *uint64 { return &n }
	for i, tt := range []struct {
		mint.Request
		want string
	}{
		{mint.Request{Pattern: "urn:a:{counter}", Count: 1, Note: "one"}, "urn:a:1"},
		{mint.Request{Pattern: "urn:a:{counter}", Count: 3}, "urn:a:3 urn:a:5 urn:a:6"},
		{mint.Request{Pattern: "urn:a:{counter}", Count: 2, From: from(10)}, "urn:a:10 urn:a:11"},
		{mint.Request{Pattern: "urn:a:{counter}", Count: 1}, "urn:a:12"},
		{
			mint.Request{Pattern: "urn:a:{counter}", Count: 6, From: from(1)},
			"urn:a:7 urn:a:8 urn:a:9 urn:a:13 urn:a:14 urn:a:15",
		},
		{mint.Request{Pattern: "URN:A:{counter}", Count: 1}, "urn:a:16"}, // another counter, the same names
		{mint.Request{Pattern: "urn:number:1{counter}", Count: 2}, "urn:number:10001 urn:number:10011"},
		{
			mint.Request{Pattern: "noid:urn:b:.sd", Count: 10},
			"urn:b:0 urn:b:1 urn:b:2 urn:b:3 urn:b:4 urn:b:5 urn:b:6 urn:b:7 urn:b:8 urn:b:9",
		},
	} {
		if got := strings.Join(minted(t, r, tt.Request), " "); got != tt.want {
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
	names := minted(t, r, mint.Request{Pattern: "noid:urn:full:.sd", Count: 8})
	if len(names) != 8 {
		t.Fatalf("minted %q", names)
	}
	minted(t, r, mint.Request{Pattern: "noid:urn:drawn:.rd", Count: 10})
	first := uint64(1)
	below := registry.Actor{Name: "limited", Role: registry.Writer, Prefixes: []string{"urn:b:"}}
	for _, tt := range []struct {
		actor registry.Actor
		mint.Request
		err     error
		message string
	}{
		{writer(), mint.Request{Pattern: "urn:a:{counter}"}, registry.ErrInvalid, "not 0"},
		{writer(), mint.Request{Pattern: "urn:a:{counter}", Count: mint.Max + 1}, registry.ErrInvalid, "not 10001"},
		{writer(), mint.Request{Pattern: "urn:a:", Count: 1}, registry.ErrInvalid, "{counter} or"},
		{
			writer(),
			mint.Request{Pattern: "urn:a:{random:4}", Count: 1, From: &first},
			registry.ErrInvalid,
			"no first number",
		},
		{
			writer(),
			mint.Request{Pattern: "x:{counter}", Count: 1},
			registry.ErrInvalid,
			`invalid result "x:1": not valid: it is no URN`,
		},
		{writer(), mint.Request{Pattern: "URN:a:{counter}{check}", Count: 1}, registry.ErrInvalid, "in canonical form"},
		{writer(), mint.Request{Pattern: "urn:a:~{counter}{nbn}", Count: 1}, registry.ErrInvalid, "undefined for '~'"},
		{
			writer(),
			mint.Request{Pattern: "urn:a:{counter}", Count: 1, Note: strings.Repeat("x", 5000)},
			registry.ErrInvalid, "note",
		},
		{
			writer(),
			mint.Request{Pattern: "noid:urn:full:.sd", Count: 3},
			registry.ErrExhausted,
			`"noid:urn:full:.sd" has only 2 free names of 10`,
		},
		{
			writer(),
			mint.Request{Pattern: "noid:urn:drawn:.rd", Count: 1},
			registry.ErrExhausted,
			"nearly all of its 10 names",
		},
		{
			registry.Actor{Name: "reader", Role: registry.Reader},
			mint.Request{Pattern: "urn:a:{counter}", Count: 1},
			registry.ErrDenied, "reader",
		},
		{below, mint.Request{Pattern: "urn:a:{counter}", Count: 1}, registry.ErrDenied, "urn:b:"},
	} {
		_, err := mint.New(r).Mint(t.Context(), tt.actor, tt.Request)
		if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v, want %q", tt.Pattern, err, tt.message)
		}
	}
	// A failed request has changed nothing.
	if got := minted(t, r, mint.Request{Pattern: "noid:urn:full:.sd", Count: 2}); !slices.Equal(got,
		[]string{"urn:full:8", "urn:full:9"}) {
		t.Errorf("minted %q", got)
	}
	if got := minted(t, r, mint.Request{Pattern: "urn:a:{counter}", Count: 1}); !slices.Equal(got,
		[]string{"urn:a:1"}) {
		t.Errorf("minted %q", got)
	}
}

// No name is returned twice, even by instances that mint concurrently in one store.
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
					names, err := mint.New(r).Mint(t.Context(), writer(), mint.Request{Pattern: pattern, Count: each})
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

// Names that are registered already are skipped, up to a limit.
func TestMintSkips(t *testing.T) {
	s := stores(t)()
	const n = 20_050
	entries := make([]registry.Entry, n)
	for i := range entries {
		entries[i] = registry.Entry{Key: registry.Name(fmt.Sprintf("urn:a:%d", i+1)), Version: 1}
	}
	if err := s.Bulk(t.Context(),
		func(tx registry.WriteTx) error { return registrytest.Append(tx, entries...) }); err != nil {
		t.Fatal(err)
	}
	r := registry.New(configOf(s))
	_, err := mint.New(r).Mint(t.Context(), writer(), mint.Request{Pattern: "urn:a:{counter}", Count: 1})
	if !errors.Is(err, registry.ErrExhausted) || !strings.Contains(err.Error(), "start from a greater number") {
		t.Errorf("got %v", err)
	}
	from := uint64(n - 1000)
	got := minted(t, r, mint.Request{Pattern: "urn:a:{counter}", Count: 2500, From: &from})
	if len(got) != 2500 || got[0] != fmt.Sprintf("urn:a:%d", n+1) {
		t.Errorf("minted %d names from %q on", len(got), got[:1])
	}
}

// Names outside the owned prefixes are not minted.
func TestMintUnowned(t *testing.T) {
	config := configOf(stores(t)())
	config.OwnedPrefixes = []string{"urn:a:"}
	r := registry.New(config)
	_, err := mint.New(r).Mint(t.Context(), writer(), mint.Request{Pattern: "urn:b:{counter}", Count: 1})
	if !errors.Is(err, registry.ErrInvalid) {
		t.Errorf("minting: %v", err)
	}
	if names := minted(t, r, mint.Request{Pattern: "urn:a:m{counter}", Count: 1}); len(names) != 1 {
		t.Errorf("minted %v", names)
	}
}
