package ddds

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

func TestRoots(t *testing.T) {
	location := func(uri string) set { return set{naptr: []NAPTR{located(1, 1, "", "", uri)}, ttl: hour} }
	roots := []string{"URN.Example.org", "urn.arpa."}
	s := &script{sets: map[string]set{"foo.urn.arpa. NAPTR": location("http://arpa.example/")}}
	r := New(Config{Lookup: s, Roots: roots, MaxDomains: 5})
	roots[0] = "changed.example."

	answer, err := r.Resolve(t.Context(), query(t, "urn:foo:1"))
	if err != nil || locations(answer) != "http://arpa.example/" || answer.Locations[0].From.Name != "ddds urn.arpa." {
		t.Errorf("got %+v, %v", answer, err)
	}
	if want := []string{"foo.urn.example.org. NAPTR", "foo.urn.arpa. NAPTR"}; !slices.Equal(s.queried, want) {
		t.Errorf("asked for %q", s.queried)
	}

	s.sets["foo.urn.example.org. NAPTR"] = location("http://org.example/")
	answer, err = r.Resolve(t.Context(), query(t, "urn:foo:1"))
	if err != nil || locations(answer) != "http://org.example/" {
		t.Errorf("got %+v, %v", answer, err)
	}
}

// A domain that does not exist is ErrUnsupported for the first key only. For a later key it is a negative
// answer of the zone, and the other roots are not queried.
func TestRootThatDelegatesDecides(t *testing.T) {
	down := errors.New("server is down")
	other := set{naptr: []NAPTR{located(1, 1, "", "", "http://arpa.example/")}, ttl: hour}
	for name, first := range map[string]set{
		"later key": {naptr: []NAPTR{to(1, 1, "gone.example.")}, ttl: hour},
		"no match":  {naptr: []NAPTR{located(1, 1, "urn:foo:2", "", "http://a.example/")}, ttl: missingTTL},
		"failure":   {err: down},
	} {
		s := &script{sets: map[string]set{"foo.urn.example.org. NAPTR": first, "foo.urn.arpa. NAPTR": other}}
		r := New(Config{Lookup: s, Roots: []string{"urn.example.org.", "urn.arpa."}, MaxDomains: 5})
		_, err := r.Resolve(t.Context(), query(t, "urn:foo:1"))
		if first.err == nil {
			expectNegative(t, err, resolver.ErrNotFound, missingTTL, "")
		} else if !errors.Is(err, down) {
			t.Errorf("%s: got %v", name, err)
		}
		if slices.Contains(s.queried, "foo.urn.arpa. NAPTR") {
			t.Errorf("%s: asked for %q", name, s.queried)
		}
	}
}

func TestNoRootDelegates(t *testing.T) {
	negative := func(reason string, ttl time.Duration) set {
		return set{err: &resolver.Negative{Kind: resolver.ErrNotFound, Reason: reason, TTL: ttl}}
	}
	for _, c := range []struct {
		first, second time.Duration
		ttl           time.Duration
	}{{hour, time.Minute, time.Minute}, {time.Minute, hour, time.Minute}, {0, hour, 0}, {hour, 0, 0}} {
		s := &script{sets: map[string]set{
			"foo.a.example. NAPTR": negative("none at a", c.first),
			"foo.b.example. NAPTR": negative("none at b", c.second),
		}}
		r := New(Config{Lookup: s, Roots: []string{"a.example.", "b.example."}, MaxDomains: 5})
		_, err := r.Resolve(t.Context(), query(t, "urn:foo:1"))
		expectNegative(t, err, resolver.ErrUnsupported, c.ttl, "none at a, none at b")
	}
	_, err := New(Config{Lookup: &script{}, MaxDomains: 5}).Resolve(t.Context(), query(t, "urn:foo:1"))
	expectNegative(t, err, resolver.ErrUnsupported, 0, "")
}

