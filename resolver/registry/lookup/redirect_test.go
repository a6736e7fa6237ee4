package lookup_test

import (
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/lookup"
)

// redirects returns a record with a target and a redirect status.
func redirects(status int) registry.Record {
	record := leadsTo("https://a.example/")
	record.Redirect = status
	return record
}

// The redirect status is that of the name, of the alias, of the longest prefix that sets one, or the configured
// one.
func TestRedirect(t *testing.T) {
	f := newFixture(t)
	r := lookup.New(lookup.Config{Store: f.Store(), TTL: time.Hour, Redirect: 307, Now: time.Now})
	status := func(name string, at time.Time) int {
		t.Helper()
		q, err := resolver.ParseQuery(name, resolver.I2L)
		if err != nil {
			t.Fatal(err)
		}
		q.At = at
		answer, err := r.Resolve(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return answer.Record().Redirect
	}
	f.put(t, registry.Name("urn:example:p:a"), redirects(0))
	f.put(t, registry.Name("urn:example:p:b"), redirects(302))
	f.put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:p:a"})
	f.put(t, registry.Name("urn:example:permanent"), registry.Record{Alias: "urn:example:p:a", Redirect: 308})
	before := f.put(t, registry.Prefix("urn:example:p:none:"), redirects(0))
	for _, name := range []string{"urn:example:p:a", "urn:example:alias", "urn:example:p:none:x"} {
		if got := status(name, time.Time{}); got != 307 {
			t.Errorf("%s: %d where no prefix says a status", name, got)
		}
	}
	prefix := f.put(t, registry.Prefix("urn:example:p:"), redirects(301))
	r.Invalidate([]registry.Key{prefix.Key})
	for name, want := range map[string]int{
		"urn:example:p:a": 301, "urn:example:p:b": 302, "urn:example:alias": 301, "urn:example:permanent": 308,
		"urn:example:p:c": 301, "urn:example:p:none:x": 301,
	} {
		if got := status(name, time.Time{}); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if got := status("urn:example:p:a", before.Changed); got != 307 {
		t.Errorf("then it was %d", got)
	}
	// With many prefixes, each name queries its own.
	for i := range 120 {
		f.put(t, registry.Prefix("urn:example:q:"+string(rune('a'+i/26))+string(rune('a'+i%26))+":"), redirects(0))
	}
	r.Invalidate([]registry.Key{prefix.Key})
	if got := status("urn:example:p:a", time.Time{}); got != 301 {
		t.Errorf("with many prefixes: %d", got)
	}
}

func TestCheckRedirect(t *testing.T) {
	f := newFixture(t)
	for _, status := range []int{-1, 1, 200, 300, 304, 305, 306, 309, 404, 1 << 40} {
		if _, err := f.edit(t, registry.Name("urn:example:a"), registry.Put(redirects(status))); !errors.Is(err,
			registry.ErrInvalid) {
			t.Errorf("%d: %v", status, err)
		}
	}
	for text, want := range map[string]int{
		"": 0, "0": 0, "301": 301, "302": 302, "303": 303, "307": 307, "308": 308,
		"304": -1, "x": -1, "+301": 301,
	} {
		if got, err := registry.ParseRedirect(text); want >= 0 && (got != want || err != nil) ||
			want < 0 && !errors.Is(err, registry.ErrInvalid) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
