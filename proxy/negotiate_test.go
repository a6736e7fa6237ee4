package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/gate/policy"
)

// program authenticates users by Negotiate: "alice" and "bob" in one message, and "carol" after a challenge.
type program struct{ epoch, requested, open atomic.Uint64 }

func (p *program) Epoch() uint64 { return p.epoch.Load() }

func (p *program) Begin(netip.Addr) gate.Handshake {
	p.open.Add(1)
	return &shake{program: p}
}

type shake struct {
	*program
	challenged, closed bool
}

func (s *shake) Next(_ context.Context, token string) (gate.HandshakeStep, error) {
	s.requested.Add(1)
	switch {
	case s.closed:
		return gate.HandshakeStep{}, errors.New("it is closed")
	case token == "broken":
		return gate.HandshakeStep{}, errors.New("it has no keys")
	case token == "begin":
		s.challenged = true
		return gate.HandshakeStep{Token: "challenge", More: true}, nil
	case token == "carol" && s.challenged, token == "alice", token == "bob":
		return gate.HandshakeStep{User: token, Token: "proof-for-" + token}, nil
	default:
		return gate.HandshakeStep{}, nil
	}
}

func (s *shake) Close() {
	if !s.closed {
		s.closed = true
		s.open.Add(^uint64(0))
	}
}

// loggingIn starts a proxy with a program, which it also returns, and an origin.
func loggingIn(t *testing.T, change func(*proxy.Config)) (s *server, p *program, origin string) {
	t.Helper()
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Proxy-Authentication-Info", "of the origin")
		fmt.Fprintf(w, "%q", r.Header["Proxy-Authorization"])
	}))
	t.Cleanup(o.Close)
	p = new(program)
	s = start(t, func(c *proxy.Config) {
		c.Access.Negotiate = p
		if change != nil {
			change(c)
		}
	})
	return s, p, o.URL + "/"
}

// logsIn sends a request with a token, "" for none, and returns its status, its challenges and the proof.
func (c conn) logsIn(t *testing.T, method, target, token string, fields ...string) string {
	t.Helper()
	if token != "" && !strings.Contains(token, " ") {
		token = "Negotiate " + token
	}
	if token != "" {
		fields = append(fields, "Proxy-Authorization: "+token)
	}
	body := ""
	if i := slices.IndexFunc(fields, func(f string) bool { return strings.HasPrefix(f, "Content-Length: ") }); i >= 0 {
		var n int
		_, _ = fmt.Sscanf(fields[i], "Content-Length: %d", &n)
		body = strings.Repeat("a", n)
	}
	r := c.ask(t, method+" "+target+" HTTP/1.1\r\nHost: www.example\r\n"+strings.Join(append(fields, ""), "\r\n")+
		"\r\n"+body)
	_ = text(t, r)
	shown := fmt.Sprint(r.StatusCode)
	for _, name := range []string{"Proxy-Authenticate", "Proxy-Authentication-Info"} {
		for _, value := range r.Header[name] {
			scheme, rest, _ := strings.Cut(value, " ")
			if scheme == "Basic" {
				rest = ""
			}
			shown += " " + strings.TrimSpace(scheme+" "+rest)
		}
	}
	return shown
}

