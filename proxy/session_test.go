package proxy_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// asks sends a GET on a connection, and returns the status with the body, and the response.
func (c conn) asks(t testing.TB, target string, fields ...string) (string, *http.Response) {
	t.Helper()
	response := c.ask(t, "GET "+target+" HTTP/1.1\r\nHost: www.example\r\n"+strings.Join(append(fields, ""), "\r\n")+
		"\r\n")
	return fmt.Sprint(response.StatusCode, " ", text(t, response)), response
}

// with returns the header field for credentials, none for "".
func with(credentials string) []string {
	if credentials == "" {
		return nil
	}
	return []string{"Authorization: " + credentials}
}

const noClient, alice, bob = "401 who are you", "200 you are alice", "200 you are bob"

// sessionForms are the forms of access to an origin: as a client of the proxy, and through the gateway of a site.
func sessionForms(t *testing.T, o *identityOrigin, change func(*proxy.Config)) map[string]struct {
	*server
	base string
} {
	return map[string]struct {
		*server
		base string
	}{
		"forward": {start(t, func(c *proxy.Config) {
			withCache(t, c)
			if change != nil {
				change(c)
			}
		}), "http://" + o.addr},
		"gateway": {site(t, []string{o.addr}, change), ""},
	}
}

// An authenticated connection to a server is never used for another client (RFC 4559 section 6).
func TestConnectionOfClient(t *testing.T) {
	o := newIdentityOrigin(t)
	for name, s := range sessionForms(t, o, nil) {
		t.Run(name, func(t *testing.T) {
			a, b := s.dial(t), s.dial(t)
			for _, tt := range []struct {
				conn
				token, want string
			}{
				{a, "", noClient},
				{b, "", noClient},
				{a, "NTLM negotiate", noClient},
				{b, "", noClient},
				{a, "NTLM alice", alice},
				{b, "", noClient},
				{a, "", alice}, // the connection is authenticated
				{b, "Negotiate bob", bob},
				{b, "", bob},
				{a, "", alice},
				{s.dial(t), "", noClient},
			} {
				got, response := tt.asks(t, s.base+"/", with(tt.token)...)
				if got != tt.want {
					t.Errorf("%q: %s, want %s", tt.token, got, tt.want)
				}
				challenge, support := response.Header.Get("Www-Authenticate"), response.Header.Get("Proxy-Support")
				if (challenge != "") != (support == "Session-Based-Authentication") {
					t.Errorf("%q: %q with Proxy-Support %q", tt.token, challenge, support)
				}
			}
			a.Close()
			testserver.Wait(t, "the server's connection has ended with the client's",
				func() bool { return o.openOf("alice") == 0 && o.openOf("bob") == 1 })
			b.Close()
			testserver.Wait(t, "so has the other", func() bool { return o.openOf("bob") == 0 })
			if got, _ := s.dial(t).asks(t, s.base+"/"); got != noClient {
				t.Error(got)
			}
		})
	}
}

// Behind a front end with requests of several clients, and by HTTP/2, no connection belongs to one client:
// such credentials are rejected, and the challenges that request them are removed.
func TestNoConnectionOfClient(t *testing.T) {
	o := newIdentityOrigin(t)
	trusting := func(c *proxy.Config) { c.Access.Trusted = []netip.Prefix{loopback} }
	for name, tt := range map[string]struct {
		change func(*proxy.Config)
		fields []string
	}{
		"trusted proxy": {trusting, []string{"X-Forwarded-For: 192.0.2.1"}},
		"its own":       {trusting, nil},
		"Via":           {nil, []string{"Via: 1.1 front"}},
		"unknown proxy": {nil, []string{"X-Forwarded-For: 192.0.2.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := site(t, []string{o.addr}, func(c *proxy.Config) {
				c.Access.Resolve = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
				if tt.change != nil {
					tt.change(c)
				}
			})
			before := len(o.requests())
			for _, credentials := range []string{"Negotiate alice", "NTLM negotiate", "kerberos alice", "nego2 alice"} {
				got, _ := s.dial(t).asks(t, "/", append(tt.fields, "Authorization: "+credentials)...)
				if !strings.HasPrefix(got, "403 ") || !strings.Contains(got, "HTTP/1.1") {
					t.Errorf("%s: %s", credentials, got)
				}
			}
			if n := len(o.requests()) - before; n > 0 {
				t.Errorf("%d were sent", n)
			}
			if got, response := s.dial(t).asks(t, "/", tt.fields...); !strings.HasPrefix(got, "403 ") ||
				response.Header["Www-Authenticate"] != nil {
				t.Errorf("challenged: %s %v", got, response.Header)
			}
			got, response := s.dial(t).asks(t, "/basic", tt.fields...)
			requested := fmt.Sprint(response.Header["Www-Authenticate"], response.Header["Proxy-Support"])
			if want := `[Basic realm="a, NTLM b", charset="UTF-8"] []`; got != noClient || requested != want {
				t.Errorf("by another scheme, too: %s %v", got, response.Header)
			}
			for range 2 { // the second one is a cache hit
				if got, _ := s.dial(t).asks(t, "/open", tt.fields...); got != "200 for all" {
					t.Error(got)
				}
			}
		})
	}
}

