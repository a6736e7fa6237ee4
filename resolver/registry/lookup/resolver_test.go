package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/lookup"
)

// resolved returns the locations of a name, or its other names, as a single text.
func resolved(t *testing.T, s registry.Store, name string, service resolver.Service, at time.Time) (string, error) {
	t.Helper()
	r := lookup.New(lookup.Config{Store: s, TTL: time.Minute, Now: time.Now})
	q, err := resolver.ParseQuery(name, service)
	if err != nil {
		t.Fatal(err)
	}
	q.At = at
	answer, err := r.Resolve(t.Context(), q)
	var uris []string
	for _, l := range answer.Locations {
		uris = append(uris, l.URI)
	}
	return strings.Join(uris, " "), err
}

// As of a time, a name resolves by the prefixes of that time.
func TestPrefixAtTime(t *testing.T) {
	f := newFixture(t)
	first := f.put(t, registry.Prefix("urn:example:p:"), leadsTo("https://p.example/"))
	second := f.put(t, registry.Prefix("urn:example:p:q:"), leadsTo("https://q.example/"))
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{first.Changed.Add(-time.Millisecond), ""},
		{first.Changed, "https://p.example/q:r:s"},
		{second.Changed, "https://q.example/r:s"},
	} {
		got, err := resolved(t, f.Store(), "urn:example:p:q:r:s", resolver.I2L, c.at)
		if got != c.want || (c.want == "") != errors.Is(err, resolver.ErrUnsupported) {
			t.Errorf("at %s it led to %q, %v, want %q", c.at, got, err, c.want)
		}
	}
}

// The former target of a withdrawn name is not shown, whichever alias or prefix it was reached by.
func TestWithdrawnAtTime(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name("urn:example:a"), leadsTo("https://secret.example/a"))
	f.put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	f.put(t, registry.Name("urn:example:moved"), registry.Record{Alias: "urn:example:a"})
	f.put(t, registry.Prefix("urn:example:p:"), leadsTo("https://secret.example/p/"))
	f.put(t, registry.Prefix("urn:example:q:"), leadsTo("https://q.example/"))
	then := f.put(t, registry.Name("urn:example:b"), leadsTo("https://b.example/1")).Changed
	f.put(t, registry.Name("urn:example:b"), leadsTo("https://b.example/2"))
	f.put(t, registry.Name("urn:example:moved"), registry.Record{Alias: "urn:example:b"})
	f.put(t, registry.Prefix("urn:example:p:longer:"), leadsTo("https://b.example/"))
	f.put(t, registry.Name("urn:example:q:taken-down"), leadsTo("https://b.example/"))
	for _, key := range []registry.Key{
		registry.Name("urn:example:a"), registry.Prefix("urn:example:p:"),
		registry.Name("urn:example:q:taken-down"),
	} {
		if _, err := f.edit(t, key, registry.Withdraw("why")); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"urn:example:a": "", "urn:example:alias": "", "urn:example:moved": "", "urn:example:p:x": "",
		"urn:example:p:longer:x":   "",
		"urn:example:q:taken-down": "", "urn:example:q:x": "https://q.example/x",
		"urn:example:b": "https://b.example/1",
	} {
		for _, service := range []resolver.Service{resolver.I2L, resolver.I2Ls} {
			got, err := resolved(t, f.Store(), name, service, then)
			if got != want || want == "" && !errors.Is(err, resolver.ErrGone) {
				t.Errorf("%s %s led to %q, %v, want %q", service, name, got, err, want)
			}
		}
	}
}

// Other systems are not queried for an alias, whatever it refers to.
func TestAliasOfUnknown(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Prefix("urn:example:p:"), registry.Record{})
	for i, of := range []string{"urn:example:none", "urn:example:p:none"} {
		alias := fmt.Sprintf("urn:example:alias%d", i)
		f.put(t, registry.Name(alias), registry.Record{Alias: of})
		if _, err := resolved(t, f.Store(), alias, resolver.I2L, time.Time{}); !errors.Is(err, resolver.ErrNotFound) {
			t.Errorf("an alias of %s: %v", of, err)
		}
	}
}

