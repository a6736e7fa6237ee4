package resolver_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

func query(t testing.TB, s string) resolver.Query {
	t.Helper()
	u, err := uri.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	q, err := resolver.NewQuery(u, resolver.I2L)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func builtin(t testing.TB) *urnns.Set {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// stub is a resolver that always returns the same outcome, and records its queries.
type stub struct {
	answer    resolver.Answer
	err       error
	requested []resolver.Query
}

func (s *stub) Resolve(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	s.requested = append(s.requested, q)
	return s.answer, s.err
}

func located(uri string, ttl time.Duration) resolver.Answer {
	return resolver.Answer{Locations: []resolver.Location{{URI: uri, From: &resolver.Source{Name: "test"}}}, TTL: ttl}
}

func unsupported(reason string, ttl time.Duration) error {
	return &resolver.Negative{Kind: resolver.ErrUnsupported, Reason: reason, TTL: ttl}
}

func TestChain(t *testing.T) {
	down := errors.New("down")
	for _, tt := range []struct {
		name          string
		first, second *stub
		location      string
		err           error
		text          string
		ttl           time.Duration
		asksSecond    bool
	}{
		{
			name: "the first answers", first: &stub{answer: located("http://1/", 1)}, second: &stub{},
			location: "http://1/",
		},
		{
			name: "unsupported continues", first: &stub{err: unsupported("r1", 0)},
			second: &stub{answer: located("http://2/", 1)}, location: "http://2/",
			asksSecond: true,
		},
		{
			name:  "an authoritative negative answer stops",
			first: &stub{err: &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "gone", TTL: 7}}, second: &stub{},
			err: resolver.ErrNotFound, text: "name not found: gone", ttl: 7,
		},
		{name: "a failure stops", first: &stub{err: down}, second: &stub{}, err: down, text: "down"},
		{
			name: "all unsupported", first: &stub{err: unsupported("r1", 9)}, second: &stub{err: unsupported("r2", 5)},
			asksSecond: true, err: resolver.ErrNotFound, text: "name not found: tried one: r1; two: r2", ttl: 5,
		},
		{
			name: "the TTL of an answer is limited by earlier members", first: &stub{err: unsupported("r1", 9)},
			second:   &stub{answer: located("http://2/", 20)},
			location: "http://2/", ttl: 9, asksSecond: true,
		},
		{
			name: "the TTL of a negative answer is limited by earlier members", first: &stub{err: unsupported("r1", 9)},
			asksSecond: true, ttl: 9,
			second: &stub{err: &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "gone", TTL: 20}},
			err:    resolver.ErrNotFound, text: "name not found: gone",
		},
		{
			name: "an error without TTL is no limit", first: &stub{err: unsupported("r1", 9)},
			second: &stub{err: resolver.ErrUnsupported}, asksSecond: true, err: resolver.ErrNotFound,
			text: "name not found: tried one: r1; two: no rule for this name", ttl: 9,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chain, err := resolver.NewChain(resolver.ChainConfig{Members: []resolver.Member{{
				Name:     "one",
				Resolver: tt.first,
			}, {
				Name:     "two",
				Resolver: tt.second,
			}}, Order: []string{"one", "two"}, Unknown: resolver.ErrNotFound})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := chain.Resolve(t.Context(), query(t, "urn:example:a"))
			if !errors.Is(err, tt.err) || err != nil && err.Error() != tt.text {
				t.Errorf("error %v", err)
			}
			var n *resolver.Negative
			if errors.As(err, &n) && n.TTL != tt.ttl {
				t.Errorf("ttl %d, want %d", n.TTL, tt.ttl)
			}
			if tt.location != "" && (answer.Locations[0].URI != tt.location || tt.ttl != 0 && answer.TTL != tt.ttl) {
				t.Errorf("answer %+v", answer)
			}
			if requested := len(tt.second.requested) > 0; requested != tt.asksSecond {
				t.Errorf("second resolver queried: %v", requested)
			}
		})
	}
}