// A connection that is bound to one of an origin gets no stored response: each of its requests is sent on
// that connection.
func TestBoundConnectionsGetNothingStored(t *testing.T) {
	o := newIdentityOrigin(t)
	for name, s := range sessionForms(t, o, func(c *proxy.Config) { withCache(t, c) }) {
		asked := func(c conn) (got string, sent int) {
			before := len(o.requests())
			got, _ = c.asks(t, s.base+"/open")
			return got, len(o.requests()) - before
		}
		testserver.Wait(t, "it is stored", func() bool {
			_, sent := asked(s.dial(t))
			return sent == 0
		})
		c := s.dial(t)
		if got, sent := asked(c); got != "200 for all" || sent != 0 {
			t.Errorf("%s, before it is bound: %s by %d requests", name, got, sent)
		}
		if got, _ := c.asks(t, s.base+"/", "Authorization: Negotiate alice"); got != alice {
			t.Errorf("%s: %s", name, got)
		}
		if got, sent := asked(c); got != "200 for alice" || sent != 1 {
			t.Errorf("%s, when it is bound: %s by %d requests", name, got, sent)
		}
	}
}

func TestNoConnectionOfClientByHTTP2(t *testing.T) {
	o := newIdentityOrigin(t)
	s := startOn(t, certificate(t), func(c *proxy.Config) { withCache(t, c) })
	target := "http://" + strings.Replace(o.addr, "127.0.0.1", "localhost", 1)
	for path, want := range map[string]int{"/": 403, "/basic": 401, "/open": 200} {
		response, body := s.ask2(t, "GET", target+path, nil, nil)
		if response.StatusCode != want || response.Header["Proxy-Support"] != nil ||
			strings.Contains(fmt.Sprint(response.Header["Www-Authenticate"]), "Nego") {
			t.Errorf("%s: %d %v %s", path, response.StatusCode, response.Header, body)
		}
	}
	before := len(o.requests())
	response, body := s.ask2(t, "GET", target+"/", nil,
		func(r *http.Request) { r.Header.Set("Authorization", "Negotiate alice") })
	if response.StatusCode != 403 || !strings.Contains(body, "HTTP/1.1") || len(o.requests()) > before {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	response, body = s.ask2(t, "GET", target+"/", nil,
		func(r *http.Request) { r.Header.Set("Authorization", "Custom alice") })
	if response.StatusCode != 200 || body != "you are alice" {
		t.Errorf("another scheme: %d %s", response.StatusCode, body)
	}
	if response, body := s.ask2(t, "GET", target+"/basic", nil, nil); response.StatusCode != 401 {
		t.Errorf("behind it: %d %s", response.StatusCode, body)
	}
}

// Credentials of an unknown scheme may authenticate the connection, too: it is not reused. The same holds for
// a connection on which a server has sent an unrequested token, and its response is not shared.
func TestUnknownCredentials(t *testing.T) {
	o := newIdentityOrigin(t)
	for name, s := range sessionForms(t, o, nil) {
		for _, credentials := range []string{
			"Custom alice", "negotiate\talice", "NegotiateX alice",
			"Negotiate,X alice", " \"Negotiate\" alice",
		} {
			if got, _ := s.dial(t).asks(t, s.base+"/", "Authorization: "+credentials); got != alice && got != noClient {
				t.Errorf("%s, %q: %s", name, credentials, got)
			}
			if got, _ := s.dial(t).asks(t, s.base+"/"); got != noClient {
				t.Errorf("%s, behind %q: %s", name, credentials, got)
			}
		}
	}
	for _, field := range []string{
		"WWW-Authenticate: Basic realm=a, NTLM token", "Proxy-Authenticate: Negotiate token",
		"Authentication-Info: Negotiate token", "Proxy-Authentication-Info: Kerberos token",
	} {
		reported := always(t, "HTTP/1.1 200 OK\r\n"+field+
			"\r\nCache-Control: public, max-age=60\r\nContent-Length: 2\r\n\r\nok")
		s := start(t, func(c *proxy.Config) { withCache(t, c) })
		for range 2 {
			s.get(t, "http://"+reported.addr+"/")
		}
		if reported.mu.Lock(); reported.conns != 2 {
			t.Errorf("%s: %d connections", field, reported.conns)
		}
		reported.mu.Unlock()
	}
}

// A request with such credentials is sent once: not again if the connection breaks, nor to another server of
// a site. The client learns of the end of the server's connection by the end of its own.
func TestConnectionOfClientEnds(t *testing.T) {
	o := newIdentityOrigin(t)
	for name, s := range sessionForms(t, o, nil) {
		t.Run(name, func(t *testing.T) {
			a := s.dial(t)
			if got, _ := a.asks(t, s.base+"/", "Authorization: Negotiate alice"); got != alice {
				t.Fatal(got)
			}
			before := len(o.requests())
			if got, _ := a.asks(t, s.base+"/drop"); !strings.HasPrefix(got, "502 ") {
				t.Error(got)
			}
			if n := len(o.requests()) - before; n != 1 {
				t.Errorf("sent %d times", n)
			}
			if got, _ := a.asks(t, s.base+"/"); got != noClient {
				t.Errorf("behind it: %s", got)
			}
			if got, response := a.asks(t, s.base+"/last", "Authorization: Negotiate alice"); got != alice ||
				!response.Close {
				t.Errorf("%s, close %t", got, response.Close)
			}
		})
	}
}

func TestServerOfConnection(t *testing.T) {
	one, two := newIdentityOrigin(t), newIdentityOrigin(t)
	s := site(t, []string{one.addr, two.addr}, nil)
	for range 4 {
		a := s.dial(t)
		for _, credentials := range []string{"NTLM negotiate", "NTLM alice", "", ""} {
			got, _ := a.asks(t, "/", with(credentials)...)
			if want := map[bool]string{true: noClient, false: alice}[credentials == "NTLM negotiate"]; got != want {
				t.Errorf("%s: %s", credentials, got)
			}
		}
	}
	closed := always(t, "")
	s = site(t, []string{"127.0.0.1:1", closed.addr}, nil)
	for range 2 {
		if got, _ := s.dial(t).asks(t, "/", "Authorization: Negotiate alice"); !strings.HasPrefix(got, "502 ") {
			t.Error(got)
		}
	}
	if n := len(closed.requests()); n > 1 {
		t.Errorf("%d requests were moved", n-1)
	}
}

// A client with a bound connection gets no stored response, by any form of access; others still do.
func TestStoredBesideConnection(t *testing.T) {
	o := newIdentityOrigin(t)
	for name, s := range sessionForms(t, o, nil) {
		a, b := s.dial(t), s.dial(t)
		for _, path := range []string{"/open", "/stale"} { // the second is validated in the background
			for _, c := range []conn{a, b, a, b} {
				if got, _ := c.asks(t, s.base+path); got != "200 for all" {
					t.Errorf("%s: %s", name, got)
				}
			}
		}
		a.asks(t, s.base+"/", "Authorization: Negotiate alice")
		if got := text(t,
			a.ask(t,
				"POST "+s.base+
					"/ HTTP/1.1\r\nHost: www.example\r\nContent-Length: 0\r\n\r\n")); got != "you are alice" {
			t.Errorf("%s: %s", name, got)
		}
		if got, _ := b.asks(t, s.base+"/"); got != noClient {
			t.Errorf("%s, what a POST has brought: %s", name, got)
		}
		for range 3 {
			for _, path := range []string{"/open", "/stale"} {
				if got, _ := a.asks(t, s.base+path); got != "200 for alice" {
					t.Errorf("%s: %s", name, got)
				}
				if got, response := b.asks(t, s.base+path); got != "200 for all" ||
					!strings.Contains(response.Header.Get("Cache-Status"), "hit") {
					t.Errorf("%s: %s %v", name, got, response.Header)
				}
			}
		}
	}
}

// Connections bound to clients have a limit and an idle timeout, and release their slots when they end.
func TestConnectionsOfClients(t *testing.T) {
	o := newIdentityOrigin(t)
	slots := make(quota.Semaphore, 1)
	s := start(t, func(c *proxy.Config) {
		withCache(t, c)
		c.Forward.Bound.Semaphore = slots
		c.Fetch = fetchingBy(t, func(h *schemehttp.Config) { h.IdleTimeout = 50 * time.Millisecond })
	})
	ask := func(c conn) string {
		got, _ := c.asks(t, "http://"+o.addr+"/", "Authorization: Negotiate alice")
		return got
	}
	none := func() bool { return len(slots) == 0 && o.openOf("alice") == 0 }
	a, b := s.dial(t), s.dial(t)
	slots <- struct{}{}
	if got := ask(a); !strings.HasPrefix(got, "503 ") || !strings.Contains(got, "a quarter of limits.outgoing") {
		t.Error(got)
	}
	<-slots
	for _, c := range []conn{a, b, a} {
		if got := ask(c); got != alice {
			t.Error(got)
		}
		testserver.Wait(t, "the idle connection is closed", none)
	}
	if got, _ := a.asks(t, "http://127.0.0.1:1/", "Authorization: Negotiate alice"); !strings.HasPrefix(got, "502 ") ||
		!none() {
		t.Error(got)
	}
	for _, c := range []conn{a, b} { // they end in the middle of a login
		c.send(t, "GET http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\nAuthorization: Negotiate alice\r\n\r\n")
		c.Close()
		testserver.Wait(t, "the connection has ended with its client", none)
	}
}

// An upgrade may need three messages, too. The connection then belongs to the server and the client.
func TestUpgradeOfConnection(t *testing.T) {
	o := newIdentityOrigin(t)
	s := start(t, nil)
	a := s.dial(t)
	upgrade := strings.Split(strings.TrimSpace(websocket), "\r\n")
	for _, tt := range []struct{ credentials, want string }{{"NTLM negotiate", noClient}, {"NTLM alice", alice}} {
		if got, _ := a.asks(t, "http://"+o.addr+"/",
			append(upgrade, "Authorization: "+tt.credentials)...); got != tt.want {
			t.Errorf("%s: %s", tt.credentials, got)
		}
	}
	if got, _ := s.dial(t).asks(t, "http://"+o.addr+"/"); got != noClient {
		t.Error(got)
	}
	up := upgrading(t)
	c := s.dial(t)
	c.send(t, "GET http://"+up.addr+"/ HTTP/1.1\r\nHost: a\r\nAuthorization: Negotiate alice\r\n"+websocket+
		"\r\nearly ")
	c.head(t)
	c.expect(t, "hi early ")
	c.send(t, "late")
	c.expect(t, "late")
}

// Through an upstream proxy, the connection to the proxy is bound to the client.
func TestConnectionOfClientUpstream(t *testing.T) {
	o := newIdentityOrigin(t)
	s := start(t, func(c *proxy.Config) {
		withCache(t, c)
		c.Fetch = fetchingBy(t, func(h *schemehttp.Config) {
			h.Upstream = routeVia(t, o.addr)
		})
	})
	a, b := s.dial(t), s.dial(t)
	for _, tt := range []struct {
		conn
		host, credentials, want string
	}{
		{a, "one", "NTLM negotiate", noClient},
		{a, "one", "NTLM alice", alice},
		{b, "one", "", noClient},
		{a, "two", "", noClient}, // another origin
		{a, "one", "", alice},
	} {
		if got, _ := tt.asks(t, "http://"+tt.host+".example/", with(tt.credentials)...); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.host, tt.credentials, got, tt.want)
		}
	}
}

