package ddds

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

const (
	day  = 24 * time.Hour
	hour = time.Hour
)

func TestWalk(t *testing.T) {
	for _, c := range []struct {
		name      string
		sets      map[string]set
		urn       string
		want      string // locations
		ttl       time.Duration
		requested string
	}{
		{"u in one step", map[string]set{
			"foo.urn.arpa. NAPTR": {
				naptr: []NAPTR{{1, 1, "u", "", `!^urn:foo:(.*)$!https://foo.example/\1!`, "."}},
				ttl:   hour,
			},
		}, "urn:foo:a/b", "https://foo.example/a/b", hour, "foo.urn.arpa. NAPTR"},
		{
			"rules apply to the original name",
			map[string]set{
				"cid.urn.arpa. NAPTR": {
					naptr: []NAPTR{{100, 10, "", "", `!^urn:cid:.+@([^\.]+\.)(.*)$!\2!i`, "."}},
					ttl:   day,
				},
				"example.com. NAPTR": {
					naptr: []NAPTR{{1, 1, "U", "", `!^urn:cid:(.+)@.*$!http://example.com/\1!`, "."}},
					ttl:   hour,
				},
			},
			"urn:cid:199606121851.1@bar.example.com", "http://example.com/199606121851.1", hour,
			"cid.urn.arpa. NAPTR, example.com. NAPTR",
		},
		{
			"RFC 3405 section 4",
			map[string]set{
				"foo.urn.arpa. NAPTR": {naptr: []NAPTR{{100, 10, "", "", "", "urn-resolver.foo.com."}}, ttl: day},
				"urn-resolver.foo.com. NAPTR": {
					naptr: []NAPTR{{1, 1, "a", "thttp+I2L", "", "host.foo.com."}},
					ttl:   time.Minute,
				},
			},
			"urn:foo:1", "http://host.foo.com/uri-res/N2L?urn:foo:1", time.Minute,
			"foo.urn.arpa. NAPTR, urn-resolver.foo.com. NAPTR",
		},
		{"the first set may be the shortest-lived", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{to(1, 1, "a.example.")}, ttl: time.Second},
			"a.example. NAPTR":    {naptr: []NAPTR{located(1, 1, "", "", "http://x.example/")}, ttl: hour},
		}, "urn:foo:1", "http://x.example/", time.Second, "foo.urn.arpa. NAPTR, a.example. NAPTR"},
		{"a set that must not be cached", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{located(1, 1, "", "", "http://x.example/")}, ttl: 0},
		}, "urn:foo:1", "http://x.example/", 0, "foo.urn.arpa. NAPTR"},
		{
			"alternatives of one order",
			map[string]set{
				"foo.urn.arpa. NAPTR": {naptr: []NAPTR{
					located(1, 2, "", "", "http://b.example/"), located(1, 1, "", "", "http://a.example/"),
					{1, 3, "a", "https+I2L", "", "c.example."},
					to(1, 4, "d.example."), located(2, 1, "", "", "http://e.example/"),
				}, ttl: hour},
			},
			"urn:foo:1", "http://a.example/ http://b.example/ https://c.example/uri-res/N2L?urn:foo:1", hour,
			"foo.urn.arpa. NAPTR",
		},
		{"flag p finds the host as flag a does", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{{1, 1, "p", "https+I2L", "", "a.example."}}, ttl: hour},
		}, "urn:foo:1", "https://a.example/uri-res/N2L?urn:foo:1", hour, "foo.urn.arpa. NAPTR"},
		{"the resource at a server is a location", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{{1, 1, "a", "thttp+N2C+N2R", "", "a.example."}}, ttl: hour},
		}, "urn:foo:1", "http://a.example/uri-res/N2R?urn:foo:1", hour, "foo.urn.arpa. NAPTR"},
		{"another protocol is the last resort", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{
				{1, 1, "a", "z3950+N2L+N2C", "", "a.example."},
				{1, 2, "a", "rcds+N2C", "", "b.example."},
				{
					2, 1, "a",
					"http+N2L", "", "c.example.",
				},
			}, ttl: hour},
		}, "urn:foo:1", "z39.50s://a.example", hour, "foo.urn.arpa. NAPTR"},
		{"another protocol is not needed", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{
				{1, 1, "s", "z3950+N2L+N2C", "", "a.example."},
				located(1, 2, "", "", "http://b.example/"),
			}, ttl: hour},
		}, "urn:foo:1", "http://b.example/", hour, "foo.urn.arpa. NAPTR"},
		{"a non-terminal rule before terminal ones", map[string]set{
			"foo.urn.arpa. NAPTR": {
				naptr: []NAPTR{located(1, 2, "", "", "http://a.example/"), to(1, 1, "b.example.")},
				ttl:   hour,
			},
			"b.example. NAPTR": {naptr: []NAPTR{located(1, 1, "", "", "http://b.example/")}, ttl: hour},
		}, "urn:foo:1", "http://b.example/", hour, "foo.urn.arpa. NAPTR, b.example. NAPTR"},
	} {
		s := &script{sets: c.sets}
		answer, err := resolve(t, s, c.urn)
		if err != nil || locations(answer) != c.want || answer.TTL != c.ttl {
			t.Errorf("%s: got %q for %s, %v", c.name, locations(answer), answer.TTL, err)
		}
		if requested := strings.Join(s.queried, ", "); requested != c.requested {
			t.Errorf("%s: asked for %s", c.name, requested)
		}
		for _, l := range answer.Locations {
			if l.From.Name != "ddds urn.arpa." {
				t.Errorf("%s: the source is %q", c.name, l.From.Name)
			}
		}
	}
}