// A login belongs to its connection, in whatever order its messages arrive.
func TestNegotiate(t *testing.T) {
	type request struct{ token, want string }
	const asked, welcome = "407 Negotiate", "200 Negotiate proof-for-"
	for name, requests := range map[string][]request{
		"one message": {{"", asked}, {"alice", welcome + "alice"}, {"", "200"}, {"", "200"}},
		"two messages": {
			{"", asked},
			{"begin", "407 Negotiate challenge"},
			{"carol", welcome + "carol"},
			{"", "200"},
			{"begin", "407 Negotiate challenge"},
			{"", asked},
			{"carol", asked},
			{"", asked},
		},
		"another user": {{"alice", welcome + "alice"}, {"bob", welcome + "bob"}, {"", "200"}},
		"another is wrong": {
			{"alice", welcome + "alice"},
			{"mallory", asked},
			{"", asked},
			{"alice", welcome + "alice"},
		},
		"wrong, and right": {{"mallory", asked}, {"", asked}, {"alice", welcome + "alice"}},
		"no challenge":     {{"carol", asked}, {"", asked}},
		"it is broken":     {{"alice", welcome + "alice"}, {"broken", "503"}, {"", asked}},
		"a password":       {{"alice", welcome + "alice"}, {basic("alice:a"), asked}, {"", asked}},
		"another scheme":   {{"alice", welcome + "alice"}, {"NTLM alice", asked}, {"", asked}},
		"spelled":          {{"nEGOTIATE  alice ", welcome + "alice"}, {"Negotiate", asked}, {"Negotiate ", asked}},
	} {
		t.Run(name, func(t *testing.T) {
			s, p, origin := loggingIn(t, nil)
			c, other := s.dial(t), s.dial(t)
			for i, r := range requests {
				if got := c.logsIn(t, "GET", origin, r.token); got != r.want {
					t.Errorf("%d, %q: %s, want %s", i, r.token, got, r.want)
				}
				if got := other.logsIn(t, "GET", origin, ""); got != asked {
					t.Errorf("%d, another connection: %s", i, got)
				}
			}
			if n := p.open.Load(); n != 0 {
				t.Errorf("%d handshakes are under way", n)
			}
		})
	}
}

// The connection of a login of several messages stays open: after the content of a rejected request, and
// after a rejected CONNECT. A login that the client abandons ends with its connection.
func TestNegotiateConnection(t *testing.T) {
	s, p, origin := loggingIn(t, nil)
	c := s.dial(t)
	for _, r := range []struct{ token, want string }{
		{"begin", "407 Negotiate challenge"}, {"carol", "200 Negotiate proof-for-carol"}, {"", "200"},
	} {
		if got := c.logsIn(t, "POST", origin, r.token, "Content-Length: 20000"); got != r.want {
			t.Errorf("POST with %q: %s, want %s", r.token, got, r.want)
		}
	}
	authority := strings.TrimSuffix(strings.TrimPrefix(origin, "http://"), "/")
	c = s.dial(t)
	if got := c.logsIn(t, "CONNECT", authority, "begin"); got != "407 Negotiate challenge" {
		t.Fatal(got)
	}
	c.send(t, "CONNECT "+authority+" HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Negotiate carol\r\n\r\n")
	if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 200 ") || strings.Contains(head, "Negotiate") {
		t.Errorf("the tunnel: %s", head)
	}
	if response := c.ask(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); response.StatusCode != 200 {
		t.Errorf("in the tunnel: %d", response.StatusCode)
	}
	for _, token := range []string{"", "mallory"} {
		c = s.dial(t)
		if got := c.logsIn(t, "CONNECT", authority, token, "Connection: keep-alive"); got != "407 Negotiate" {
			t.Error(got)
		}
		if rest, _ := c.rest(); rest != "" {
			t.Errorf("a refused CONNECT: %s", rest)
		}
	}
	c = s.dial(t)
	if got := c.logsIn(t, "GET", origin, "begin"); got != "407 Negotiate challenge" || p.open.Load() != 1 {
		t.Errorf("%s, %d", got, p.open.Load())
	}
	_ = c.Close()
	testserver.Wait(t, "the handshake of a client that has left is closed", func() bool { return p.open.Load() == 0 })
}