// Requests that authenticate a connection are not collapsed with others.
func TestConnectionIsNotCollapsed(t *testing.T) {
	come, leave := make(chan bool, 2), make(chan bool)
	o := listenRaw(t, func(p *peer, c net.Conn, in *bufio.Reader) {
		for {
			request, err := readMessage(in)
			if err != nil {
				return
			}
			come <- true
			reported := "all"
			if len(field(request, "Authorization")) > 0 {
				reported = "one"
				<-leave
			}
			if _, err := fmt.Fprintf(c,
				"HTTP/1.1 200 OK\r\nCache-Control: public, max-age=60\r\nContent-Length: 3\r\n\r\n%s",
				reported); err != nil {
				return
			}
		}
	})
	s := start(t, func(c *proxy.Config) { withCache(t, c) })
	a, b := s.dial(t), s.dial(t)
	a.send(t, "GET http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\nAuthorization: Negotiate alice\r\n\r\n")
	<-come
	if got, _ := b.asks(t, "http://"+o.addr+"/"); got != "200 all" {
		t.Error(got)
	}
	leave <- true
	if head := a.head(t); !strings.HasPrefix(head, "HTTP/1.1 200 ") {
		t.Error(head)
	}
	a.expect(t, "one")
	if got, _ := b.asks(t, "http://"+o.addr+"/"); got != "200 all" {
		t.Errorf("behind it: %s", got)
	}
}