// I2Ls includes the locations with protocols that urnd does not implement.
func TestWalkListsOtherProtocols(t *testing.T) {
	s := &script{sets: map[string]set{
		"foo.urn.arpa. NAPTR": {naptr: []NAPTR{
			{1, 1, "s", "z3950+N2Ls", "", "a.example."},
			located(1, 2, "", "", "http://b.example/"),
		}, ttl: hour},
		"a.example. SRV": {srv: []SRV{{0, 0, 210, "z.example."}}, ttl: time.Minute},
	}}
	q := query(t, "urn:foo:1")
	q.Service = resolver.I2Ls
	answer, err := New(Config{Lookup: s, Roots: []string{"urn.arpa."}, MaxDomains: 5}).Resolve(t.Context(), q)
	if want := "http://b.example/ z39.50s://z.example:210"; err != nil || locations(answer) != want ||
		answer.TTL != time.Minute {
		t.Errorf("got %q for %s, %v", locations(answer), answer.TTL, err)
	}
}

// A location is authentic if all records used for it are (RFC 4035 section 3.2.3).
func TestWalkCarriesAuthenticity(t *testing.T) {
	for _, c := range []struct {
		first, second, want bool
	}{{true, true, true}, {true, false, false}, {false, true, false}} {
		s := &script{sets: map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{to(1, 1, "a.example.")}, ttl: hour, ad: c.first},
			"a.example. NAPTR": {
				naptr: []NAPTR{located(1, 1, "", "", "http://x.example/")}, ttl: hour,
				ad: c.second,
			},
		}}
		answer, err := resolve(t, s, "urn:foo:1")
		if err != nil || answer.Locations[0].From.Authentic != c.want {
			t.Errorf("%+v: %+v, %v", c, answer, err)
		}
	}
}

func TestWalkNegative(t *testing.T) {
	for _, c := range []struct {
		name   string
		sets   map[string]set
		kind   error
		ttl    time.Duration
		reason string
	}{
		{"no rule matches the name", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{located(1, 1, "urn:foo:2", "", "http://a.example/")}, ttl: hour},
		}, resolver.ErrNotFound, hour, "no rule of foo.urn.arpa. matches this name"},
		{"every record is bad", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{{Regexp: "!", Replacement: "."}}, ttl: hour},
		}, resolver.ErrNotFound, hour, "no rule of foo.urn.arpa. matches this name"},
		{"no usable service", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{
				{1, 1, "s", "rcds+I2C", "", "a.example."},
				located(2, 1, "", "", "http://a.example/"),
			}, ttl: hour},
		}, resolver.ErrUnsupported, hour, "foo.urn.arpa. has no usable service"},
		{"unusable only result", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{
				located(1, 1, "", "", "javascript:alert(1)"),
				located(2, 1, "", "", "http://a.example/"),
			}, ttl: hour},
		}, resolver.ErrUnsupported, hour, "foo.urn.arpa. has no usable service"},
		{"the next domain does not exist", map[string]set{
			"foo.urn.arpa. NAPTR": {
				naptr: []NAPTR{to(1, 1, "a.example."), located(1, 2, "", "", "http://b.example/")},
				ttl:   hour,
			},
		}, resolver.ErrNotFound, missingTTL, "a.example. NAPTR not in the script"},
		{"the TTL of a negative answer is limited by earlier records", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{to(1, 1, "a.example.")}, ttl: time.Second},
		}, resolver.ErrNotFound, time.Second, "a.example. NAPTR not in the script"},
		{"loop", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{to(1, 1, "a.example.")}, ttl: day},
			"a.example. NAPTR":    {naptr: []NAPTR{to(1, 1, "b.example.")}, ttl: hour},
			"b.example. NAPTR":    {naptr: []NAPTR{to(1, 1, "A.Example.")}, ttl: day},
		}, resolver.ErrNotFound, hour, "loop at a.example."},
		{"loop of one", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{to(1, 1, "foo.urn.arpa.")}, ttl: hour},
		}, resolver.ErrNotFound, hour, "loop at foo.urn.arpa."},
		{"no SRV records", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{{1, 1, "s", "thttp+I2L", "", "a.example."}}, ttl: day},
		}, resolver.ErrNotFound, missingTTL, "a.example. SRV not in the script"},
		{"the service is not available", map[string]set{
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{{1, 1, "s", "thttp+I2L", "", "a.example."}}, ttl: day},
			"a.example. SRV":      {srv: []SRV{{0, 0, 0, "."}}, ttl: hour},
		}, resolver.ErrNotFound, hour, "a.example. has no server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := resolve(t, &script{sets: c.sets}, "urn:foo:1")
			expectNegative(t, err, c.kind, c.ttl, c.reason)
			if len(answer.Locations) > 0 {
				t.Errorf("and the locations %q", locations(answer))
			}
		})
	}
}

