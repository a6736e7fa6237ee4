package lookup_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/lookup"
)

// A name of a web host that is not registered with its query resolves like the name without it, with the query
// appended to the location.
func TestHosts(t *testing.T) {
	f := newFixture(t)
	const base = "https://purl.example/"
	put := func(key registry.Key, target string) { f.put(t, key, leadsTo(target)) }
	put(registry.Name(base+"a"), "https://a.example/a")
	put(registry.Name(base+"a?id=1"), "https://a.example/one")
	put(registry.Name(base+"with"), "https://a.example/?x=y#f")
	put(registry.Name(base+"mail"), "mailto:a@a.example")
	put(registry.Prefix(base+"b/"), "https://b.example/")
	put(registry.Prefix(base+"t/"), "https://b.example/?id={suffix}")
	put(registry.Prefix(base+"item.php?id="), "https://b.example/items/")
	put(registry.Name("https://other.example/a"), "https://a.example/other")
	f.put(t, registry.Name(base+"a?old"), registry.Record{Status: registry.Withdrawn, Reason: "old"})
	hosts := []string{base}
	r := lookup.Hosts{
		Resolver: lookup.Standalone{Resolver: lookup.New(lookup.Config{
			Store: f.Store(), TTL: time.Minute, Hosts: hosts,
			Now: time.Now,
		})},
		Names: hosts,
	}
	for name, want := range map[string]string{
		base + "a":                        "https://a.example/a",
		base + "a?":                       "https://a.example/a",
		base + "a?id=1":                   "https://a.example/one",
		base + "a?id=2":                   "https://a.example/a?id=2",
		base + "a?id=1&x":                 "https://a.example/a?id=1&x",
		base + "with?q":                   "https://a.example/?x=y&q#f",
		base + "mail?q":                   "mailto:a@a.example",
		base + "b/c/d?q=/../?":            "https://b.example/c/d?q=/../?",
		base + "b/../a":                   "-",
		base + "b/%2e%2e/a?q":             "-",
		base + "t/c?q":                    "https://b.example/?id=c&q",
		base + "item.php?id=7":            "https://b.example/items/7",
		base + "item.php?di=7":            "-",
		base + "none?q":                   "-",
		base + "a?old":                    "gone",
		"https://other.example/a":         "https://a.example/other",
		"https://other.example/a?q":       "-",
		"http://purl.example/a":           "-",
		"https://purl.example.evil/a?x=y": "-",
	} {
		for _, service := range []resolver.Service{resolver.I2L, resolver.I2Ls} {
			q, err := resolver.ParseQuery(name, service)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := r.Resolve(t.Context(), q)
			got := "-"
			switch {
			case err == nil:
				got = answer.Locations[0].URI
			case errors.Is(err, resolver.ErrGone):
				got = "gone"
			case !errors.Is(err, resolver.ErrNotFound):
				t.Errorf("%s: %v", name, err)
			}
			if got != want {
				t.Errorf("%s leads to %s, want %s (%v)", name, got, want, err)
			}
		}
	}
	// A shared answer is not modified.
	q, _ := resolver.ParseQuery(base+"a?x", resolver.I2L)
	first, _ := r.Resolve(t.Context(), q)
	again, _ := r.Resolve(t.Context(), q)
	if !slices.Equal([]string{first.Locations[0].URI}, []string{again.Locations[0].URI}) {
		t.Errorf("it led to %s, then to %s", first.Locations[0].URI, again.Locations[0].URI)
	}
}
