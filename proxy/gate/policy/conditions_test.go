package policy_test

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/uri"
)

// A path is compared as a whole. If servers may read it in several ways, a denying rule holds if one of them
// matches, an allowing rule only if all match.
func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		deny, allow   bool
	}{
		{"/private/*", "/private/a", true, true},
		{"/private/*", "/private/", true, true},
		{"/private/*", "/private", false, false},
		{"/private/*", "/a/private/b", false, false},
		{"*/private/*", "/a/private/b", true, true},
		{"*.exe", "/a/b.exe", true, true},
		{"*.exe", "/a/b.exe.txt", false, false},
		{"*.exe", "/a/b.EXE", false, false},
		{"/*/b/*.exe", "/a/b/c/d.exe", true, true},
		{"/a*a", "/a", false, false}, // prefix and suffix must not overlap
		{"/a*b*b", "/ab", false, false},
		{"/a*b*b", "/abb", true, true},
		{"*", "/", true, true},
		{"/", "/", true, true},
		{"/private/*", "/%70rivate/a", true, true}, // normalized
		{"/private/*", "/private%2Fa", true, false},
		{"/private/*", "/a/..%2Fprivate/b", true, false},
		{"/private/*", "/b/private/a", false, false},
		{"/private/*", "/b//../private/a", true, false}, // as sent: in normal form it is /b/private/a
		{"/private/*", "/private;x/a", true, false},
		{"*.exe", "/b.exe;v=1", true, false},
		{"/public/*", "/public/..%2Fprivate/a", true, false},
		{"/public/*", "/public/a%20b", true, true},
	} {
		for _, deny := range [...]bool{true, false} {
			u, err := uri.Parse("http://a.example" + tt.path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := policy.NewRequest(netip.Addr{}, "", "GET", u.Normalize())
			if err != nil {
				t.Fatal(err)
			}
			if r.Path != tt.path {
				r.SentPath = tt.path
			}
			p := newPolicy(t, policy.ModeEnforce, policy.Rule{ID: "path", Deny: deny, Paths: []string{tt.pattern}})
			want := tt.allow
			if deny {
				want = tt.deny
			}
			if got := p.Decide(r).Rule == "path"; got != want {
				t.Errorf("%q of %q: %t, want %t where deny is %t", tt.path, tt.pattern, got, want, deny)
			}
			if got := len(p.Explain(r)) > 0; got != want {
				t.Errorf("%q of %q is explained: %t, want %t where deny is %t", tt.path, tt.pattern, got, want, deny)
			}
		}
	}
}

// The path of a tunnel is unknown: no rule with paths holds.
func TestPathsOfTunnels(t *testing.T) {
	for _, deny := range [...]bool{true, false} {
		p := newPolicy(t, policy.ModeEnforce, policy.Rule{ID: "path", Deny: deny, Paths: []string{"*"}})
		if d := p.Decide(policy.Request{Method: "CONNECT", Host: "a.example", Port: 443}); d.Rule != "" {
			t.Errorf("%+v", d)
		}
	}
}