// hops returns a chain of n domains, the last of which has a location.
func hops(n int) map[string]set {
	sets := make(map[string]set)
	key := "foo.urn.arpa."
	for i := 1; i < n; i++ {
		next := "d" + strconv.Itoa(i) + ".example."
		sets[key+" NAPTR"] = set{naptr: []NAPTR{to(1, 1, next)}, ttl: hour}
		key = next
	}
	sets[key+" NAPTR"] = set{naptr: []NAPTR{located(1, 1, "", "", "http://x.example/")}, ttl: hour}
	return sets
}

func TestWalkIsBounded(t *testing.T) {
	answer, err := resolve(t, &script{sets: hops(5)}, "urn:foo:1")
	if err != nil || locations(answer) != "http://x.example/" {
		t.Errorf("five domains: got %q, %v", locations(answer), err)
	}
	s := &script{sets: hops(6)}
	_, err = resolve(t, s, "urn:foo:1")
	expectNegative(t, err, resolver.ErrNotFound, hour, "more than 5 domains")
	if len(s.queried) != 5 {
		t.Errorf("six domains: asked for %q", s.queried)
	}
}

// A failure is not a negative answer: it is returned unchanged, even if there is another rule (RFC 3403 section
// 8).
func TestWalkReportsFailures(t *testing.T) {
	down := errors.New("server is down")
	alternative := located(1, 2, "", "", "http://b.example/")
	for name, sets := range map[string]map[string]set{
		"first key": {"foo.urn.arpa. NAPTR": {err: down}},
		"later key": {
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{to(1, 1, "a.example."), alternative}, ttl: hour},
			"a.example. NAPTR":    {err: down},
		},
		"SRV": {
			"foo.urn.arpa. NAPTR": {naptr: []NAPTR{{1, 1, "s", "thttp+I2L", "", "a.example."}, alternative}, ttl: hour},
			"a.example. SRV":      {err: down},
		},
	} {
		answer, err := resolve(t, &script{sets: sets}, "urn:foo:1")
		var n *resolver.Negative
		if !errors.Is(err, down) || errors.As(err, &n) || len(answer.Locations) > 0 {
			t.Errorf("%s: got %q, %v", name, locations(answer), err)
		}
	}
}

