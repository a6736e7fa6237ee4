package policy_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/gate/policy"
)

func ranges(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func newPolicy(t testing.TB, mode policy.Mode, rules ...policy.Rule) *policy.Policy {
	t.Helper()
	p, err := policy.New(mode, rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// request returns a request for which all one-condition rules of TestConditions hold.
func request() policy.Request {
	return policy.Request{
		Client: netip.MustParseAddr("10.1.2.3"), User: "ann", Method: "GET", Scheme: "http", Host: "www.example.org",
		Port: 8080,
	}
}

func TestConditions(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule policy.Rule
		want bool
	}{
		{"none", policy.Rule{}, true},
		{"client", policy.Rule{Clients: ranges("192.0.2.0/24", "10.0.0.0/8")}, true},
		{"another client", policy.Rule{Clients: ranges("192.0.2.0/24", "::/0")}, false},
		{"user", policy.Rule{Users: []string{"bob", "ann"}}, true},
		{"another user", policy.Rule{Users: []string{"Ann"}}, false},
		{"method", policy.Rule{Methods: []string{"HEAD", "GET"}}, true},
		{"another method", policy.Rule{Methods: []string{"POST"}}, false},
		{"scheme, RFC 3986 section 3.1", policy.Rule{Schemes: []string{"HTTP"}}, true},
		{"another scheme", policy.Rule{Schemes: []string{"https", "connect", "ftp"}}, false},
		{"host", policy.Rule{Hosts: []string{"other.example", "WWW.example.org."}}, true},
		{"another host", policy.Rule{Hosts: []string{"example.org", "192.0.2.0/24"}}, false},
		{"port", policy.Rule{Ports: []policy.PortRange{{First: 80, Last: 80}, {First: 8000, Last: 8999}}}, true},
		{"first port of a range", policy.Rule{Ports: []policy.PortRange{{First: 8080, Last: 8999}}}, true},
		{"last port of a range", policy.Rule{Ports: []policy.PortRange{{First: 80, Last: 8080}}}, true},
		{"another port", policy.Rule{Ports: []policy.PortRange{{First: 8081, Last: 65535}}}, false},
		{"all", policy.Rule{
			Clients: ranges("10.0.0.0/8"), Users: []string{"ann"}, Methods: []string{"GET"}, Schemes: []string{"http"},
			Hosts: []string{".org"}, Ports: []policy.PortRange{{First: 8080, Last: 8080}},
		}, true},
		{"all but one", policy.Rule{
			Clients: ranges("10.0.0.0/8"), Users: []string{"ann"}, Methods: []string{"GET"}, Schemes: []string{"http"},
			Hosts: []string{".org"}, Ports: []policy.PortRange{{First: 443, Last: 443}},
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.rule.ID, tt.rule.Deny = "a", true
			p := newPolicy(t, policy.ModeEnforce, tt.rule)
			want := policy.Decision{Final: true}
			if tt.want {
				want.Rule, want.Deny = "a", true
			}
			if got := p.Decide(request()); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			if got := p.DecideFor(request(), netip.Addr{}); got != want {
				t.Errorf("for a destination: %+v, want %+v", got, want)
			}
			if got := len(p.Explain(request())) == 1; got != tt.want {
				t.Errorf("explained: %v", p.Explain(request()))
			}
		})
	}
}

func TestHosts(t *testing.T) {
	for _, tt := range []struct {
		host, text string
		want       bool
	}{
		{"www.example.org", "www.example.org", true},
		{"www.example.org", "a.www.example.org", false},
		{".example.org", "example.org", true},
		{".example.org", "a.b.example.org", true},
		{".example.org", "badexample.org", false},
		{".example.org", "example.org.evil.example", false},
		{".org", "example.org", true},
		{"localhost", "localhost", true},
		{"*.example.org", "a.example.org", true},
		{"*.example.org", ".example.org", true}, // no URI has such a host
		{"*.example.org", "example.org", false},
		{"*.example.org", "a.b.example.org", false},
		{"*.cdn-?.example.org", "x.cdn-1.example.org", true},
		{"*.cdn-?.example.org", "x.cdn-.example.org", false},
		{"*.cdn-?.example.org", "x.cdn-12.example.org", false},
		{"*.cdn-?.example.org", "x.cdn-1.example.org.evil.example", false},
		{"www*.example.org", "www.example.org", true},
		{"*a*b*.example.org", "xaabyb.example.org", true},
		{"example.*", "example.com", true},
		{"example.*", "example.co.uk", false},
		{"?", "a", true},
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"::ffff:192.0.2.1", "192.0.2.1", true},
		{"192.0.2.0/24", "192.0.2.77", true},
		{"192.0.2.0/24", "192.0.3.1", false},
		{"192.0.2.0/24", "192.0.2.1.example.org", false},
		{"[2001:db8::1]", "2001:db8::1", true},
		{"2001:DB8::/32", "2001:db8::1", true},
		{"0.0.0.0/0", "::1", false},
		{"*.*.*.*", "192.0.2.1", false}, // an address is not a name
		{"xn--bcher-kva.example", "xn--bcher-kva.example", true},
		{"a.example", "", false},
		{"0.0.0.0/0", "1.2.3", false},
		{"0.0.0.0/0", "1:2", false},
	} {
		p := newPolicy(t, policy.ModeEnforce,
			policy.Rule{ID: "a", Deny: true, Hosts: []string{"other.example", tt.host}})
		if got := p.Decide(policy.Request{Host: tt.text}).Deny; got != tt.want {
			t.Errorf("%q of %q: %t", tt.text, tt.host, got)
		}
	}
}

// The first rule that holds decides; those with destinations are left to DecideFor, unless the others deny
// the request at every destination.
func TestDecide(t *testing.T) {
	allow := func(id string, destinations ...string) policy.Rule {
		return policy.Rule{ID: id, Destinations: ranges(destinations...)}
	}
	deny := func(id string, destinations ...string) policy.Rule {
		return policy.Rule{ID: id, Deny: true, Destinations: ranges(destinations...)}
	}
	const inside, outside = "10.1.2.3", "192.0.2.1"
	open := policy.Decision{}
	decided := func(id string, deny bool) policy.Decision { return policy.Decision{Rule: id, Deny: deny, Final: true} }
	for _, tt := range []struct {
		name            string
		rules           []policy.Rule
		before          policy.Decision
		inside, outside policy.Decision
	}{
		{"no rule", nil, decided("", false), decided("", false), decided("", false)},
		{
			"the first",
			[]policy.Rule{allow("a"), deny("b")},
			decided("a", false), decided("a", false),
			decided("a", false),
		},
		{"denied inside", []policy.Rule{deny("a", "10.0.0.0/8")}, open, decided("a", true), decided("", false)},
		{
			"denied inside, else allowed",
			[]policy.Rule{deny("a", "10.0.0.0/8"), allow("b")},
			open, decided("a", true),
			decided("b", false),
		},
		{
			"denied everywhere",
			[]policy.Rule{deny("a", "10.0.0.0/8"), deny("b")},
			decided("b", true), decided("a", true),
			decided("b", true),
		},
		{
			"allowed inside",
			[]policy.Rule{allow("a", "10.0.0.0/8"), deny("b")},
			open, decided("a", false),
			decided("b", true),
		},
		{
			"allowed everywhere, by one or another",
			[]policy.Rule{allow("a", "10.0.0.0/8"), allow("b")},
			open,
			decided("a", false), decided("b", false),
		},
		{
			"behind what decides",
			[]policy.Rule{deny("a"), allow("b", "10.0.0.0/8")},
			decided("a", true),
			decided("a", true), decided("a", true),
		},
		{
			"several",
			[]policy.Rule{deny("a", "10.9.0.0/16"), allow("b", "10.0.0.0/8"), deny("c")},
			open,
			decided("b", false), decided("c", true),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPolicy(t, policy.ModeEnforce, tt.rules...)
			if got := p.Decide(request()); got != tt.before {
				t.Errorf("before: %+v, want %+v", got, tt.before)
			}
			for text, want := range map[string]policy.Decision{
				inside: tt.inside, "::ffff:" + inside: tt.inside,
				outside: tt.outside,
			} {
				if got := p.DecideFor(request(), netip.MustParseAddr(text)); got != want {
					t.Errorf("%s: %+v, want %+v", text, got, want)
				}
			}
		})
	}
}

