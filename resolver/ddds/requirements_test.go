package ddds

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Requirements of the RFCs that no other test of this package covers. Each case names the section.

// records returns a scripted record set.
func records(ttl time.Duration, naptr ...NAPTR) set { return set{naptr: naptr, ttl: ttl} }

// fetched looks up the records of name with a Client.
func fetched(t *testing.T, c *Client) []NAPTR {
	t.Helper()
	got, _, err := c.NAPTR(t.Context(), name)
	if err != nil {
		t.Error(err)
	}
	return got
}

// toLocation returns the answer of a THTTP server.
func toLocation(uri string, ttl time.Duration) resolver.Answer {
	return resolver.Answer{Locations: []resolver.Location{{URI: uri, From: &resolver.Source{Name: "test"}}}, TTL: ttl}
}

// chosenFor is chosen for a service, without the matched flag.
func chosenFor(aus string, naptr []NAPTR, want resolver.Service) (keys, why []string) {
	s, _ := choose(context.Background(), aus, naptr, want, newBudget())
	for _, m := range s.usable {
		keys = append(keys, m.key)
	}
	for _, p := range s.skipped {
		why = append(why, p.reason)
	}
	return keys, why
}

func TestRequirementsOfRules(t *testing.T) {
	const malformed = "services field is not"
	last := NAPTR{300, 10, "u", "http+I2L", "!^.*$!http://last.example/!", "."}
	for _, c := range []struct {
		source, aus string
		service     resolver.Service
		records     []NAPTR
		keys, why   string // parts of the reasons, one for each record
	}{
		{"RFC 3404 section 5.3: as printed", "http://www.example.com/software/latest-beta.exe", resolver.I2L, []NAPTR{
			{100, 90, "", "", "!^http://([^/:]+)!1!i", "."},
		}, "", "not a domain name"},
		{
			"RFC 3404 section 5.3: services for locators", "http://www.example.com/software/latest-beta.exe", resolver.I2R,
			[]NAPTR{
				{100, 100, "s", "thttp+L2R", "", "thttp.example.com."},
				{100, 100, "s", "ftp+L2R", "", "ftp.example.com."},
			},
			"thttp.example.com.", `protocol "ftp" is not supported`,
		},
		{"RFC 3958 section 2.2: S-NAPTR", "urn:foo:1", resolver.I2L, []NAPTR{
			{100, 10, "", "WP:whois++", "", "bunyip.example."},
			{100, 20, "s", "WP:ldap", "", "_ldap._tcp.myldap.example.com."},
			{200, 10, "", "EM:protA", "", "someisp.example."},
			{200, 30, "a", "EM:protB", "", "myprotB.example.com."},
			last,
		}, "http://last.example/", strings.Join([]string{malformed, malformed, malformed, malformed}, "|")},
		{"RFC 4848: U-NAPTR", "urn:foo:1", resolver.I2L, []NAPTR{
			{200, 10, "u", "EM:ProtA", "!.*!http://a.example/!", "."}, last,
		}, "http://last.example/", malformed},
		{"RFC 6408: Diameter", "urn:foo:1", resolver.I2L, []NAPTR{
			{50, 50, "s", "aaa+ap1:diameter.tls.tcp", "", "_diameters._tcp.example.com."}, last,
		}, "http://last.example/", malformed},
		{"eduroam", "urn:foo:1", resolver.I2L, []NAPTR{
			{50, 50, "s", "x-eduroam:radius.tls", "", "_radsec._tcp.example.com."}, last,
		}, "http://last.example/", malformed},
		{"RFC 5483 section 3.1: several services, and flags after the delimiter", "urn:foo:1", resolver.I2C, []NAPTR{
			{1, 1, "U", "http+N2C+N2L+x1", "#^URN:foo:(.*)$#http://a.example/\\1\\##i", "."},
		}, "http://a.example/1#", ""},
		{"a backslash at the end", "urn:foo:1", resolver.I2L, []NAPTR{
			{1, 1, "u", "", `!^.*$!http://a.example/!\`, "."},
			{1, 2, "u", "", `!^.*$!http://a.example/\`, "."},
			{1, 3, "u", "", `\`, "."},
			last,
		}, "http://last.example/", "unknown flags|has 2 delimiters|has the forbidden delimiter"},
		{"an output above 255 bytes is not a key", "urn:foo:" + strings.Repeat("a.", 128), resolver.I2L, []NAPTR{
			{1, 1, "", "", `!^urn:foo:(.*)$!\1example!`, "."}, to(1, 2, "b.example."), last,
		}, "b.example.", "not a domain name|order 1 already matched"},
		{"an output above 255 bytes is a location", "urn:foo:" + strings.Repeat("a", 300), resolver.I2L, []NAPTR{
			{1, 1, "u", "", `!^urn:foo:(.*)$!http://a.example/\1!`, "."},
		}, "http://a.example/" + strings.Repeat("a", 300), ""},
		{"back-references without groups, such as \\7", "urn:foo:1", resolver.I2L, []NAPTR{
			{1, 1, "u", "", `!^urn:(f)(o)(o):(1)()()$!http://a.example/\7!`, "."}, last,
		}, "http://last.example/", `has \7`},
		{"RFC 3404 section 4.3: two flags of which one is unknown, and a digit", "urn:foo:1", resolver.I2L, []NAPTR{
			{1, 1, "uz", "", "!^.*$!http://a.example/!", "."}, {1, 1, "5", "", "!^.*$!http://a.example/!", "."}, last,
		}, "http://last.example/", `"uz" are unknown|"5" are unknown`},
	} {
		keys, why := chosenFor(c.aus, c.records, c.service)
		var parts []string
		if c.why != "" {
			parts = strings.Split(c.why, "|")
		}
		if got := strings.Join(keys, " "); got != c.keys || !slices.EqualFunc(why, parts, strings.Contains) {
			t.Errorf("%s: got %q, skipped %q", c.source, got, why)
		}
	}
}

// RFC 5483 sections 4.5 and 5.2.2, RFC 6116 section 5.2.1.
func TestOrdersAcrossDomains(t *testing.T) {
	a := located(1, 2, "", "", "http://a.example/")
	srv := func(order, preference uint16, key string) NAPTR {
		return NAPTR{order, preference, "s", "thttp+I2L", "", key}
	}
	long := hops(6)
	first := long["foo.urn.arpa. NAPTR"].naptr
	long["foo.urn.arpa. NAPTR"] = records(hour, append(slices.Clone(first), a)...)
	for _, c := range []struct {
		name     string
		fallback bool
		sets     map[string]set
		want     string
	}{
		{"orders of two domains are not compared", false, map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, to(1, 1, "b.example."), a),
			"b.example. NAPTR":    records(hour, located(65535, 65535, "", "", "http://b.example/")),
		}, "http://b.example/"},
		{"and a lower one locks nothing", false, map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, to(65535, 1, "b.example.")),
			"b.example. NAPTR": records(hour, located(2, 1, "urn:bar:", "", "http://b.example/"),
				located(3, 1, "", "", "http://c.example/")),
		}, "http://c.example/"},
		{"after a failure the set before continues, despite a locked order", true, map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, to(1, 1, "b.example."), a),
			"b.example. NAPTR":    records(hour, to(500, 1, "c.example."), to(501, 1, "d.example.")),
			"d.example. NAPTR":    records(hour, located(1, 1, "", "", "http://d.example/")),
		}, "http://a.example/"},
		{"no rule matches the name", true, map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, to(1, 1, "b.example."), a),
			"b.example. NAPTR":    records(hour, located(1, 1, "urn:bar:", "", "http://b.example/")),
		}, "http://a.example/"},
		{"every record was skipped", true, map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, to(1, 1, "b.example."), a),
			"b.example. NAPTR": records(hour, NAPTR{1, 1, "s", "rcds+I2C", "", "c.example."},
				NAPTR{1, 1, "x", "", "", "c.example."}),
		}, "http://a.example/"},
		{"no server answers", true, map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, to(1, 1, "b.example."), a),
			"b.example. NAPTR":    {err: resolver.ErrUnreachable},
		}, "http://a.example/"},
		{"no SRV records", true, map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, srv(1, 1, "b.example."), a),
		}, "http://a.example/"},
		{"more than five domains", true, long, "http://a.example/"},
	} {
		s := &script{sets: c.sets}
		r := New(Config{Lookup: s, Roots: []string{"urn.arpa."}, MaxDomains: 5, Fallback: c.fallback})
		if answer, err := r.Resolve(t.Context(), query(t, "urn:foo:1")); err != nil || locations(answer) != c.want {
			t.Errorf("%s: %q, %v, asked %q", c.name, locations(answer), err, s.queried)
		}
	}
}