func TestWalkIsTraced(t *testing.T) {
	sets := map[string]set{
		"foo.urn.arpa. NAPTR": {naptr: []NAPTR{to(1, 1, "A.example.")}, ttl: hour},
		"a.example. NAPTR": {naptr: []NAPTR{
			{1, 1, "x", "", "", "b.example."},
			located(1, 2, "urn:foo:2", "", "http://a.example/"),
			{1, 3, "s", "rcds+I2C", "", "b.example."},
			located(1, 4, "", "", "http://c.example/"),
			located(1, 5, "", "", "http://d.example/"),
			located(2, 1, "", "", "http://e.example/"),
		}, ttl: hour},
	}
	var now clock
	ctx, trace := resolver.WithTrace(t.Context(), now.now)
	r := New(Config{Lookup: &script{sets: sets}, Roots: []string{"urn.arpa."}, MaxDomains: 5})
	if _, err := r.Resolve(ctx, query(t, "urn:foo:1")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`foo.urn.arpa.: used 1 1 "" "" "" A.example. -> a.example.`,
		`a.example.: skipped 1 1 "x" "" "" b.example.: flags "x" are unknown`,
		`a.example.: skipped 1 2 "u" "" "!^urn:foo:2.*$!http://a.example/!" .: expression does not match`,
		`a.example.: skipped 1 3 "s" "rcds+I2C" "" b.example.: services "rcds+I2C" do not offer I2L`,
		`a.example.: skipped 2 1 "u" "" "!^.*$!http://e.example/!" .: order 1 already matched`,
		`a.example.: used 1 4 "u" "" "!^.*$!http://c.example/!" . -> http://c.example/`,
		`a.example.: could use 1 5 "u" "" "!^.*$!http://d.example/!" . -> http://d.example/`,
		"ttl 1h0m0s, of foo.urn.arpa. NAPTR",
	}
	if got := details(trace, "ddds"); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var rules []resolver.Rule
	for _, s := range trace.Steps() {
		if s.Rule != nil {
			rules = append(rules, *s.Rule)
		}
	}
	if len(rules) != 7 {
		t.Fatalf("%d rules", len(rules))
	}
	for i, want := range map[int]resolver.Rule{
		0: {
			Domain: "foo.urn.arpa.", TTL: hour, Order: 1, Preference: 1, Substitute: "A.example.",
			Use: resolver.RuleUsed, Result: "a.example.",
		},
		3: {
			Domain: "a.example.", TTL: hour, Order: 1, Preference: 3, Flags: "s", Services: "rcds+I2C",
			Substitute: "b.example.", Result: "b.example.", Reason: `services "rcds+I2C" do not offer I2L`,
			ReasonCode: "services",
		},
		5: {
			Domain: "a.example.", TTL: hour, Order: 1, Preference: 4, Flags: "u", Regexp: "!^.*$!http://c.example/!",
			Substitute: ".", Use: resolver.RuleUsed,
			Matched: "urn:foo:1", Result: "http://c.example/",
		},
	} {
		if rules[i] != want {
			t.Errorf("rule %d is\n%+v, want\n%+v", i, rules[i], want)
		}
	}
	if use := rules[6].Use; use != resolver.RulePossible {
		t.Errorf("the last rule is %d", use)
	}
}

// RFC 6116 section 5.2.1, with Fallback: after a failure the next record of the order is used.
func TestFallback(t *testing.T) {
	sets := map[string]set{
		"foo.urn.arpa. NAPTR": {
			naptr: []NAPTR{
				to(1, 1, "loop.example."), to(1, 2, "none.example."), to(1, 3, "good.example."),
				to(2, 1, "other.example."),
			},
			ttl: hour,
		},
		"loop.example. NAPTR": {naptr: []NAPTR{to(1, 1, "foo.urn.arpa.")}, ttl: hour},
		"good.example. NAPTR": {naptr: []NAPTR{located(1, 1, "", "", "http://good.example/")}, ttl: time.Minute},
	}
	for _, fallback := range []bool{false, true} {
		s := &script{sets: sets}
		r := New(Config{Lookup: s, Roots: []string{"urn.arpa."}, MaxDomains: 5, Fallback: fallback})
		answer, err := r.Resolve(t.Context(), query(t, "urn:foo:1"))
		if (err == nil) != fallback ||
			fallback && (locations(answer) != "http://good.example/" || answer.TTL > time.Minute ||
				len(s.queried) != 4) {
			t.Errorf("fallback %v: %q for %s, %v, asked %q", fallback, locations(answer), answer.TTL, err, s.queried)
		}
	}
}

// A negative answer of a server is final, also with Fallback.
func TestFallbackKeepsAnswers(t *testing.T) {
	sets := map[string]set{"foo.urn.arpa. NAPTR": {naptr: []NAPTR{
		{1, 1, "a", "thttp+N2L", "", "gone.example."}, located(1, 2, "", "", "http://other.example/"),
	}, ttl: hour}}
	gone := func(_ context.Context, base string, q resolver.Query) (resolver.Answer, error) {
		if base != "http://gone.example" || q.Service != resolver.I2L {
			t.Errorf("asked %s for %s", base, q.Service)
		}
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrGone, Reason: "moved from here", TTL: 2 * hour}
	}
	r := New(Config{
		Lookup: &script{sets: sets}, Roots: []string{"urn.arpa."}, MaxDomains: 5, Fallback: true,
		Query: gone,
	})
	q := query(t, "urn:foo:1")
	q.Service = resolver.I2Ls // which the record does not offer
	_, err := r.Resolve(t.Context(), q)
	var n *resolver.Negative
	if !errors.Is(err, resolver.ErrGone) || !errors.As(err, &n) || n.TTL != hour {
		t.Errorf("%v", err)
	}
}