// An unknown destination does not circumvent a rule.
func TestUnknownDestination(t *testing.T) {
	p := newPolicy(t, policy.ModeEnforce, policy.Rule{ID: "a", Destinations: ranges("0.0.0.0/0")}, policy.Rule{
		ID: "b", Deny: true,
		Destinations: ranges("10.0.0.0/8"),
	})
	if got := p.DecideFor(request(), netip.Addr{}); !got.Deny || got.Rule != "b" {
		t.Errorf("%+v", got)
	}
	p = newPolicy(t, policy.ModeEnforce, policy.Rule{ID: "a", Deny: true, Destinations: ranges("fe80::/10")})
	if got := p.DecideFor(request(), netip.MustParseAddr("fe80::1%lo")); !got.Deny {
		t.Errorf("with a zone: %+v", got)
	}
}

// A connection to 0.0.0.0 reaches the machine itself, and does not circumvent a rule that denies that.
func TestUnspecifiedDestination(t *testing.T) {
	denies := policy.Rule{ID: "a", Deny: true, Destinations: ranges("127.0.0.0/8", "::1/128")}
	allows := policy.Rule{ID: "a", Destinations: ranges("127.0.0.0/8", "::1/128")}
	rest := policy.Rule{ID: "rest", Deny: true}
	for address, rule := range map[string]string{"0.0.0.0": "a", "::": "a", "::ffff:0.0.0.0": "a", "192.0.2.1": ""} {
		if got := newPolicy(t, policy.ModeEnforce, denies).DecideFor(request(),
			netip.MustParseAddr(address)); got.Rule != rule {
			t.Errorf("%s: %+v", address, got)
		}
		if got := newPolicy(t, policy.ModeEnforce, allows, rest).DecideFor(request(),
			netip.MustParseAddr(address)); got.Rule != "rest" {
			t.Errorf("%s is allowed: %+v", address, got)
		}
	}
}