func TestResolveRequiresURN(t *testing.T) {
	s := &script{}
	_, err := resolve(t, s, "http://www.example.com/")
	var failure *uri.ParseError
	if !errors.As(err, &failure) || len(s.queried) > 0 {
		t.Errorf("got %v, asked %q", err, s.queried)
	}
}

// RFC 3404 section 5.2: the URI Resolution application starts at the scheme.
func TestBySchemes(t *testing.T) {
	s := &script{sets: map[string]set{
		"cid.uri.arpa. NAPTR": {
			naptr: []NAPTR{{100, 10, "", "", `!^cid:.+@([^\.]+\.)(.*)$!\2!i`, "."}},
			ttl:   time.Hour,
		},
		"example.com. NAPTR": {naptr: []NAPTR{{
			100, 10, "u", "http+I2L", `!^cid:(.+)@.*$!http://cid.example.com/\1!i`,
			".",
		}}, ttl: time.Minute},
	}}
	r := New(Config{Lookup: s, Roots: []string{"uri.arpa"}, MaxDomains: 5, BySchemes: true})
	answer, err := r.Resolve(t.Context(), query(t, "cid:199606121851.1@bar.example.com"))
	if err != nil || locations(answer) != "http://cid.example.com/199606121851.1" || answer.TTL != time.Minute {
		t.Errorf("%q for %s, %v", locations(answer), answer.TTL, err)
	}
	if _, err := r.Resolve(t.Context(), query(t, "mid:a@b")); !errors.Is(err, resolver.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

// The namespace ddi: the first key is the reversed agency, and its records are U-NAPTR records (RFC 9517, RFC
// 4848).
func TestReversedFirstKeyAndUNAPTR(t *testing.T) {
	s := &script{sets: map[string]set{
		"mpc.us.ddi.urn.arpa. NAPTR": {ttl: time.Hour, naptr: []NAPTR{
			{Order: 10, Preference: 10, Flags: "U", Services: "I2N+http", Regexp: "!.*!https://ddi.example/names!"},
			{Order: 10, Preference: 20, Flags: "U", Services: "I2R+http", Regexp: "!^(.*)$!https://ddi.example/\\1!"},
		}},
	}}
	r := New(Config{Lookup: s, Roots: []string{"urn.arpa."}, MaxDomains: 5, FirstKey: func(name uri.URN) string {
		if strings.HasPrefix(name.NSS(), "%") {
			return name.NSS() + ".ddi"
		}
		return "mpc.us.ddi"
	}})
	answer, err := r.Resolve(t.Context(), query(t, "urn:ddi:us.mpc:A:1"))
	if got := locations(answer); got != "https://ddi.example/urn:ddi:us.mpc:A:1" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	_, err = r.Resolve(t.Context(), query(t, "urn:ddi:%41:1"))
	expectNegative(t, err, resolver.ErrUnsupported, resolver.Forever, `key is not a domain name: "%41:1.ddi.example"`)
}

// The location for the service I2C is a description, and that for I2L the resource.
func TestRelationByService(t *testing.T) {
	sets := map[string]set{"foo.urn.arpa. NAPTR": {ttl: hour, naptr: []NAPTR{
		located(1, 1, "", "http+I2L", "http://a.example/"), located(1, 2, "", "http+I2C", "http://about.example/"),
	}}}
	for service, want := range map[resolver.Service][2]string{
		resolver.I2L: {"http://a.example/", ""}, resolver.I2Ls: {"http://a.example/", ""},
		resolver.I2C: {"http://about.example/", "describedby"}, resolver.I2Cs: {"http://about.example/", "describedby"},
	} {
		q := query(t, "urn:foo:1")
		q.Service = service
		answer, err := New(Config{
			Lookup: &script{sets: sets}, Roots: []string{"urn.arpa."},
			MaxDomains: 5,
		}).Resolve(t.Context(), q)
		if err != nil || locations(answer) != want[0] || answer.Locations[0].ToLink().Rel != want[1] {
			t.Errorf("%s: %+v, %v", service, answer, err)
		}
	}
}
