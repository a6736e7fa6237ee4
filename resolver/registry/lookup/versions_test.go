package lookup_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/lookup"
)

// versions returns the versions of a name, as seconds after since.
func versions(t *testing.T, r *lookup.Resolver, name string, since time.Time) ([]int, error) {
	t.Helper()
	q, err := resolver.ParseQuery(name, resolver.I2L)
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.Versions(t.Context(), q)
	if err == nil && (found.Name != q.URI || found.Lifetime() != time.Minute) {
		t.Errorf("the versions of %s are of %s, for %s", name, found.Name, found.Lifetime())
	}
	var seconds []int
	for _, at := range found.Times {
		seconds = append(seconds, int(at.Sub(since)/time.Second))
	}
	return seconds, err
}

// The times at which a name resolved differently are public, except for hidden versions.
func TestVersions(t *testing.T) {
	f := newFixture(t)
	start := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	f.config.Now = func() time.Time { return now }
	f.Registry = registry.New(f.config)
	at := func(second float64, key registry.Key, record registry.Record) {
		now = start.Add(time.Duration(second * float64(time.Second)))
		f.put(t, key, record)
	}
	withdraw := func(second float64, key registry.Key) {
		now = start.Add(time.Duration(second * float64(time.Second)))
		if _, err := f.edit(t, key, registry.Withdraw("why")); err != nil {
			t.Fatal(err)
		}
	}
	a, taken, prefix := registry.Name("urn:example:a"), registry.Name("urn:example:taken"),
		registry.Prefix("urn:example:p:")
	at(1, a, registry.Record{Status: registry.Reserved})
	at(2.5, a, leadsTo("https://a.example/1"))
	at(2.6, a, leadsTo("https://a.example/2"))
	at(5, a, leadsTo("https://a.example/3"))
	at(1, taken, leadsTo("https://secret.example/"))
	withdraw(2, taken)
	f.activate = true
	at(3, taken, leadsTo("https://secret.example/again"))
	withdraw(4, taken)
	at(5, prefix, leadsTo("https://p.example/"))
	at(6, prefix, leadsTo("https://p.example/new/"))
	at(7, registry.Name("urn:example:p:own"), leadsTo("https://own.example/"))
	at(1, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	at(2, registry.Name("urn:example:gone-alias"), registry.Record{Alias: "urn:example:taken"})
	at(1, registry.Prefix("urn:example:w:"), leadsTo("https://w.example/"))
	withdraw(2, registry.Prefix("urn:example:w:"))
	at(1, registry.Name("urn:example:redacted"), leadsTo("https://secret.example/r"))
	at(2, registry.Name("urn:example:redacted"), leadsTo("https://r.example/"))
	if _, err := f.Redact(t.Context(), librarian, registry.Name("urn:example:redacted"), []int{1}, "why"); err != nil {
		t.Fatal(err)
	}
	at(1, registry.Name("https://purl.example/a"), leadsTo("https://a.example/"))
	at(1, registry.Name("urn:other:a"), leadsTo("https://a.example/"))
	at(1, registry.Prefix("urn:example:all:"), registry.Record{Authoritative: true})
	r := lookup.New(lookup.Config{
		Store: f.Store(), TTL: time.Minute, Now: time.Now,
		OwnedPrefixes: []string{"urn:example:", "https://purl.example/"}, Hosts: []string{"https://purl.example/"},
	})
	for name, want := range map[string][]int{
		"urn:example:a":          {1, 2, 5}, // the last of two changes within a second
		"urn:example:taken":      {2, 4},    // the former target is not shown
		"urn:example:p:x":        {5, 6},
		"urn:example:p:own":      {7},
		"urn:example:alias":      {1},
		"urn:example:gone-alias": {2, 4}, // those of the withdrawn target of the alias
		"urn:example:w:x":        {2},
		"urn:example:redacted":   {2},
		"https://purl.example/a": {1}, "https://purl.example/a?b": {1},
		"urn:example:none": nil, "urn:example:all:none": nil, "urn:other:a": nil, "https://purl.example/none": nil,
	} {
		got, err := versions(t, r, name, start)
		if !slices.Equal(got, want) || (want == nil) != errors.As(err, new(*resolver.Negative)) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
		for _, second := range got { // each time resolves to the version of that time
			_, err := resolved(t, f.Store(), name, resolver.I2L,
				resolver.EndOfSecond(start.Add(time.Duration(second)*time.Second)))
			record := resolver.RecordOf(err)
			if errors.Is(err, resolver.ErrUnsupported) && name != "https://purl.example/a?b" ||
				record != nil &&
					record.Changed.After(resolver.EndOfSecond(start.Add(time.Duration(second)*time.Second))) {
				t.Errorf("%s at %d: %v", name, second, err)
			}
		}
	}
	if _, err := versions(t, lookup.New(lookup.Config{Store: unreadableStore{f.Store()}}), "urn:example:a",
		start); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("without a store: %v", err)
	}
}

// For a name with very many changes, the newest versions are returned.
func TestVersionsAreBounded(t *testing.T) {
	f := newFixture(t)
	const more = 7
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	err := f.Store().Bulk(t.Context(), func(tx registry.WriteTx) error {
		for i := range resolver.MaxVersions + more {
			now = now.Add(time.Second)
			w := registry.NewBatch(tx, "test", now)
			if _, _, err := w.Put(registry.Name("urn:example:a"), leadsTo(fmt.Sprintf("https://a.example/%d", i)),
				""); err != nil {
				return err
			}
			if _, err := w.Flush(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := lookup.New(lookup.Config{Store: f.Store(), TTL: time.Minute, Now: time.Now})
	got, err := versions(t, r, "urn:example:a", now)
	if err != nil || len(got) != resolver.MaxVersions || got[0] != 1-resolver.MaxVersions || got[len(got)-1] != 0 {
		t.Errorf("%d versions, from %d on: %v", len(got), got[0], err)
	}
}