func TestModes(t *testing.T) {
	rule := policy.Rule{ID: "no-social", Deny: true}
	for _, tt := range []struct {
		policy       *policy.Policy
		mode         string
		deny, refuse bool
	}{
		{newPolicy(t, policy.ModeEnforce, rule), "enforce", true, true},
		{newPolicy(t, policy.ModeReport, rule), "report", true, false},
		{newPolicy(t, policy.ModeOpen, rule), "open", false, false},
		{nil, "open", false, false},
	} {
		if got := tt.policy.Mode().String(); got != tt.mode {
			t.Errorf("mode %s, want %s", got, tt.mode)
		}
		if mode, err := policy.ParseMode(tt.mode); err != nil || mode != tt.policy.Mode() {
			t.Errorf("%s is parsed as %s, %v", tt.mode, mode, err)
		}
		for _, d := range []policy.Decision{tt.policy.Decide(request()), tt.policy.DecideFor(request(), netip.Addr{})} {
			err := tt.policy.Err(d)
			if !d.Final || d.Deny != tt.deny || (err != nil) != tt.refuse {
				t.Errorf("%s: %+v, %v", tt.mode, d, err)
			}
			var denied *policy.Denied
			if tt.refuse && (!errors.Is(err, policy.ErrDenied) || !errors.As(err,
				&denied) || denied.Rule != rule.ID ||
				err.Error() != `the site's rule "no-social" denies this request`) {
				t.Errorf("%v", err)
			}
		}
	}
	if _, err := policy.New(policy.ModeOpen+1, nil); err == nil {
		t.Error("there is a fourth mode")
	}
	if _, err := policy.ParseMode("Enforce"); err == nil {
		t.Error("Enforce is a mode")
	}
}

