package gate

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// trusted are the trusted proxies.
func trusted() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("fd00::/8"),
	}
}

func clientOf(r *http.Request) Client {
	return NewClient(r.RemoteAddr, httpmessage.NewHeader(r.Header), trusted())
}

func sent(peer string, forwardedFor, forwarded []string) *http.Request {
	header := make(http.Header)
	if forwardedFor != nil {
		header["X-Forwarded-For"] = forwardedFor
	}
	if forwarded != nil {
		header["Forwarded"] = forwarded
	}
	return &http.Request{RemoteAddr: peer, Header: header}
}

func TestClientIsThePeer(t *testing.T) {
	reported := []string{"198.51.100.1"}
	for _, tt := range []struct {
		peer                    string
		forwardedFor, forwarded []string
		addr                    string
		relayed                 bool
	}{
		{peer: "203.0.113.9:4711", addr: "203.0.113.9"},
		{peer: "[2001:db8::1]:4711", addr: "2001:db8::1"},
		{peer: "[::ffff:203.0.113.9]:4711", addr: "203.0.113.9"},
		{peer: "[fe80::1%eth0]:4711", addr: "fe80::1"},
		{peer: "@", addr: "127.0.0.1"}, // a Unix domain socket is local
		{peer: "", addr: "127.0.0.1"},
		{peer: "127.0.0.1:4711", addr: "127.0.0.1"},
		// The fields of an untrusted peer are ignored, and it is relayed.
		{peer: "203.0.113.9:4711", forwardedFor: reported, addr: "203.0.113.9", relayed: true},
		{peer: "203.0.113.9:4711", forwarded: []string{"for=198.51.100.1"}, addr: "203.0.113.9", relayed: true},
		{
			peer: "203.0.113.9:4711", forwardedFor: []string{"127.0.0.1"}, forwarded: []string{"for=127.0.0.1"},
			addr: "203.0.113.9", relayed: true,
		},
		{peer: "203.0.113.9:4711", forwardedFor: []string{""}, addr: "203.0.113.9", relayed: true},
		{peer: "203.0.113.9:4711", forwarded: []string{""}, addr: "203.0.113.9", relayed: true},
		{peer: "@", forwardedFor: reported, addr: "198.51.100.1"},
	} {
		want := Client{Relayed: tt.relayed}
		if tt.addr != "" {
			want.Addr = netip.MustParseAddr(tt.addr)
		}
		if got := clientOf(sent(tt.peer, tt.forwardedFor, tt.forwarded)); got.Addr != want.Addr ||
			got.Relayed != want.Relayed {
			t.Errorf("%q saying %q, %q: %+v, want %+v", tt.peer, tt.forwardedFor, tt.forwarded, got, want)
		}
	}
}

