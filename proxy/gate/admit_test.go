package gate_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// asking returns a function that classifies a request at a server with the site www.example.org.
func asking(t testing.TB) func(method, target, host string, onMachine bool) route.Request {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	server := &route.Server{
		OwnHosts: route.NewOwnHosts("urnd.example"), Names: resolver.Names{Set: set, Accept: uri.CurrentURN},
		Sites: route.NewSites([]route.Site{{Host: "www.example.org"}}), Documents: map[string]bool{"/robots.txt": true},
	}
	return func(method, target, host string, onMachine bool) (ask route.Request) {
		place := route.Endpoint{LocalClient: onMachine, Server: server}
		route.Classify(&ask, &route.RequestHead{
			Method: method, Target: target, Host: host,
			Header: func(string) []string { return nil },
		}, &place)
		return ask
	}
}

// askOf classifies one request.
func askOf(t testing.TB, method, target, host string, onMachine bool) route.Request {
	t.Helper()
	return asking(t)(method, target, host, onMachine)
}

// access lets 10.0.0.0/8 resolve, 10.1.0.0/16 use the proxy, and 10.1.1.0/24 purge.
func access() gate.Access {
	return gate.Access{
		Resolve: prefixes("10.0.0.0/8", "127.0.0.0/8"), Proxy: prefixes("10.1.0.0/16", "127.0.0.0/8"),
		Purge: prefixes("10.1.1.0/24"), Rate: 1,
	}
}

// at is the time of all tests, which is constant.
func at() time.Time { return time.Unix(1_800_000_000, 0) }