func TestNewErrors(t *testing.T) {
	for _, tt := range []struct {
		rule policy.Rule
		want string
	}{
		{policy.Rule{}, "an id must have"},
		{policy.Rule{ID: "a b"}, "an id must have"},
		{policy.Rule{ID: "é"}, "an id must have"},
		{policy.Rule{ID: strings.Repeat("a", 65)}, "an id must have"},
		{policy.Rule{ID: "a", Clients: make([]netip.Prefix, 1)}, "invalid address range"},
		{policy.Rule{ID: "a", Destinations: ranges("::ffff:10.0.0.0/104")}, "write it as IPv4"},
		{policy.Rule{ID: "a", Hosts: []string{"::ffff:10.0.0.0/104"}}, "write it as IPv4"},
		{policy.Rule{ID: "a", Users: []string{""}}, "is empty"},
		{policy.Rule{ID: "a", Ports: []policy.PortRange{{First: 2, Last: 1}}}, "2-1 is not a range"},
		{policy.Rule{ID: "a", Hosts: []string{""}}, `host ""`},
		{policy.Rule{ID: "a", Hosts: []string{"."}}, `host "."`},
		{policy.Rule{ID: "a", Hosts: []string{"a..b"}}, "not a host name"},
		{policy.Rule{ID: "a", Hosts: []string{"bücher.example"}}, "xn--"},
		{policy.Rule{ID: "a", Hosts: []string{"http://a"}}, "not a host name"},
		{policy.Rule{ID: "a", Hosts: []string{"a:80"}}, "not a host name"},
		{policy.Rule{ID: "a", Hosts: []string{"[a].example"}}, "not a host name"},
		{policy.Rule{ID: "a", Hosts: []string{".*.example"}}, "begin with a dot"},
		{policy.Rule{ID: "a", Hosts: []string{"*"}}, "to match all hosts"},
	} {
		if _, err := policy.New(policy.ModeEnforce, []policy.Rule{tt.rule}); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.rule, err, tt.want)
		}
	}
	_, err := policy.New(policy.ModeEnforce, []policy.Rule{{ID: "a"}, {ID: "b c"}, {ID: "a"}})
	if err == nil || !strings.Contains(err.Error(), `rule 2, "b c": an id must have`) ||
		!strings.Contains(err.Error(), `rule 3, "a": duplicate rule id`) {
		t.Errorf("all faults: %v", err)
	}
}

func TestExplain(t *testing.T) {
	p := newPolicy(
		t, policy.ModeEnforce,
		policy.Rule{ID: "other", Hosts: []string{"other.example"}},
		policy.Rule{
			ID: "internal", Deny: true, Hosts: []string{".example.com", ".example.org"},
			Destinations: ranges("10.0.0.0/8", "fc00::/7"),
		},
		policy.Rule{
			ID: "default", Clients: ranges("10.0.0.0/8"), Users: []string{"ann"}, Methods: []string{"GET"},
			Schemes: []string{"connect", "http"},
			Ports:   []policy.PortRange{{First: 8000, Last: 8999}},
		},
		policy.Rule{ID: "never"},
	)
	got := fmt.Sprint(p.Explain(request()))
	if want := "[{internal true [hosts .example.org] [10.0.0.0/8 fc00::/7]} {default false [clients 10.0.0.0/8 " +
		"users ann methods GET schemes http ports 8000-8999] []}]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := newPolicy(t, policy.ModeOpen, policy.Rule{ID: "a"}).Explain(request()); got != nil {
		t.Errorf("of an open policy: %v", got)
	}
}

// The reason of a rule is part of each decision by it, and of the error of a denied request.
func TestReason(t *testing.T) {
	const reason = "Ask at the desk."
	p, err := policy.New(policy.ModeEnforce, []policy.Rule{
		{ID: "a", Deny: true, Destinations: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Reason: reason},
		{ID: "b", Deny: true, Hosts: []string{"b.example"}, Reason: reason},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []policy.Decision{
		p.Decide(policy.Request{Method: "GET", Scheme: "http", Host: "b.example", Port: 80}),
		p.DecideFor(policy.Request{Method: "GET", Scheme: "http", Host: "a.example", Port: 80},
			netip.MustParseAddr("10.1.2.3")),
	} {
		var denied *policy.Denied
		if !errors.As(p.Err(d), &denied) || denied.Reason != reason {
			t.Errorf("%+v: %v", d, denied)
		}
	}
}