// Basic is offered, too; where a connection may carry requests of several clients, only Basic.
func TestNegotiateShared(t *testing.T) {
	const refused, asks, lets = "403", "407 Negotiate", "200 Negotiate proof-for-alice"
	trusting := func(c *proxy.Config) {
		c.Access.Trusted, c.Access.Proxy = []netip.Prefix{loopback},
			[]netip.Prefix{loopback, netip.MustParsePrefix("192.0.2.0/24")}
	}
	for name, tt := range map[string]struct {
		change func(*proxy.Config)
		fields []string
		alone  []string // without a token, with one, and without one again
		both   []string // the same, with passwords configured
	}{
		"its own": {nil, nil, []string{asks, lets, "200"}, []string{asks + " Basic", lets, "200"}},
		"trusted proxy": {
			trusting,
			[]string{"X-Forwarded-For: 192.0.2.1"},
			[]string{refused, refused, refused},
			[]string{"407 Basic", "407 Basic", "407 Basic"},
		},
		"trusted proxy without a client": {
			trusting, nil,
			[]string{refused, refused, refused},
			[]string{"407 Basic", "407 Basic", "407 Basic"},
		},
		"Forwarded": {
			trusting,
			[]string{"Forwarded: for=192.0.2.1"},
			[]string{refused, refused, refused},
			[]string{"407 Basic", "407 Basic", "407 Basic"},
		},
		"Via": {
			nil,
			[]string{"Via: 1.1 front"},
			[]string{refused, refused, refused},
			[]string{"407 Basic", "407 Basic", "407 Basic"},
		},
		"unknown proxy": {
			nil,
			[]string{"X-Forwarded-For: 192.0.2.1"},
			[]string{refused, refused, refused},
			[]string{refused, refused, refused},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, withPasswords := range []bool{false, true} {
				s, p, origin := loggingIn(t, func(c *proxy.Config) {
					if tt.change != nil {
						tt.change(c)
					}
					if withPasswords {
						c.Access.Users = users(t, hashed(t, "ann", "a"))
					}
				})
				want := tt.alone
				if withPasswords {
					want = tt.both
				}
				c := s.dial(t)
				for i, token := range []string{"", "alice", ""} {
					if got := c.logsIn(t, "GET", origin, token, tt.fields...); got != want[i] {
						t.Errorf("passwords %t, %d: %s, want %s", withPasswords, i, got, want[i])
					}
				}
				if withPasswords && want[0] != refused {
					if got := c.logsIn(t, "GET", origin, basic("ann:a"), tt.fields...); got != "200" {
						t.Errorf("a password: %s", got)
					}
					if got := c.logsIn(t, "GET", origin, "", tt.fields...); !strings.HasPrefix(got, "407 ") {
						t.Errorf("behind a password: %s", got)
					}
				}
				if want[1] != lets && p.requested.Load() != 0 {
					t.Error("the program was asked")
				}
			}
		})
	}
}

// A login does not apply to a request that a relay sends on the same connection.
func TestNegotiateRelayedLater(t *testing.T) {
	s, _, origin := loggingIn(t, nil)
	c := s.dial(t)
	for _, tt := range []struct{ token, field, want string }{
		{"alice", "A: b", "200 Negotiate proof-for-alice"},
		{"", "Via: 1.1 a", "403"},
		{"", "Forwarded: for=127.0.0.2", "403"},
		{"", "A: b", "200"},
	} {
		if got := c.logsIn(t, "GET", origin, tt.token, tt.field); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.field, got, tt.want)
		}
	}
}

// A connection with a PROXY protocol header supports no login.
func TestNegotiateProxied(t *testing.T) {
	p := new(program)
	s := startOn(t, nil, func(c *proxy.Config) { c.Access.Negotiate = p },
		func(e *engine) { e.listen.ProxyProtocol = []netip.Prefix{loopback} })
	raw, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	c := newConn(raw)
	c.send(t, "PROXY TCP4 127.0.0.2 127.0.0.1 1234 80\r\n")
	if got := c.logsIn(t, "GET", "http://www.example/", "alice"); got != "403" || p.requested.Load() != 0 {
		t.Errorf("%s, asked %d times", got, p.requested.Load())
	}
}