// unreadableStore is a store that supports lookups only.
type unreadableStore struct{ registry.Store }

func (unreadableStore) Read(context.Context, func(registry.Tx) error) error {
	return fmt.Errorf("%w: at db.internal.example", registry.ErrUnavailable)
}

// Details of an error of the store are hidden from clients.
func TestStoreIsNotShown(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/"))
	for _, service := range []resolver.Service{resolver.I2N, resolver.I2Ns} {
		_, err := resolved(t, unreadableStore{f.Store()}, "urn:example:a", service, time.Time{})
		if !errors.Is(err, registry.ErrUnavailable) || strings.Contains(err.Error(), "db.internal") {
			t.Errorf("%s: %v", service, err)
		}
	}
}

// A name resolves to the named resource, and not to a related one.
func TestRelatedTargetsAreNotLedTo(t *testing.T) {
	f := newFixture(t)
	record := leadsTo("https://a.example/meta")
	record.Targets[0].Rel = "describedby"
	f.put(t, registry.Name("urn:example:described"), record)
	if got, err := resolved(t, f.Store(), "urn:example:described", resolver.I2L, time.Time{}); !errors.Is(err,
		resolver.ErrNotFound) {
		t.Errorf("it leads to %q, %v", got, err)
	}
	record.Targets = append(record.Targets, registry.Target{URI: "https://a.example/", Rel: "item", Priority: 5})
	f.put(t, registry.Name("urn:example:both"), record)
	for _, service := range []resolver.Service{resolver.I2L, resolver.I2Ls} {
		if got, err := resolved(t, f.Store(), "urn:example:both", service, time.Time{}); got != "https://a.example/" ||
			err != nil {
			t.Errorf("it leads to %q, %v", got, err)
		}
	}
}

// The names at the beginning of a chain that is too long, as earlier versions of urnd registered it, do not resolve,
// with an error that explains why.
func TestLongChain(t *testing.T) {
	f := newFixture(t)
	name := func(i int) string { return fmt.Sprintf("urn:example:%d", i) }
	const links = 10
	f.put(t, registry.Name(name(links)), leadsTo("https://a.example/"))
	changes := make([]registry.Changed, links)
	for i := range changes {
		changes[i].After = registry.Entry{
			Key: registry.Name(name(i)), Version: 1, Changed: time.Now(), Record: registry.Record{Alias: name(i + 1)},
		}
	}
	if err := f.Store().Write(t.Context(), func(tx registry.WriteTx) error {
		return tx.Append(&registry.ChangeSet{Time: time.Now()}, changes, nil)
	}); err != nil {
		t.Fatal(err)
	}
	r := lookup.New(lookup.Config{Store: f.Store(), TTL: time.Minute, Now: time.Now})
	for i, want := range map[int]error{0: resolver.ErrNotFound, 1: resolver.ErrNotFound, 2: nil, links: nil} {
		q, err := resolver.ParseQuery(name(i), resolver.I2L)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Resolve(t.Context(), q); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name(i), err, want)
		}
	}
}

// The whole rest behind a prefix must match its pattern; a registered name need not.
func TestPattern(t *testing.T) {
	f := newFixture(t)
	leads := leadsTo("https://example.org/")
	f.put(t, registry.Name("urn:example:own"), leads)
	leads.Pattern = `[0-9]{2}|x`
	f.put(t, registry.Prefix("urn:example:"), leads)
	for name, want := range map[string]bool{
		"urn:example:12": true, "urn:example:x": true, "urn:example:123": false, "urn:example:1x": false,
		"urn:example:own": true,
	} {
		_, err := resolved(t, f.Store(), name, resolver.I2L, time.Time{})
		if want && err != nil ||
			!want && (!errors.Is(err, resolver.ErrNotFound) || !strings.Contains(err.Error(), "does not match")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