// RFC 3402 section 3.3, note 2. The TTL of an answer is limited by every lookup, failed alternatives included,
// and by the answer of the server.
func TestTTLOfAllLookups(t *testing.T) {
	const short = 30 * time.Second
	good := records(hour, located(1, 1, "", "", "http://good.example/"))
	for _, c := range []struct {
		name string
		sets map[string]set
	}{
		{"a set that led to a name without records", map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, to(1, 1, "bad.example."), to(1, 2, "good.example.")),
			"bad.example. NAPTR":  records(short, to(1, 1, "none.example.")),
			"good.example. NAPTR": good,
		}},
		{"a negative answer", map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, to(1, 1, "bad.example."), to(1, 2, "good.example.")),
			"bad.example. NAPTR":  missing(short),
			"good.example. NAPTR": good,
		}},
		{"SRV records of a service that is not available", map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, NAPTR{1, 1, "s", "thttp+I2L", "", "bad.example."},
				to(1, 2, "good.example.")),
			"bad.example. SRV":    {srv: []SRV{{0, 0, 0, "."}}, ttl: short},
			"good.example. NAPTR": good,
		}},
		{"the answer of the server", map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, NAPTR{1, 1, "a", "thttp+I2L", "", "host.example."}),
		}},
		{"a domain of which no server answers", map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, to(1, 1, "bad.example."), to(1, 2, "good.example.")),
			"bad.example. NAPTR":  {err: resolver.ErrUnreachable},
			"good.example. NAPTR": good,
		}},
		{"a server that does not answer", map[string]set{
			"foo.urn.arpa. NAPTR": records(hour, NAPTR{1, 1, "a", "thttp+I2L", "", "bad.example."},
				to(1, 2, "good.example.")),
			"good.example. NAPTR": good,
		}},
	} {
		ask := func(_ context.Context, base string, _ resolver.Query) (resolver.Answer, error) {
			if base == "http://bad.example" {
				return resolver.Answer{}, resolver.ErrUnreachable
			}
			return toLocation("http://good.example/", short), nil
		}
		r := New(Config{
			Lookup: &script{sets: c.sets}, Roots: []string{"urn.arpa."}, MaxDomains: 5, Fallback: true,
			Query: ask,
		})
		if answer, err := r.Resolve(t.Context(), query(t, "urn:foo:1")); err != nil ||
			locations(answer) != "http://good.example/" || answer.TTL != short {
			t.Errorf("%s: %q for %s, %v", c.name, locations(answer), answer.TTL, err)
		}
	}
}