// RFC 7239 sections 4, 6 and 7.4; X-Forwarded-For has no standard, and has the same syntax here. "" is an
// unknown client.
func TestClientBehindTrustedProxies(t *testing.T) {
	hops := func(n int, hop string) string { return strings.Repeat(hop+", ", n) }
	for _, tt := range []struct {
		forwardedFor, forwarded []string
		addr                    string
	}{
		{[]string{"203.0.113.9"}, nil, "203.0.113.9"},
		{[]string{" \t203.0.113.9 "}, nil, "203.0.113.9"},
		{[]string{"203.0.113.9:4711"}, nil, "203.0.113.9"},
		{[]string{"2001:db8::1"}, nil, "2001:db8::1"},
		{[]string{"[2001:db8::1]"}, nil, "2001:db8::1"},
		{[]string{"[2001:DB8::1]:4711"}, nil, "2001:db8::1"},
		{[]string{"::ffff:203.0.113.9"}, nil, "203.0.113.9"},
		{[]string{"fe80::1%eth0"}, nil, "fe80::1"},
		{[]string{"198.51.100.1, 203.0.113.9"}, nil, "203.0.113.9"},
		{[]string{"127.0.0.1, 10.0.0.1, 203.0.113.9"}, nil, "203.0.113.9"},
		{[]string{"nonsense, , \x00, 203.0.113.9"}, nil, "203.0.113.9"},
		{[]string{"198.51.100.1, 203.0.113.9, 10.0.0.2, [fd00::2]:80"}, nil, "203.0.113.9"},
		{[]string{"198.51.100.1,203.0.113.9 ,\t10.0.0.2"}, nil, "203.0.113.9"},
		{[]string{"198.51.100.1", "203.0.113.9, 10.0.0.2"}, nil, "203.0.113.9"},
		{[]string{"10.0.0.3, 10.0.0.2"}, nil, "10.0.0.3"},
		{[]string{"unknown"}, nil, ""},
		{[]string{"203.0.113.9, unknown"}, nil, ""},
		{[]string{"203.0.113.9, _hidden, 10.0.0.2"}, nil, ""},
		{[]string{""}, nil, ""},
		{[]string{"", ""}, nil, ""},
		{[]string{" , "}, nil, ""},
		{[]string{"203.0.113.9:99999"}, nil, ""},
		{[]string{"203.0.113.999"}, nil, ""},
		{[]string{"client.example"}, nil, ""},

		{nil, []string{"for=203.0.113.9"}, "203.0.113.9"},
		{nil, []string{`FOR="203.0.113.9:4711"`}, "203.0.113.9"},
		{nil, []string{`for="[2001:db8::1]"`}, "2001:db8::1"},
		{nil, []string{`For="[2001:db8::1]:4711"`}, "2001:db8::1"},
		{nil, []string{"for=203.0.113.9;proto=https;by=10.0.0.1"}, "203.0.113.9"},
		{nil, []string{"proto=https ; for=203.0.113.9"}, "203.0.113.9"},
		{nil, []string{`for=203.0.113.9;host="a.example:80"`}, "203.0.113.9"},
		{nil, []string{"for=198.51.100.1, for=203.0.113.9,for=10.0.0.2"}, "203.0.113.9"},
		{nil, []string{"for=198.51.100.1", `for=203.0.113.9;by="[fd00::1]", for="[fd00::1]:80"`}, "203.0.113.9"},
		{nil, []string{"nonsense, for=203.0.113.9"}, "203.0.113.9"},
		{nil, []string{"for=unknown"}, ""},
		{nil, []string{"for=_hidden"}, ""},
		{nil, []string{`for="_hidden:_port"`}, ""},
		{nil, []string{"for=203.0.113.9, for=_hidden;by=10.0.0.2, for=10.0.0.3"}, ""},
		{nil, []string{"proto=https;by=10.0.0.2"}, ""},
		{nil, []string{"for=203.0.113.9, by=10.0.0.2"}, ""},
		{nil, []string{"for="}, ""},
		{nil, []string{`for="`}, ""},
		{nil, []string{`for="client.example"`}, ""},
		{nil, []string{""}, ""},

		{[]string{"203.0.113.9"}, []string{"for=203.0.113.9"}, "203.0.113.9"},
		{[]string{"[2001:db8::1]:80"}, []string{`for="[2001:DB8:0::1]";proto=http`}, "2001:db8::1"},
		{[]string{"203.0.113.9, 10.0.0.2"}, []string{"for=203.0.113.9"}, "203.0.113.9"},
		{[]string{"203.0.113.9"}, []string{"for=198.51.100.1"}, ""},
		{[]string{"203.0.113.9"}, []string{"for=unknown"}, ""},
		{[]string{"unknown"}, []string{"for=203.0.113.9"}, ""},
		{[]string{hops(1000, "10.0.0.2") + "10.0.0.2"}, nil, ""},
		{nil, []string{hops(1000, "for=10.0.0.2") + "for=10.0.0.2"}, ""},
	} {
		got := clientOf(sent("10.0.0.1:4711", tt.forwardedFor, tt.forwarded))
		known := tt.addr != "" && got.Addr == netip.MustParseAddr(tt.addr) && !got.Relayed
		if tt.addr == "" && !unknown(got) || tt.addr != "" && !known {
			t.Errorf("%.80q, %.80q: %+v, want %q", tt.forwardedFor, tt.forwarded, got, tt.addr)
		}
	}
}

// unknown reports whether a trusted proxy, 10.0.0.1, did not name its client.
func unknown(c Client) bool {
	return c.Relayed && (!c.Addr.IsValid() || c.Addr == netip.MustParseAddr("10.0.0.1"))
}

