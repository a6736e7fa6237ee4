package gate_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
)

// An open tunnel is decided again by the server name in it, and ends if that cannot be read; report-only
// rules end none.
func TestLook(t *testing.T) {
	rules := []policy.Rule{
		{ID: "inside", Destinations: prefixes("192.0.2.0/24")},
		{ID: "denied", Deny: true, Hosts: []string{".denied.example"}},
	}
	ask := asking(t)
	for mode, ends := range map[policy.Mode]bool{policy.ModeEnforce: true, policy.ModeReport: false} {
		p, err := policy.New(mode, rules)
		if err != nil {
			t.Fatal(err)
		}
		var written strings.Builder
		a := access()
		a.Rate = 0
		g := gate.New(gate.Config{Access: a, Policy: p, Now: at, Log: slog.New(slog.NewTextHandler(&written, nil))})
		for _, tt := range []struct {
			hello   policy.Hello
			name    string
			server  string
			refused bool
			rule    string
		}{
			{policy.HelloNamed, "a.example", "198.51.100.1:443", false, ""},
			{policy.HelloNamed, "www.example", "198.51.100.1:443", false, ""},
			{policy.HelloNamed, "a.denied.example", "198.51.100.1:443", true, "denied"},
			{policy.HelloEncrypted, "A.DENIED.example", "198.51.100.1:443", true, "denied"},
			{policy.HelloNamed, "a.denied.example", "192.0.2.1:443", false, ""},
			{policy.HelloNamed, "a.denied.example", "", true, "denied"}, // behind an upstream proxy
			{policy.HelloUnnamed, "", "198.51.100.1:443", false, ""},
			{policy.HelloNotTLS, "", "198.51.100.1:443", false, ""},
			{policy.HelloUnreadable, "", "198.51.100.1:443", true, ""},
		} {
			written.Reset()
			client, requested := gate.Client{Addr: netip.MustParseAddr("10.1.0.2")},
				ask(http.MethodConnect, "a.example:443", "urnd.example", false)
			v := g.Admit(t.Context(), &client, &requested)
			look := v.TunnelCheck()
			if v.Err != nil || look == nil {
				t.Fatal(v.Err)
			}
			server, _ := netip.ParseAddrPort(tt.server)
			err := look(tt.hello, tt.name, server)
			if (err != nil) != (tt.refused && ends) || tt.rule != "" && v.Rule() != tt.rule ||
				(written.String() != "") != tt.refused {
				t.Errorf("%v: %v %q at %s: %v, rule %q, log %q", mode, tt.hello, tt.name, tt.server, err, v.Rule(),
					written.String())
			}
		}
	}
}

// Without rules about hosts, tunnels are not inspected.
func TestNoLook(t *testing.T) {
	p, err := policy.New(policy.ModeEnforce,
		[]policy.Rule{{ID: "a", Deny: true, Ports: []policy.PortRange{{First: 25, Last: 25}}}})
	if err != nil {
		t.Fatal(err)
	}
	requested := asking(t)(http.MethodConnect, "a.example:443", "urnd.example", false)
	v := gate.New(gate.Config{Access: access(), Policy: p, Now: at}).Admit(t.Context(),
		&gate.Client{Addr: netip.MustParseAddr("10.1.0.2")}, &requested)
	if v.Err != nil || v.TunnelCheck() != nil {
		t.Errorf("%v, %t", v.Err, v.TunnelCheck() != nil)
	}
}

// away are groups that cannot be determined.
type away struct{}

func (away) Memberships(context.Context, string, []string) ([]string, error) {
	return []string{"staff"}, errors.New("the directory is away")
}

// anybody accepts each password, and returns another user name.
type anybody struct{}

func (anybody) Login(_ context.Context, _ netip.Addr, name, _ string) (string, bool, error) {
	return strings.ToLower(name), true, nil
}