// The public zones, as in RFC 8976 appendix A.4. Their rules lead to domains without records; URNs start at
// urn.arpa by the shortcut of RFC 3404 section 3.
func TestPublicZones(t *testing.T) {
	const week, negative = 604800 * time.Second, 3600 * time.Second
	rule := func(regexp string) set { return records(week, NAPTR{0, 0, "", "", regexp, "."}) }
	public := map[string]set{
		"ftp.uri.arpa. NAPTR":    rule(`!^ftp://([^:/?#]*).*$!\1!i`),
		"http.uri.arpa. NAPTR":   rule(`!^http://([^:/?#]*).*$!\1!i`),
		"mailto.uri.arpa. NAPTR": rule(`!^mailto:(.*)@(.*)$!\2!i`),
		"urn.uri.arpa. NAPTR":    rule(`/urn:([^:]+)/\1/i`),
		"https.uri.arpa. NAPTR":  missing(negative),
		"uci.urn.arpa. NAPTR":    records(week, to(100, 100, "uci.or.kr.")),
		"isbn.urn.arpa. NAPTR":   missing(negative),
	}
	for _, c := range []struct {
		uri       string
		byScheme  bool
		requested string
		kind      error
		ttl       time.Duration
	}{
		{"ftp://ftp.example.com/x", true, "ftp.uri.arpa. ftp.example.com.", resolver.ErrNotFound, missingTTL},
		{"http://www.example.com:80/x", true, "http.uri.arpa. www.example.com.", resolver.ErrNotFound, missingTTL},
		{"http://user@www.example.com/x", true, "http.uri.arpa.", resolver.ErrUnsupported, week},
		{"mailto:a@example.com", true, "mailto.uri.arpa. example.com.", resolver.ErrNotFound, missingTTL},
		{"https://www.example.com/", true, "https.uri.arpa.", resolver.ErrUnsupported, negative},
		{"urn:foo:foospace", true, "urn.uri.arpa. foo.", resolver.ErrNotFound, missingTTL},
		{"urn:foo:foospace", false, "foo.urn.arpa.", resolver.ErrUnsupported, missingTTL},
		{"urn:uci:a", false, "uci.urn.arpa. uci.or.kr.", resolver.ErrNotFound, missingTTL},
		{"urn:isbn:0395363411", false, "isbn.urn.arpa.", resolver.ErrUnsupported, negative},
	} {
		s := &script{sets: public}
		root := map[bool]string{true: "uri.arpa.", false: "urn.arpa."}[c.byScheme]
		_, err := New(Config{
			Lookup: s, Roots: []string{root}, MaxDomains: 5,
			BySchemes: c.byScheme,
		}).Resolve(t.Context(), query(t, c.uri))
		expectNegative(t, err, c.kind, c.ttl, "")
		if requested := strings.ReplaceAll(strings.Join(s.queried, " "), " NAPTR", ""); requested != c.requested {
			t.Errorf("%s: asked %s", c.uri, requested)
		}
	}
}