// Fields sent by a client at 203.0.113.9 never give it another address: at worst it is unknown.
func TestClientCannotPretend(t *testing.T) {
	const self = "203.0.113.9"
	pretended := "198.51.100.1"
	many := strings.Repeat(pretended+", ", 1000)
	for _, tt := range []struct{ forwardedFor, forwarded string }{
		{many + self, ""},
		{many + self, "for=" + pretended},
		{pretended + ", " + self, "for=" + pretended},
		{self, strings.Repeat("for="+pretended+", ", 1000)},
		{"", strings.Repeat("for="+pretended+", ", 1000) + "for=" + self},
		{pretended, strings.Repeat("for="+pretended+", ", 1000) + "for=" + self},
		// A host may contain commas and semicolons (RFC 3986 section 3.2.2), which a proxy quotes.
		{"", `for=203.0.113.9;host="a,for=198.51.100.1"`},
		{"", `for=203.0.113.9;host="a,for=198.51.100.1,"`},
		{"", `for=203.0.113.9;host="a;for=198.51.100.1"`},
		{"", `for=203.0.113.9;host="a;for=198.51.100.1;b"`},
		{"", `for=203.0.113.9;host="a\";for=198.51.100.1;x=\""`},
		{"", `for=203.0.113.9;for=198.51.100.1`},
		// A quote opened by a client is not closed by one of a proxy.
		{"", `for=198.51.100.1;x=", for=203.0.113.9`},
		{"", `for=198.51.100.1;x=", for=203.0.113.9;by="[fd00::1]"`},
		{"", `for=198.51.100.1;x=", for=203.0.113.9;host=";y="`},
		{"", `for=198.51.100.1;x=", for=203.0.113.9;host=";y=""`},
	} {
		var forwardedFor, forwarded []string
		if tt.forwardedFor != "" {
			forwardedFor = []string{tt.forwardedFor}
		}
		if tt.forwarded != "" {
			forwarded = []string{tt.forwarded}
		}
		got := clientOf(sent("10.0.0.1:4711", forwardedFor, forwarded))
		if !unknown(got) && (got.Relayed || got.Addr != netip.MustParseAddr(self)) {
			t.Errorf("%.70q, %.70q: %+v", tt.forwardedFor, tt.forwarded, got)
		}
	}
}

// FuzzClientOf: a peer that is not trusted has its own address, whatever it sends. Behind a trusted proxy the
// address that the proxy adds is used.
func FuzzClientOf(f *testing.F) {
	for _, s := range [][2]string{
		{"203.0.113.9", "for=203.0.113.9"},
		{"127.0.0.1, 10.0.0.1", `for="[fd00::1]:80";by=_a, for=unknown`},
		{"", ""},
		{"[", `for="`},
		{"]:,", "=;=,"},
		{"fe80::1%eth0", `for="[fe80::1%25eth0]"`},
		{strings.Repeat(",", 100), "for=198.51.100.1"},
		{"198.51.100.1", strings.Repeat("for=198.51.100.1,", 100)},
	} {
		f.Add("203.0.113.9:4711", s[0], s[1])
		f.Add("[2001:db8::1]:4711", s[0], s[1])
		f.Add("@", s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, peer, forwardedFor, forwarded string) {
		own := AddrOf(peer)
		if !own.IsValid() {
			own = netip.MustParseAddr("127.0.0.1")
		}
		if !Contains(trusted(), own) {
			if got := clientOf(sent(peer, []string{forwardedFor}, []string{forwarded})); got.Addr != own ||
				!got.Relayed {
				t.Fatalf("%q saying %q, %q: %+v", peer, forwardedFor, forwarded, got)
			}
		}
		self := netip.MustParseAddr("203.0.113.9")
		for _, r := range []*http.Request{
			sent("10.0.0.1:4711", []string{forwardedFor + ", 203.0.113.9"}, nil),
			sent("10.0.0.1:4711", []string{forwardedFor, "203.0.113.9"}, []string{forwarded}),
			sent("10.0.0.1:4711", nil, []string{forwarded, "for=203.0.113.9"}),
			sent("10.0.0.1:4711", []string{forwardedFor}, []string{forwarded + ", for=203.0.113.9"}),
		} {
			if got := clientOf(r); !unknown(got) && (got.Relayed || got.Addr != self) {
				t.Fatalf("%q: %+v", r.Header, got)
			}
		}
		got := clientOf(sent("10.0.0.1:4711", []string{forwardedFor}, []string{forwarded}))
		if got.Addr.Is4In6() || got.Addr.Zone() != "" {
			t.Fatalf("%q, %q: %v is not in its own form", forwardedFor, forwarded, got.Addr)
		}
	})
}