// If the groups of a user cannot be determined, rules with groups admit no request; report-only rules deny none.
func TestGroupsAway(t *testing.T) {
	rules := []policy.Rule{{ID: "staff", Groups: []string{"staff"}}, {ID: "rest", Deny: true}}
	requested := asking(t)(http.MethodGet, "http://a.example/", "urnd.example", false)
	for mode, want := range map[policy.Mode]error{
		policy.ModeEnforce: problem.ErrLoginUnavailable,
		policy.ModeReport:  nil,
	} {
		p, err := policy.New(mode, rules)
		if err != nil {
			t.Fatal(err)
		}
		a := access()
		a.Users, a.Groups = anybody{}, away{}
		client := gate.Client{
			Addr:   netip.MustParseAddr("10.1.0.2"),
			Header: httpmessage.NewHeader(http.Header{"Proxy-Authorization": {basic("Ann:a")}}),
		}
		v := gate.New(gate.Config{Access: a, Policy: p, Now: at}).Admit(t.Context(), &client, &requested)
		if !errors.Is(v.Err, want) || v.User != "ann" {
			t.Errorf("%v: %v, user %q", mode, v.Err, v.User)
		}
	}
}

func TestParseGroups(t *testing.T) {
	groups, err := gate.ParseGroups([]byte("# of the house\n\nstaff: alice  bob\nboard: alice\nstaff:carol " +
		"alice\nempty:\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ user, among, want string }{
		{"alice", "staff board empty", "staff board"},
		{"alice", "board", "board"},
		{"carol", "staff board", "staff"},
		{"dave", "staff", ""},
		{"bob", "board", ""},
	} {
		if got, err := groups.Memberships(t.Context(), tt.user, strings.Fields(tt.among)); err != nil ||
			strings.Join(got, " ") != tt.want {
			t.Errorf("%s of %s: %q, %v", tt.user, tt.among, got, err)
		}
	}
	for _, text := range []string{"staff alice", ": alice", "the staff: alice"} {
		if _, err := gate.ParseGroups([]byte("a: b\n" + text)); err == nil ||
			!strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Behind an upstream proxy the address of a server is known if it is the host of the request, also of later bytes in a
// tunnel and of stored responses; that of a name and of the servers of a site is unknown.
func TestAddressBehindProxy(t *testing.T) {
	p, err := policy.New(policy.ModeEnforce, []policy.Rule{
		{ID: "inside", Deny: true, Destinations: prefixes("192.0.2.0/24")},
		{ID: "names", Deny: true, Hosts: []string{"denied.example"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := access()
	a.Rate = 0
	g := gate.New(gate.Config{Access: a, Policy: p, Now: at})
	for _, tt := range []struct {
		host    string
		isSite  bool
		refused bool
	}{
		{"198.51.100.1", false, false},
		{"[::ffff:198.51.100.1]", false, false},
		{"192.0.2.1", false, true},
		{"[::ffff:192.0.2.1]", false, true},
		{"a.example", false, true},
		{"198.51.100.1", true, true},
	} {
		client := gate.Client{Addr: netip.MustParseAddr("10.1.0.2")}
		forwarded := asking(t)(http.MethodGet, "http://"+tt.host+"/", tt.host, false)
		if tt.isSite {
			forwarded.Kind = route.KindSite
		}
		v := g.Admit(t.Context(), &client, &forwarded)
		if check := v.AddressCheck(); v.Err != nil || check == nil || (check(netip.AddrPort{}) != nil) != tt.refused ||
			v.Allows(netip.Addr{}) == tt.refused {
			t.Errorf("%s, of a site %t: %v", tt.host, tt.isSite, v.Err)
		}
		opened := asking(t)(http.MethodConnect, tt.host+":443", "urnd.example", false)
		v = g.Admit(t.Context(), &client, &opened)
		if tt.isSite || v.Err != nil {
			continue
		}
		for hello, name := range map[policy.Hello]string{policy.HelloUnnamed: "", policy.HelloNamed: "b.example"} {
			if err := v.TunnelCheck()(hello, name, netip.AddrPort{}); (err != nil) != tt.refused {
				t.Errorf("a tunnel to %s, with the server name %q: %v", tt.host, name, err)
			}
		}
	}
}