// rulesOf returns a policy that denies a host by name, and another one by its address.
func rulesOf(t testing.TB) *policy.Policy {
	t.Helper()
	p, err := policy.New(policy.ModeEnforce, []policy.Rule{
		{ID: "denied", Deny: true, Hosts: []string{"denied.example"}},
		{ID: "net", Deny: true, Hosts: []string{"net.example"}, Destinations: prefixes("192.0.2.0/24")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Each step denies its requests, in the order of the steps: host, client, user, person, rate, rules.
func TestAdmit(t *testing.T) {
	users := users(t, hashed(t, "ann", "secret"))
	const local, resolving, proxying, purging = "127.0.0.1", "10.9.9.9", "10.1.9.9", "10.1.1.1"
	credentials := func(field, userinfo string) http.Header { return http.Header{field: {basic(userinfo)}} }
	foreign := http.Header{
		"Origin": {"http://evil.example"}, "Sec-Fetch-Site": {"cross-site"},
		"User-Agent": {"Mozilla/5.0"},
	}
	ask := asking(t)
	for _, tt := range []struct {
		client, method, target, host string
		users                        gate.Logins
		header                       http.Header
		spent                        bool // the client has used up its rate
		step                         gate.Step
		want                         error
	}{
		// By the host, and by the page that initiated it.
		{client: local, target: "/urn:a1:b", host: "evil.example", step: gate.StepHost, want: problem.ErrUnknownHost},
		{
			client: local, target: "/http://a.example/", host: "evil.example", spent: true, step: gate.StepHost,
			want: problem.ErrUnknownHost,
		},
		{client: local, target: "/robots.txt", host: "evil.example", step: gate.StepRules},
		{client: local, target: "/a", host: "www.example.org", step: gate.StepRules},
		{client: local, target: "http://a.example/", host: "a.example", step: gate.StepRules},
		{client: resolving, target: "/urn:a1:b", host: "evil.example", step: gate.StepRules},
		{
			client: resolving, target: "/fetch?uri=ftp://a.example/", host: "urnd.example", header: foreign,
			step: gate.StepHost, want: problem.ErrCrossSiteFetch,
		},
		{
			client: proxying, target: "/uri-res/N2R?urn:a1:b", host: "urnd.example", header: foreign,
			step: gate.StepHost,
			want: problem.ErrCrossSiteFetch,
		},
		{
			client: proxying, target: "/fetch?uri=ftp://a.example/", host: "evil.example", header: foreign,
			step: gate.StepHost, want: problem.ErrFetchHost,
		},
		// By the address of the client.
		{client: "192.0.2.1", target: "/urn:a1:b", step: gate.StepClient, want: problem.ErrResolveClient},
		{client: "192.0.2.1", target: "/", step: gate.StepClient, want: problem.ErrResolveClient},
		{client: "192.0.2.1", target: "/nothing", step: gate.StepClient, want: problem.ErrResolveClient},
		{
			client: "192.0.2.1", target: "/a", host: "www.example.org", step: gate.StepClient,
			want: problem.ErrResolveClient,
		},
		{
			client: "192.0.2.1", method: "POST", target: "/api/v1/resolve", step: gate.StepClient,
			want: problem.ErrResolveClient,
		},
		{client: "192.0.2.1", target: "/robots.txt", step: gate.StepRules},
		{client: "192.0.2.1", method: "OPTIONS", target: "*", step: gate.StepClient, want: problem.ErrResolveClient},
		{
			client: resolving, method: "OPTIONS", target: "*", spent: true, step: gate.StepRate,
			want: problem.ErrTooManyRequests,
		},
		{client: resolving, target: "/urn:a1:b", step: gate.StepRules},
		{client: resolving, target: "/http://a.example/", step: gate.StepClient, want: problem.ErrProxyClient},
		{client: resolving, target: "/uri-res/N2R?urn:a1:b", step: gate.StepClient, want: problem.ErrProxyClient},
		{client: resolving, target: "/fetch?uri=ftp://a.example/", step: gate.StepClient, want: problem.ErrProxyClient},
		{client: resolving, target: "http://a.example/", step: gate.StepClient, want: problem.ErrProxyClient},
		{
			client: resolving, method: "CONNECT", target: "a.example:443", step: gate.StepClient,
			want: problem.ErrProxyClient,
		},
		{
			client: proxying, method: "PURGE", target: "http://a.example/", step: gate.StepClient,
			want: problem.ErrPurgeClient,
		},
		{
			client: proxying, method: "PURGE", target: "/a", host: "www.example.org", step: gate.StepClient,
			want: problem.ErrPurgeClient,
		},
		{client: purging, method: "PURGE", target: "http://a.example/", step: gate.StepRules},
		// By the login.
		{client: proxying, target: "http://a.example/", users: users, step: gate.StepUser, want: problem.ErrProxyLogin},
		{
			client: proxying, method: "CONNECT", target: "a.example:443", users: users, step: gate.StepUser,
			want: problem.ErrProxyLogin,
		},
		{client: proxying, target: "/http://a.example/", users: users, step: gate.StepUser, want: problem.ErrLogin},
		{
			client: proxying, target: "/fetch?uri=ftp://a.example/", users: users, step: gate.StepUser,
			want: problem.ErrLogin,
		},
		{client: proxying, target: "/urn:a1:b", users: users, step: gate.StepRules},
		{
			client: proxying, target: "http://a.example/", users: users,
			header: credentials("Proxy-Authorization", "ann:secret"), step: gate.StepRules,
		},
		{
			client: proxying, target: "http://a.example/", users: users,
			header: credentials("Authorization", "ann:secret"), step: gate.StepUser, want: problem.ErrProxyLogin,
		},
		{
			client: proxying, target: "http://a.example/", users: users,
			header: credentials("Proxy-Authorization", "ann:wrong"), step: gate.StepUser,
			want: problem.ErrProxyLogin,
		},
		{
			client: resolving, target: "http://a.example/", users: users,
			header: credentials("Proxy-Authorization", "ann:wrong"), step: gate.StepClient,
			want: problem.ErrProxyClient,
		},
		// By user activation.
		{
			client: proxying, target: "/fetch?uri=ftp://a.example/&led", host: "urnd.example",
			header: http.Header{"User-Agent": {"Mozilla/5.0"}}, step: gate.StepUserActivation,
			want: new(problem.UserActivationError),
		},
		// By the request rate.
		{client: resolving, target: "/urn:a1:b", spent: true, step: gate.StepRate, want: problem.ErrTooManyRequests},
		{client: resolving, target: "/nothing", spent: true, step: gate.StepRate, want: problem.ErrTooManyRequests},
		{
			client: "192.0.2.1", target: "/robots.txt", spent: true, step: gate.StepRate,
			want: problem.ErrTooManyRequests,
		},
		{
			client: proxying, target: "http://denied.example/", spent: true, step: gate.StepRate,
			want: problem.ErrTooManyRequests,
		},
		{
			client: resolving, target: "http://a.example/", spent: true, step: gate.StepClient,
			want: problem.ErrProxyClient,
		},
		// By the policy rules.
		{
			client: proxying, target: "http://denied.example/", step: gate.StepRules,
			want: &policy.Denied{Rule: "denied"},
		},
		{
			client: proxying, method: "CONNECT", target: "denied.example:443", step: gate.StepRules,
			want: &policy.Denied{Rule: "denied"},
		},
		{
			client: proxying, target: "/fetch?uri=ftp://denied.example/", step: gate.StepRules,
			want: &policy.Denied{Rule: "denied"},
		},
		{
			client: purging, method: "PURGE", target: "http://denied.example/", step: gate.StepRules,
			want: &policy.Denied{Rule: "denied"},
		},
		{client: proxying, target: "/http://denied.example/", step: gate.StepRules}, // nothing is retrieved
	} {
		method := tt.method
		if method == "" {
			method = http.MethodGet
		}
		a := access()
		a.Users = tt.users
		var steps []gate.Step
		g := gate.New(gate.Config{
			Access: a, OwnHosts: route.NewOwnHosts("urnd.example"), Policy: rulesOf(t), Now: at,
			Log:  slog.New(slog.DiscardHandler),
			Step: func(step gate.Step, _ error) { steps = append(steps, step) },
		})
		client := gate.Client{
			Addr: netip.MustParseAddr(tt.client), Header: httpmessage.NewHeader(tt.header),
			Host: tt.host,
		}
		if tt.spent {
			g.AllowsRate(client.Addr)
		}
		ask := ask(method, tt.target, tt.host, client.Addr.IsLoopback())
		v := g.Admit(t.Context(), &client, &ask)
		if v.Step != tt.step || !errors.Is(v.Err, tt.want) && !isSameKind(v.Err, tt.want) {
			t.Errorf("%s %s at %s of %s: %v by %s; want %v by %s", method, tt.target, tt.host, tt.client, v.Err, v.Step,
				tt.want, tt.step)
		}
		for i, step := range steps {
			if int(step) != i {
				t.Errorf("%s: the steps are %v", tt.target, steps)
			}
		}
		if len(steps) != int(tt.step)+1 {
			t.Errorf("%s: %v were observed", tt.target, steps)
		}
		// A request only waits for the comparison of a password.
		if waits := g.Waits(&client, &ask); waits && tt.users == nil || !waits && tt.step == gate.StepUser {
			t.Errorf("%s %s of %s waits: %t", method, tt.target, tt.client, waits)
		}
	}
}

// isSameKind reports whether two errors are equal, or of the same type with equal fields.
func isSameKind(err, want error) bool {
	var denied, other *policy.Denied
	var person *problem.UserActivationError
	switch {
	case errors.As(want, &denied):
		return errors.As(err, &other) && *denied == *other
	case errors.As(want, &person):
		return errors.As(err, &person)
	default:
		return false
	}
}

// A request is counted once, and only if the earlier steps admit it. A cache hit is not counted again.
func TestAdmitCounts(t *testing.T) {
	g := gate.New(gate.Config{Access: access(), Policy: rulesOf(t), Now: at})
	client := gate.Client{Addr: netip.MustParseAddr("10.1.9.9")}
	net := askOf(t, http.MethodGet, "http://net.example/", "net.example", false)
	purge := askOf(t, "PURGE", "http://a.example/", "a.example", false)
	for range 3 {
		if v := g.Admit(t.Context(), &client, &purge); v.Step != gate.StepClient {
			t.Fatalf("purge: %v by %s", v.Err, v.Step)
		}
	}
	v := g.Admit(t.Context(), &client, &net)
	if v.Err != nil {
		t.Fatalf("the only request: %v by %s", v.Err, v.Step)
	}
	for range 3 {
		if !v.Allows(netip.MustParseAddr("198.51.100.1")) {
			t.Error("what a cache has is not allowed")
		}
	}
	if v := g.Admit(t.Context(), &client, &net); !errors.Is(v.Err, problem.ErrTooManyRequests) {
		t.Errorf("one more: %v by %s", v.Err, v.Step)
	}
}

// If a rule depends on the destination address, the verdict carries the check.
func TestVerdictOfAddress(t *testing.T) {
	g := gate.New(gate.Config{Access: access(), Policy: rulesOf(t), Now: at})
	client := gate.Client{Addr: netip.MustParseAddr("10.1.9.9")}
	ask := askOf(t, http.MethodGet, "http://net.example/", "net.example", false)
	v := g.Admit(t.Context(), &client, &ask)
	check := v.AddressCheck()
	if v.Err != nil || check == nil || v.Rule() != "" {
		t.Fatalf("%v, rule %q", v.Err, v.Rule())
	}
	if err := check(netip.MustParseAddrPort("198.51.100.1:80")); err != nil || v.Rule() != "" {
		t.Errorf("another address: %v, rule %q", err, v.Rule())
	}
	var denied *policy.Denied
	if err := check(netip.MustParseAddrPort("192.0.2.1:80")); !errors.As(err, &denied) || v.Rule() != "net" {
		t.Errorf("its address: %v, rule %q", err, v.Rule())
	}
	// The same for a cached response from that address.
	v = g.Admit(t.Context(), &gate.Client{Addr: netip.MustParseAddr("10.1.9.8")}, &ask)
	if v.Err != nil || !v.Allows(netip.MustParseAddr("198.51.100.1")) || v.Rule() != "" {
		t.Errorf("stored, from another address: rule %q", v.Rule())
	}
	if v.Allows(netip.MustParseAddr("192.0.2.1")) || v.Rule() != "net" {
		t.Errorf("stored, from its address: rule %q", v.Rule())
	}
	if v := (gate.Verdict{}); !v.Allows(netip.MustParseAddr("192.0.2.1")) {
		t.Error("a verdict that does not depend on the address denies one")
	}
	if v := g.Retrieve(t.Context(), &client, "", http.MethodGet, ask.Key); v.Err != nil || v.AddressCheck() == nil {
		t.Errorf("what a name leads to: %v", v.Err)
	}
}

// Policy rules deny requests, or in report-only mode only log them, by the request and by the destination address.
func TestRulesAreLogged(t *testing.T) {
	rules := []policy.Rule{
		{ID: "by-port", Deny: true, Ports: []policy.PortRange{{First: 81, Last: 81}}},
		{ID: "by-address", Deny: true, Destinations: prefixes("192.0.2.0/24")},
	}
	ask := asking(t)
	for mode, message := range map[policy.Mode]string{
		policy.ModeEnforce: "request denied by rule",
		policy.ModeReport:  "request would be denied by rule", policy.ModeOpen: "",
	} {
		p, err := policy.New(mode, rules)
		if err != nil {
			t.Fatal(err)
		}
		var written strings.Builder
		g := gate.New(gate.Config{
			Access: access(), Policy: p, Now: at,
			Log: slog.New(slog.NewTextHandler(&written, nil)),
		})
		for _, tt := range []struct{ client, method, target, rule, fields string }{
			{"10.1.0.1", "POST", "http://a.example:81/", "by-port", "method=POST scheme=http host=a.example port=81"},
			{"10.1.0.2", "CONNECT", "a.example:81", "by-port", `method=CONNECT scheme="" host=a.example port=81`},
			{"10.1.0.3", "GET", "http://b.example/", "by-address", "method=GET scheme=http host=b.example port=80"},
			{"10.1.0.4", "CONNECT", "b.example:443", "by-address", `method=CONNECT scheme="" host=b.example port=443`},
		} {
			written.Reset()
			client, requested := gate.Client{Addr: netip.MustParseAddr(tt.client)},
				ask(tt.method, tt.target, "urnd.example", false)
			v := g.Admit(t.Context(), &client, &requested)
			err := v.Err
			if check := v.AddressCheck(); err == nil && check != nil {
				err = check(netip.MustParseAddrPort("192.0.2.1:80"))
			}
			var denied *policy.Denied
			if errors.As(err, &denied) != (mode == policy.ModeEnforce) ||
				denied != nil && (denied.Rule != tt.rule || v.Rule() != tt.rule) {
				t.Errorf("%v: %s %s: %v, rule %q", mode, tt.method, tt.target, err, v.Rule())
			}
			want := "rule=" + tt.rule + " client=" + tt.client + ` user="" ` + tt.fields
			if got := written.String(); (got != "") != (message != "") || !strings.Contains(got, message) ||
				message != "" && !strings.Contains(got, want) {
				t.Errorf("%v: %s %s: log %q, want %s", mode, tt.method, tt.target, got, want)
			}
		}
	}
}

// A cloned verdict with a check of the address does not refer to strings of the request.
func TestVerdictClone(t *testing.T) {
	g := gate.New(gate.Config{Access: access(), Policy: rulesOf(t), Now: at})
	ask := askOf(t, http.MethodGet, "http://net.example/", "net.example", false)
	v := g.Admit(t.Context(), &gate.Client{Addr: netip.MustParseAddr("10.1.9.9")}, &ask)
	v.Clone(func(text string) string {
		if text == "net.example" {
			return "other.example"
		}
		return strings.Clone(text)
	})
	if !v.Allows(netip.MustParseAddr("192.0.2.1")) {
		t.Error("the verdict has the host of the request still")
	}
}

// Admission of a cache hit does not allocate, unless a rule depends on the address.
func TestAdmitAllocations(t *testing.T) {
	a := access()
	a.Rate = 1 << 30
	client := gate.Client{Addr: netip.MustParseAddr("10.1.9.9")}
	for _, tt := range []struct {
		target string
		policy *policy.Policy
		want   float64
	}{
		{"/urn:ietf:rfc:2648", rulesOf(t), 0},
		{"http://a.example/", rulesOf(t), 0},
		{"http://a.example/", new(policy.Policy), 0},
		{"http://net.example/", rulesOf(t), 2},
	} {
		g := gate.New(gate.Config{Access: a, Policy: tt.policy, Now: at})
		ask := askOf(t, http.MethodGet, tt.target, "urnd.example", false)
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() {
			if v := g.Admit(ctx, &client, &ask); v.Err != nil || !v.Allows(netip.MustParseAddr("198.51.100.1")) {
				t.Fatal(v.Err)
			}
		}); n != tt.want {
			t.Errorf("%s: %v allocations, want %v", tt.target, n, tt.want)
		}
	}
}