// The scheme with which a client reached the proxy in front of urnd (RFC 7239 section 5.4). An ambiguous
// field is ignored.
func TestSchemeOf(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []string
		want   string
	}{
		{"X-Forwarded-Proto", []string{"https"}, "https"},
		{"X-Forwarded-Proto", []string{" HTTP "}, "http"},
		{"X-Forwarded-Proto", []string{"https, https"}, "https"},
		{"X-Forwarded-Proto", []string{"http", "http,HTTP"}, "http"},
		{"X-Forwarded-Proto", []string{"https,"}, ""},
		{"X-Forwarded-Proto", []string{"https, http"}, ""},
		{"X-Forwarded-Proto", []string{"https", "http"}, ""},
		{"X-Forwarded-Proto", []string{"wss"}, ""},
		{"X-Forwarded-Proto", []string{""}, ""},
		{"Forwarded", []string{"for=192.0.2.1;proto=https"}, "https"},
		{"Forwarded", []string{`Proto="HTTPS";for=192.0.2.1`}, "https"},
		{"Forwarded", []string{"for=192.0.2.1"}, ""},
		{"Forwarded", []string{"proto=https;proto=http"}, ""},
		{"Forwarded", []string{"proto=https, for=192.0.2.1;proto=http"}, ""},
		{"Forwarded", []string{"for=192.0.2.1;proto=https, for=192.0.2.2;proto=https"}, "https"},
		{"Forwarded", []string{"for=192.0.2.1;proto=https, for=192.0.2.2"}, ""},
		{"Forwarded", []string{`for="a,proto=https"`}, ""},
		{"X-Forwarded-Protocol", []string{"https"}, ""},
	} {
		if got := SchemeOf(httpmessage.NewHeader(http.Header{tt.name: tt.values})); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.name, tt.values, got, tt.want)
		}
	}
	if got := SchemeOf(nil); got != "" {
		t.Errorf("no field: %q", got)
	}
}

// Behind a proxy each request may be of another client.
func TestClientOfPeerAllocatesNothing(t *testing.T) {
	peer := netip.MustParseAddr("127.0.0.1")
	for _, header := range []http.Header{
		{"X-Forwarded-For": {"203.0.113.9"}},
		{"X-Forwarded-For": {"203.0.113.9:4711, 10.0.0.1"}},
		{"X-Forwarded-For": {"2001:db8::1"}},
		{"X-Forwarded-For": {"[2001:db8::1]:80"}, "X-Forwarded-Proto": {"https"}},
		{"Forwarded": {`for=203.0.113.9;proto=http;by="[fd00::1]"`}},
		{"X-Forwarded-For": {"203.0.113.9"}, "Forwarded": {"for=203.0.113.9"}},
	} {
		lines, prefixes := httpmessage.NewHeader(header), trusted()
		if n := testing.AllocsPerRun(100, func() {
			if c := NewClientOfPeer(peer, lines, prefixes); c.Relayed || c.Addr == peer {
				t.Errorf("%+v", c)
			}
			SchemeOf(lines)
		}); n > 0 {
			t.Errorf("%q: %v allocations", header, n)
		}
	}
}

// A node is parsed like by trying all forms in turn.
func FuzzNodeAddr(f *testing.F) {
	for _, seed := range []string{
		"192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80", "[::1", "::1]", "fe80::1%eth0",
		"[fe80::1%a]:80", "_x", "::ffff:192.0.2.1:80", "1.2.3.4%a:80", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, node string) {
		text := strings.TrimSpace(node)
		want, ok := AddrOf(text), true
		if !want.IsValid() {
			addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
			want, ok = addr.Unmap().WithZone(""), err == nil
		}
		if got, found := nodeAddr(node); got != want || found != ok {
			t.Errorf("%q: %v %v instead of %v %v", node, got, found, want, ok)
		}
	})
}