// RFC 3403 sections 4.1 and 5. The library returns all three character-strings escaped.
func TestWireFormat(t *testing.T) {
	lines := []string{
		`foo.urn.arpa. 60 IN NAPTR 1 1 "\"\\" "a\\+\"\200" "!a!\\1\"!" host.foo.urn.arpa.`,
		`foo.urn.arpa. 60 IN NAPTR 2 1 "u" "http+N2L" "!a!http://a.example/!" .`,
	}
	want := []NAPTR{
		{1, 1, `"\`, "a\\+\"\xc8", `!a!\1"!`, "host.foo.urn.arpa."},
		{2, 1, "u", "http+N2L", "!a!http://a.example/!", "."},
	}
	additional := parseRecords(t, []string{
		`foo.urn.arpa. 1 IN NAPTR 0 0 "u" "http+N2L" "!a!http://forged.example/!" .`,
		`host.foo.urn.arpa. 1 IN NAPTR 0 0 "u" "http+N2L" "!a!http://forged.example/!" .`,
		"host.foo.urn.arpa. 1 IN A 192.0.2.1",
	})
	for what, change := range map[string]func(*dns.Msg){
		"compression of other names": func(m *dns.Msg) { m.Compress = true },
		"no compression":             func(m *dns.Msg) { m.Compress = false },
		"additional section":         func(m *dns.Msg) { m.Extra = append(m.Extra, additional...) },
		"authority section":          func(m *dns.Msg) { m.Ns = append(m.Ns, additional[:2]...) },
	} {
		addr := serve(t, reply{answer: lines, change: change}.handler(t), nil)
		if got := fetched(t, newTestClient(longTimeout, addr)); !slices.Equal(got, want) {
			t.Errorf("%s: got %q", what, got)
		}
	}
}

// "^" and "$" match at lines, and "." matches no line feed, so names must not contain control characters (RFC
// 3986 section 2).
func TestNoControlsInNames(t *testing.T) {
	for b := range 256 {
		if b > ' ' && b < 0x7f {
			continue
		}
		for _, name := range []string{
			"urn:foo:a" + string([]byte{byte(b)}) + "b",
			"cid:a" + string([]byte{byte(b)}) + "@b", "http://a/" + string([]byte{byte(b)}),
		} {
			if u, err := uri.Parse(name); err == nil {
				t.Errorf("%q is a URI", u)
			}
		}
	}
}