// HTTP/2 supports no login by Negotiate.
func TestNegotiateHTTP2(t *testing.T) {
	for _, withPasswords := range []bool{false, true} {
		p := new(program)
		s := startOn(t, certificate(t), func(c *proxy.Config) {
			c.Access.Negotiate = p
			if withPasswords {
				c.Access.Users = users(t, hashed(t, "ann", "a"))
			}
		})
		response, _ := s.ask2(t, "GET", "http://www.example/", nil,
			func(r *http.Request) { r.Header.Set("Proxy-Authorization", "Negotiate alice") })
		got := fmt.Sprint(response.Proto, " ", response.StatusCode, " ", len(response.Header["Proxy-Authenticate"]))
		if want := map[bool]string{false: "HTTP/2.0 403 0", true: "HTTP/2.0 407 1"}[withPasswords]; got != want ||
			p.requested.Load() != 0 {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A connection has to log in again after a reload, and after the login has expired.
func TestNegotiateAgain(t *testing.T) {
	var clock testClock
	s, p, origin := loggingIn(t, func(c *proxy.Config) { c.Now, c.Access.LoginTTL = clock.now, time.Hour })
	c := s.dial(t)
	for i, tt := range []struct {
		before      func()
		token, want string
	}{
		{nil, "alice", "200 Negotiate proof-for-alice"},
		{func() { clock.advance(59 * time.Minute) }, "", "200"},
		{func() { clock.advance(time.Minute) }, "", "407 Negotiate"},
		{nil, "alice", "200 Negotiate proof-for-alice"},
		{func() { p.epoch.Add(1) }, "", "407 Negotiate"},
		{nil, "begin", "407 Negotiate challenge"},
		{func() { p.epoch.Add(1) }, "carol", "200 Negotiate proof-for-carol"}, // the same program continues
		{nil, "", "200"},
	} {
		if tt.before != nil {
			tt.before()
		}
		if got := c.logsIn(t, "GET", origin, tt.token); got != tt.want {
			t.Errorf("%d: %s, want %s", i, got, tt.want)
		}
	}
}

// urnd's own resources request a password, and are denied without passwords: browsers send no proxy credentials there.
func TestNegotiateOwn(t *testing.T) {
	for _, withPasswords := range []bool{false, true} {
		s, _, origin := loggingIn(t, func(c *proxy.Config) {
			if withPasswords {
				c.Access.Users = users(t, hashed(t, "ann", "a"))
			}
		})
		want := map[bool]int{false: 403, true: 401}[withPasswords]
		for _, target := range []string{"/fetch?uri=" + origin, "/http://a.example/"} {
			for _, field := range []string{
				"A: b", "Authorization: Negotiate alice",
				"Proxy-Authorization: Negotiate alice",
			} {
				response := s.get(t, target, field)
				challenge := response.Header.Get("Www-Authenticate")
				if response.StatusCode != want || withPasswords != strings.HasPrefix(challenge, "Basic ") ||
					response.Header["Proxy-Authenticate"] != nil {
					t.Errorf("passwords %t, %s, %s: %d %q", withPasswords, target, field,
						response.StatusCode, challenge)
				}
			}
		}
		if got := s.get(t, "/urn:example:a").StatusCode; got == 401 || got == 403 {
			t.Errorf("a name: %d", got)
		}
	}
}

// Policy rules and the log have the user of the connection's login.
func TestNegotiateUser(t *testing.T) {
	var seen []string
	s, _, origin := loggingIn(t, func(c *proxy.Config) {
		rules, err := policy.New(policy.ModeEnforce, []policy.Rule{{ID: "bob", Deny: true, Users: []string{"bob"}}})
		if err != nil {
			t.Fatal(err)
		}
		c.Policy = rules
		c.Observe = func(e *proxy.Event) { seen = append(seen, fmt.Sprint(e.User, " ", e.Status)) }
	})
	c := s.dial(t)
	for _, tt := range []struct{ token, want string }{
		{"bob", "403 Negotiate proof-for-bob"}, {"", "403"}, {"alice", "200 Negotiate proof-for-alice"}, {"", "200"},
	} {
		if got := c.logsIn(t, "GET", origin, tt.token); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.token, got, tt.want)
		}
	}
	s.stop()
	if want := []string{"bob 403", "bob 403", "alice 200", "alice 200"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}