func TestChainOrder(t *testing.T) {
	one, two := &stub{answer: located("http://1/", 1)}, &stub{answer: located("http://2/", 1)}
	members := []resolver.Member{{Name: "one", Resolver: one}, {Name: "two", Resolver: two}}
	chain, err := resolver.NewChain(resolver.ChainConfig{
		Members: members, Order: []string{"one"},
		Orders: map[string][]string{
			"special": {"two", "one"},
			"none":    {},
		}, Unknown: resolver.ErrNotFound,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, location := range map[string]string{"urn:example:a": "http://1/", "urn:special:a": "http://2/"} {
		if got, err := chain.Resolve(t.Context(), query(t, name)); err != nil || got.Locations[0].URI != location {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := chain.Resolve(t.Context(), query(t, "urn:none:a")); !errors.Is(err, resolver.ErrNotFound) {
		t.Errorf("namespace without resolvers: %v", err)
	}
	q := query(t, "urn:example:a")
	q.Service = resolver.I2R
	if _, err := chain.Resolve(t.Context(), q); !errors.Is(err, resolver.ErrService) {
		t.Errorf("a service that is not offered: %v", err)
	}
	if _, err := resolver.NewChain(resolver.ChainConfig{Members: members, Order: []string{"three"}}); err == nil {
		t.Error("an unknown resolver is accepted")
	}
}

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"URN:ISBN:0-395-36341-1":   "urn:isbn:0395363411",
		"urn:example:a?+r?=q#f":    "urn:example:a",
		"HTTP://A:80/b/../c#f":     "http://a/c",
		"urn:ietf:rfc:2648?s=I2Ls": "urn:ietf:rfc:2648",
	} {
		next := &stub{answer: located("http://1/", 1)}
		answer, err := resolver.NewCanonical(resolver.Names{Set: builtin(t), Accept: uri.CurrentURN},
			next).Resolve(t.Context(), query(t, in))
		if err != nil || answer.Name.String() != want || next.requested[0].URI.String() != want {
			t.Errorf("%s: %v, %v, requested %v", in, answer.Name, err, next.requested)
		}
	}
	var parse *uri.ParseError
	if _, err := resolver.NewCanonical(resolver.Names{Set: builtin(t), Accept: uri.CurrentURN},
		&stub{}).Resolve(t.Context(), query(t,
		"urn:isbn:1")); !errors.As(err, &parse) {
		t.Errorf("an invalid name: %v", err)
	}
}

// RFC 8141 sections 2.3.2 and 2.3.3: components take no part in resolution, and are added to the location.
func TestComponents(t *testing.T) {
	for _, tt := range []struct{ in, location, want string }{
		{"urn:example:a?=q=1", "http://a/", "http://a/?q=1"},
		{"urn:example:a?+r?=q=1#f", "http://a/?x", "http://a/?x&q=1#f"},
		{"urn:example:a?=q=1#f", "http://a/#own", "http://a/?q=1#own"},
		{"urn:example:a?=q", "http://a/uri-res/N2L?urn:example:a", "http://a/uri-res/N2L?urn:example:a?=q"},
		{"urn:example:a?+r", "http://a/", "http://a/"},
		{"http://a/#f", "http://a/", "http://a/#f"},
	} {
		next := &stub{answer: located(tt.location, 1)}
		answer, err := resolver.NewCanonical(resolver.Names{Set: builtin(t), Accept: uri.CurrentURN},
			next).Resolve(t.Context(), query(t, tt.in))
		if err != nil || answer.Locations[0].URI != tt.want {
			t.Errorf("%s at %s: %+v, %v", tt.in, tt.location, answer.Locations, err)
		}
		if next.answer.Locations[0].URI != tt.location {
			t.Error("the shared answer was changed")
		}
	}
}

// Resolution parameters are passed on with the name, and are part of the key.
func TestResolutionParams(t *testing.T) {
	keys := make(map[string]string)
	for in, want := range map[string]string{
		"urn:example:a": "", "urn:example:a?=q": "", "urn:example:a?+r": "?+r", "urn:example:a?+r?=q#f": "?+r",
		"urn:example:a?s=I2Ls&c=ToC": "?c=ToC", "urn:example:a?c=1&c=2": "", "urn:example:a?x=y": "",
		"http://a/?c=1": "",
	} {
		next := &stub{answer: located("http://a/", 1)}
		if _, err := resolver.NewCanonical(resolver.Names{Set: builtin(t), Accept: uri.CurrentURN},
			next).Resolve(t.Context(), query(t,
			in)); err != nil || next.requested[0].ResolutionParams != want {
			t.Errorf("%s: %+v, %v", in, next.requested, err)
		}
		keys[next.requested[0].Key()] = in
	}
	if len(keys) != 4 { // without parameters, "r", "c", and the URL
		t.Errorf("%q", keys)
	}
}

// The directive "s" selects a service; unknown services are ignored.
func TestServiceDirective(t *testing.T) {
	for in, want := range map[string]resolver.Service{
		"urn:example:a?s=I2C": resolver.I2C, "urn:example:a?s=n2ls&c=ToC": resolver.I2L,
		"urn:example:a?s=i2c":        resolver.I2L,
		"urn:example:a?s=I2Ls&c=ToC": resolver.I2Ls,
		"urn:example:a?s=I2U":        resolver.I2L, "urn:example:a?s=I2C&s=I2R": resolver.I2L,
		"urn:example:a?=s=I2C": resolver.I2L,
	} {
		if got := query(t, in).Selected().Service; got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// A name must not select a scheme that is not allowed for locations.
func TestNamespacesCheckLocations(t *testing.T) {
	set, err := urnns.NewSet(urnns.Namespace{NID: "example", Targets: []urnns.Target{{Template: "{+nss}"}}})
	if err != nil {
		t.Fatal(err)
	}
	n := resolver.NewNamespaces(set, time.Hour)
	if _, err := n.Resolve(t.Context(), query(t, "urn:example:javascript:alert(1)")); !errors.Is(err,
		resolver.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	if answer, err := n.Resolve(t.Context(), query(t, "urn:example:http://a.example/")); err != nil {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestNamespaces(t *testing.T) {
	n := resolver.NewNamespaces(builtin(t), time.Hour)
	answer, err := n.Resolve(t.Context(), query(t, "urn:isbn:0395363411"))
	if err != nil || len(answer.Locations) != 2 || answer.TTL != time.Hour ||
		answer.Locations[0].From.Name != "namespace isbn" {
		t.Errorf("%+v, %v", answer, err)
	}
	for _, name := range []string{"urn:unknown:a", "urn:ietf:new:a"} {
		if _, err := n.Resolve(t.Context(), query(t, name)); !errors.Is(err, resolver.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCached(t *testing.T) {
	var seconds int64
	answers := newAnswers(t, func() time.Time { return time.Unix(seconds, 0) }, nil)
	next := &stub{answer: located("http://1/", 10*time.Second)}
	cached := resolver.NewCached(answers.Cache, next, nil)
	ask := func(state resolver.CacheState, ttl time.Duration, calls int) {
		t.Helper()
		got, err := cached.Resolve(t.Context(), query(t, "urn:example:a"))
		if err != nil || got.Cache != state || got.TTL != ttl || len(next.requested) != calls ||
			got.Locations[0].URI != "http://1/" {
			t.Errorf("%+v, %v after %d calls", got, err, len(next.requested))
		}
	}
	ask(resolver.CacheMiss, 10*time.Second, 1)
	seconds = 4
	ask(resolver.CacheHit, 6*time.Second, 1)
	seconds = 20
	next.err = resolver.ErrUnreachable
	ask(resolver.CacheStale, -10*time.Second, 2)

	q := query(t, "urn:example:b")
	next.err = &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "gone", TTL: 5 * time.Second}
	for _, want := range []resolver.CacheState{resolver.CacheMiss, resolver.CacheHit} {
		var n *resolver.Negative
		if _, err := cached.Resolve(t.Context(), q); !errors.As(err, &n) || n.Cache != want || n.TTL != 5*time.Second {
			t.Errorf("%+v", n)
		}
	}
}

// Queries of different services have different keys.
func TestKey(t *testing.T) {
	seen := make(map[string]bool)
	for _, name := range []string{"urn:example:a", "urn:example:a%20I2Ls"} {
		for service := resolver.I2L; service <= resolver.IisI; service++ {
			q := query(t, name)
			q.Service = service
			if seen[q.Key()] {
				t.Errorf("two queries have the key %q", q.Key())
			}
			seen[q.Key()] = true
		}
	}
}

// URNs go to Names, URLs to Locations, and other URIs to Others, or to Locations without it.
func TestSplit(t *testing.T) {
	say := func(who string) resolver.Resolver { return &stub{answer: located("http://"+who+".example/", 1)} }
	for _, others := range []bool{false, true} {
		split := &resolver.Mux{Names: say("names"), Locations: say("locations")}
		if others {
			split.Others = say("others")
		}
		for in, want := range map[string]string{
			"URN:example:a": "names", "HTTP://a/": "locations", "mailto:a@b": "locations", "cid:a@b": "others",
			"javascript:a": "others",
		} {
			if !others && want == "others" {
				want = "locations"
			}
			if answer, err := split.Resolve(t.Context(), query(t, in)); err != nil ||
				answer.Locations[0].URI != "http://"+want+".example/" {
				t.Errorf("%s, others %v: %+v, %v", in, others, answer, err)
			}
		}
	}
}