// Windows are in local time, across daylight saving changes. Europe/Berlin changes on 2026-03-29 from 02:00
// to 03:00, and on 2026-10-25 from 03:00 to 02:00.
func TestWindows(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	workday := [7]bool{false, true, true, true, true, true, false}
	office := policy.Window{Days: workday, From: 8 * 60, To: 18 * 60, Zone: berlin}
	night := policy.Window{Days: [7]bool{time.Saturday: true}, From: 22 * 60, To: 6 * 60, Zone: berlin}
	small := policy.Window{Days: [7]bool{time.Sunday: true}, From: 2 * 60, To: 3 * 60, Zone: berlin}
	utc := policy.Window{Days: workday, From: 8 * 60, To: 18 * 60}
	for _, tt := range []struct {
		window policy.Window
		at     string // in UTC
		want   bool
	}{
		{office, "2026-11-30T07:00:00Z", true}, // Monday 08:00
		{office, "2026-11-30T06:59:59Z", false},
		{office, "2026-11-30T16:59:59Z", true},
		{office, "2026-11-30T17:00:00Z", false},
		{office, "2026-07-06T06:00:00Z", true}, // daylight saving time
		{office, "2026-11-29T09:00:00Z", false},
		{utc, "2026-11-30T07:59:59Z", false},
		{utc, "2026-11-30T08:00:00Z", true},
		{night, "2026-11-28T21:00:00Z", true}, // Saturday 22:00
		{night, "2026-11-29T04:59:59Z", true}, // Sunday 05:59
		{night, "2026-11-29T05:00:00Z", false},
		{night, "2026-11-27T23:00:00Z", false}, // of Friday
		{night, "2026-03-29T03:59:59Z", true},  // 05:59 daylight saving time
		{night, "2026-03-29T04:00:00Z", false},
		{night, "2026-10-25T04:59:59Z", true}, // 05:59 standard time
		{small, "2026-03-29T00:59:59Z", false},
		{small, "2026-03-29T01:00:00Z", false}, // 03:00: 02:30 does not exist
		{small, "2026-10-25T00:30:00Z", true},  // 02:30
		{small, "2026-10-25T01:30:00Z", true},  // 02:30 again
		{small, "2026-10-25T02:00:00Z", false},
		{policy.Window{}, "2026-11-30T08:00:00Z", false},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.window.Has(at); got != tt.want {
			t.Errorf("%+v at %s: %t", tt.window, at.In(berlin), got)
		}
		p := newPolicy(t, policy.ModeEnforce, policy.Rule{ID: "time", Deny: true, Times: []policy.Window{tt.window}})
		if got := p.Decide(policy.Request{Time: at}).Deny; got != tt.want || !p.HasTimes() {
			t.Errorf("%+v at %s: the rule denies %t", tt.window, at.In(berlin), got)
		}
	}
}

// A rule with groups holds for users in one of them.
func TestGroupsOfRules(t *testing.T) {
	p := newPolicy(t, policy.ModeEnforce,
		policy.Rule{ID: "staff", Groups: []string{"staff", "guests"}},
		policy.Rule{ID: "rest", Deny: true, Groups: []string{"guests", "others"}})
	if got := p.Groups(); len(got) != 3 {
		t.Errorf("groups %q", got)
	}
	for _, tt := range []struct {
		groups []string
		rule   string
	}{{nil, ""}, {[]string{"staff"}, "staff"}, {[]string{"others", "staff"}, "staff"}, {[]string{"others"}, "rest"}} {
		if d := p.Decide(policy.Request{User: "alice", Groups: tt.groups}); d.Rule != tt.rule {
			t.Errorf("%q: rule %q, want %q", tt.groups, d.Rule, tt.rule)
		}
	}
}

// The kind of a tunnel's first bytes may only be a condition of denying rules, and does not hold before they arrive.
func TestHellos(t *testing.T) {
	if _, err := policy.New(policy.ModeEnforce,
		[]policy.Rule{{ID: "a", Hellos: []policy.Hello{policy.HelloNotTLS}}}); err == nil {
		t.Error("a rule that allows has it")
	}
	p := newPolicy(t, policy.ModeEnforce,
		policy.Rule{
			ID: "hello", Deny: true, Hellos: []policy.Hello{policy.HelloNotTLS, policy.HelloEncrypted},
			Hosts: []string{".example"},
		})
	for hello, want := range map[policy.Hello]bool{
		policy.HelloNone: false, policy.HelloNamed: false,
		policy.HelloUnnamed: false, policy.HelloEncrypted: true, policy.HelloNotTLS: true,
		policy.HelloUnreadable: true,
	} {
		if got := p.Decide(policy.Request{Host: "a.example", Hello: hello}).Deny; got != want {
			t.Errorf("%q: denied %t", hello, got)
		}
		if again := policy.ParseHello(hello.String()); again != hello {
			t.Errorf("%q is read back as %q", hello, again)
		}
	}
	if !p.HasTunnelNames() ||
		newPolicy(t, policy.ModeOpen, policy.Rule{ID: "a", Deny: true, Hosts: []string{"a"}}).HasTunnelNames() {
		t.Error("whether the beginnings of tunnels matter")
	}
}

