package ddds

import (
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

// A purge of names removes every record set that their resolution used, and sends no queries.
func TestPurge(t *testing.T) {
	rule := func(flags, services, regexp, replacement string) set {
		return set{naptr: []NAPTR{{
			Order: 1, Flags: flags, Services: services, Regexp: regexp,
			Replacement: replacement,
		}}, ttl: time.Hour}
	}
	s := &script{sets: map[string]set{
		"a.urn.arpa. NAPTR":            rule("", "", `!^urn:a:([^:]+):.*$!\1.example.!`, ""),
		"one.example. NAPTR":           rule("S", "thttp+I2L", "", "_thttp._tcp.one.example."),
		"_thttp._tcp.one.example. SRV": {srv: []SRV{{Port: 80, Target: "host.example."}}, ttl: time.Hour},
		"two.example. NAPTR":           rule("U", "thttp+I2L", `!^.*$!http://two.example/!`, ""),
		"b.urn.arpa. NAPTR":            rule("U", "thttp+I2L", `!^.*$!http://b.example/!`, ""),
	}}
	var now clock
	cached := newCached(t, &now, s)
	r := New(Config{Lookup: cached, Roots: []string{"none.example.", "urn.arpa."}, MaxDomains: 5})
	one, two, b, unknown := query(t, "urn:a:one:1"), query(t, "urn:a:two:1"), query(t, "urn:b:1"), query(t, "urn:c:1")
	questions := func(names ...resolver.Query) []string {
		t.Helper()
		s.queried = nil
		for _, q := range names {
			_, _ = r.Resolve(t.Context(), q)
		}
		return s.queried
	}
	questions(one, two, b, unknown)
	if again := questions(one, two, b, unknown); again != nil {
		t.Fatalf("asked again: %q", again)
	}
	if n := r.Purge(t.Context(), []resolver.Query{one}); n != 4 || s.queried != nil {
		t.Errorf("purged %d record sets, and asked %q", n, s.queried)
	}
	if requested := questions(b, unknown); requested != nil {
		t.Errorf("other names: asked %q", requested)
	}
	if requested := questions(two); !slices.Equal(requested, []string{"a.none.example. NAPTR", "a.urn.arpa. NAPTR"}) {
		t.Errorf("another name of the namespace: asked %q", requested)
	}
	if requested := questions(one); !slices.Equal(requested,
		[]string{"one.example. NAPTR", "_thttp._tcp.one.example. SRV"}) {
		t.Errorf("the name: asked %q", requested)
	}
	if n := r.Purge(t.Context(), []resolver.Query{unknown}); n != 2 {
		t.Errorf("a name that does not exist: purged %d record sets", n)
	}
	if n := r.Purge(t.Context(), []resolver.Query{one, two}); n != 5 {
		t.Errorf("two names: purged %d record sets", n)
	}
	for key, want := range map[string]bool{
		"b.urn.arpa. NAPTR": true, "mpc.us.b.urn.arpa. NAPTR": true, "b.urn.arpa. NAPTR own": true,
		"ab.urn.arpa. NAPTR": false, "b.urn.arpa. SRV": false,
		"b.example. NAPTR": false,
	} {
		if got := r.IsFirstKey(key, "b"); got != want {
			t.Errorf("%s is of the namespace: %t", key, got)
		}
	}
	_ = questions(b)
	// Without a cache there is nothing to purge.
	if n := New(Config{Lookup: s, Roots: []string{"urn.arpa."}, MaxDomains: 5}).Purge(t.Context(),
		[]resolver.Query{one}); n != 0 {
		t.Errorf("without a cache: %d", n)
	}
}