// Explain compares each condition that Decide compares: a request without properties meets none.
func TestConditionsAreExplained(t *testing.T) {
	for f := range reflect.TypeFor[policy.Rule]().Fields() {
		if f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() == reflect.Interface || f.Name == "Destinations" {
			continue // lists are in TestLists; destinations are reported beside the conditions
		}
		r := policy.Rule{ID: "a", Deny: true}
		value := reflect.New(f.Type.Elem()).Elem()
		switch v := value.Addr().Interface().(type) {
		case *string:
			*v = "x"
		case *netip.Prefix:
			*v = netip.MustParsePrefix("192.0.2.0/24")
		case *policy.PortRange:
			*v = policy.PortRange{First: 1, Last: 2}
		case *policy.Hello:
			*v = policy.HelloNotTLS
		}
		conditions := reflect.ValueOf(&r).Elem().FieldByIndex(f.Index)
		conditions.Set(reflect.Append(conditions, value))
		p := newPolicy(t, policy.ModeEnforce, r)
		if d := p.Decide(policy.Request{}); d.Rule != "" {
			t.Errorf("Decide does not compare Rule.%s: %+v", f.Name, d)
		}
		if matches := p.Explain(policy.Request{}); len(matches) > 0 {
			t.Errorf("Explain does not compare Rule.%s: %+v", f.Name, matches)
		}
	}
}

// Lists of hosts, URLs and addresses for tests.
type (
	hostList map[string]bool
	urlList  map[string]bool
	addrList []netip.Addr
)

func (hostList) String() string                                { return "/lists/hosts" }
func (l hostList) Has(host string, _ netip.Addr) bool          { return l[host] }
func (urlList) String() string                                 { return "/lists/urls" }
func (addrList) String() string                                { return "/lists/addresses" }
func (l urlList) Has(h string, _ netip.Addr, p, q string) bool { return l[h+p+"?"+q] }
func (l addrList) Has(addr netip.Addr) bool {
	for _, one := range l {
		if one == addr {
			return true
		}
	}
	return false
}

// The values of a list are alternatives to those of the rule, and rules with lists are found whatever other
// rules are indexed by.
func TestLists(t *testing.T) {
	in, out := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("192.0.2.9")
	p := newPolicy(t, policy.ModeEnforce,
		policy.Rule{
			ID: "hosts", Deny: true, Hosts: []string{"own.example"},
			HostLists: []policy.HostList{hostList{"ads.example": true}},
		},
		policy.Rule{ID: "urls", Deny: true, URLLists: []policy.URLList{urlList{"a.example/bad?": true}}},
		policy.Rule{
			ID: "clients", Deny: true, Clients: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16")},
			ClientLists: []policy.AddressList{addrList{in}}, Hosts: []string{"b.example"},
		},
		policy.Rule{
			ID: "dialled", Deny: true, Destinations: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
			DestinationLists: []policy.AddressList{addrList{out}},
		},
	)
	for _, tt := range []struct {
		request policy.Request
		dialled string
		rule    string
	}{
		{policy.Request{Host: "ads.example"}, "", "hosts"},
		{policy.Request{Host: "own.example"}, "", "hosts"},
		{policy.Request{Host: "other.example"}, "192.0.2.1", ""},
		{policy.Request{Scheme: "http", Host: "a.example", Path: "/bad"}, "", "urls"},
		{policy.Request{Scheme: "http", Host: "a.example", Path: "/good"}, "192.0.2.1", ""},
		{policy.Request{Host: "a.example"}, "192.0.2.1", ""}, // a tunnel has no path
		{policy.Request{Host: "b.example", Client: in}, "", "clients"},
		{policy.Request{Host: "b.example", Client: netip.MustParseAddr("10.9.1.1")}, "", "clients"},
		{policy.Request{Host: "b.example", Client: netip.MustParseAddr("10.8.1.1")}, "192.0.2.1", ""},
		{policy.Request{Host: "c.example"}, "192.0.2.9", "dialled"},
		{policy.Request{Host: "c.example"}, "198.51.100.7", "dialled"},
	} {
		d := p.Decide(tt.request)
		if d.Final != (tt.dialled == "") {
			t.Errorf("%+v is decided before the address is known: %+v", tt.request, d)
		}
		if tt.dialled != "" {
			d = p.DecideFor(tt.request, netip.MustParseAddr(tt.dialled))
		}
		if d.Rule != tt.rule {
			t.Errorf("%+v to %q: rule %q, want %q", tt.request, tt.dialled, d.Rule, tt.rule)
		}
		matches := p.Explain(tt.request)
		if tt.rule != "" && matches[0].Rule != tt.rule {
			t.Errorf("%+v is explained by %+v", tt.request, matches)
		}
	}
	if because := p.Explain(policy.Request{Host: "ads.example"})[0].Conditions; len(because) != 1 ||
		because[0].String() != "hosts_from /lists/hosts" {
		t.Errorf("because %v", because)
	}
}
