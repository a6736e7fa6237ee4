package listen_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// At the limit the connection that has been idle longest, of the client with the most, is closed for the new
// one (RFC 9112 section 9.5: a server may close an idle connection at any time).
func TestLimitClosesIdleConnections(t *testing.T) {
	addr, limit, _ := serveLimited(t, listen.ConnectionLimits{Connections: 6},
		listen.SocketConfig{TooManyConnections: tooMany})
	victim := call(t, addr, "127.0.0.1")
	if !victim.ask() {
		t.Fatal("the first one is not served")
	}
	var large []*caller
	for range 3 {
		large = append(large, call(t, addr, "127.0.0.2"))
	}
	testserver.Wait(t, "all are idle", func() bool { return limit.Waiting() == 4 })
	for _, c := range []*caller{large[1], large[2], large[0]} { // large[1] will have been idle longest
		if !c.ask() {
			t.Fatal("one below the limit is not served")
		}
		testserver.Wait(t, "it is idle", func() bool { return limit.Waiting() == 4 })
	}
	for range 2 {
		call(t, addr, "127.0.0.3").hold(t)
	}
	for i, want := range []*caller{large[1], large[2]} {
		if c := call(t, addr, fmt.Sprintf("127.0.0.%d", 10+i)); !c.ask() {
			t.Fatalf("%d: at the limit a new connection is not served", i)
		}
		want.expectEnd(t)
	}
	if !victim.ask() || !large[0].ask() {
		t.Error("another one is closed")
	}
	if got := limit.Connections(); got != 6 {
		t.Errorf("%d are open, where six may be", got)
	}
}

// Idle connections of nine addresses do not lock out other clients. They have sent nothing, a request, or
// data that is no request yet.
func TestIdleConnectionsAreEvicted(t *testing.T) {
	own, _ := certificates(t)
	secure := func(c *listen.ServerConfig) { c.TLS = own }
	balanced := func(c *listen.ServerConfig) { c.ProxyProtocol = prefixes("127.0.0.0/8") }
	both := func(c *listen.ServerConfig) { secure(c); balanced(c) }
	handshake := func(c *caller) *caller {
		conn := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true})
		_ = conn.Handshake()
		return newCaller(conn)
	}
	const connections = 64
	sending := func(text string) func(*caller) { return func(c *caller) { _, _ = io.WriteString(c, text) } }
	for name, tt := range map[string]struct {
		change func(*listen.ServerConfig)
		attack func(*caller)
	}{
		"that have sent nothing":                {func(*listen.ServerConfig) {}, func(*caller) {}},
		"behind a request":                      {func(*listen.ServerConfig) {}, func(c *caller) { c.ask() }},
		"with TLS that have sent nothing":       {secure, func(*caller) {}},
		"in the handshake of TLS":               {secure, sending("\x16\x03\x01\x02\x00\x01")},
		"behind the handshake of TLS":           {secure, func(c *caller) { handshake(c) }},
		"behind a request by TLS":               {secure, func(c *caller) { handshake(c).ask() }},
		"in the head of the PROXY protocol":     {balanced, sending("PROXY TCP4 192.0")},
		"behind the head of the PROXY protocol": {balanced, func(c *caller) { proxied(c, "192.0.2.1") }},
		"behind the head of it, and TLS": {both, func(c *caller) {
			proxied(c, "192.0.2.1")
			handshake(c).ask()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			limits := listen.ConnectionLimits{Connections: connections, ClientConnections: 16}
			addr, limit, _ := serveLimited(t, limits, listen.SocketConfig{}, tt.change)
			for i := range connections + 8 {
				tt.attack(call(t, addr, fmt.Sprintf("127.0.1.%d", i%9+1)))
			}
			c := call(t, addr, "127.0.0.1")
			config := new(listen.ServerConfig)
			if tt.change(config); config.ProxyProtocol != nil {
				proxied(c, "192.0.2.9")
			}
			if config.TLS != nil {
				c = handshake(c)
			}
			if !c.ask() {
				t.Error("a new client is locked out")
			}
			testserver.Wait(t, "the limit holds", func() bool { return limit.Connections() <= connections })
		})
	}
}

// proxied writes a PROXY protocol header.
func proxied(c net.Conn, from string) {
	fmt.Fprintf(c, "PROXY TCP4 %s 192.0.2.2 1 2\r\n", from)
}

// A connection in use is never closed for another one: one with a request, or a part of one.
func TestLimitClosesNothingInUse(t *testing.T) {
	own, _ := certificates(t)
	for name, use := range map[string]func(testing.TB, *caller){
		"a request":     func(t testing.TB, c *caller) { t.Helper(); c.hold(t) },
		"a part of one": func(t testing.TB, c *caller) { t.Helper(); c.send(t, "as") },
		"a part of a later one": func(t testing.TB, c *caller) {
			t.Helper()
			c.send(t, "ask\nas")
			c.expect(t, "ask")
		},
	} {
		t.Run(name, func(t *testing.T) {
			limits := listen.ConnectionLimits{Connections: 2}
			addr, _, _ := serveLimited(t, limits, listen.SocketConfig{}, func(c *listen.ServerConfig) { c.TLS = own })
			dial := func(from string) *caller {
				return newCaller(tls.Client(call(t, addr, from).Conn, &tls.Config{InsecureSkipVerify: true}))
			}
			busy := dial("127.0.0.2")
			use(t, busy)
			for range 4 { // each replaces the previous one
				if !dial("127.0.0.1").ask() {
					t.Fatal("a new one is not served")
				}
			}
			_ = busy.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			if _, err := io.Copy(io.Discard, busy.in); !timedOut(err) {
				t.Errorf("the one in use: %v", err)
			}
		})
	}
}

// A new connection that has to wait is served when one of those in use becomes idle.
func TestLimitWaitsForAnIdleConnection(t *testing.T) {
	began, end := make(chan struct{}, 2), make(chan struct{})
	limits := listen.ConnectionLimits{Connections: 2}
	addr, _, _ := serveLimited(t, limits, listen.SocketConfig{}, func(c *listen.ServerConfig) {
		c.Serve = lines(func(_ *listen.Conn, request string) string {
			if request == "held" {
				began <- struct{}{}
				<-end
			}
			return request
		})
	})
	for range 2 {
		call(t, addr, "127.0.0.2").send(t, "held\n")
		<-began
	}
	c := call(t, addr, "127.0.0.1")
	c.send(t, "a\n")
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := c.in.Peek(1); !timedOut(err) {
		t.Fatalf("beyond the limit: %v", err)
	}
	close(end)
	_ = c.SetReadDeadline(time.Now().Add(testserver.Timeout))
	c.expect(t, "a")
}

// A client behind a load balancer has its own limit, not that of the balancer.
func TestLimitOfClientsBehindTheProxyProtocol(t *testing.T) {
	limits := listen.ConnectionLimits{
		Connections: 100, ClientConnections: 2, NetworkConnections: 3, Exempt: prefixes("127.0.0.1/32"),
	}
	addr, limit, _ := serveLimited(t, limits, listen.SocketConfig{TooManyConnections: tooMany},
		func(c *listen.ServerConfig) {
			c.ProxyProtocol = prefixes("127.0.0.0/8")
		})
	open := func(from, to string) *caller {
		c := call(t, addr, "127.0.0.1")
		header := proxyproto.HeaderProxyFromAddrs(1, tcp(from), tcp(to))
		if _, err := header.WriteTo(c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for range 2 {
		open("192.0.2.1:1", "192.0.2.2:1").hold(t)
		open("[2001:db8::1]:1", "[2001:db8::9]:1").hold(t)
	}
	open("[2001:db8::2]:1", "[2001:db8::9]:1").hold(t)
	for from, to := range map[string]string{
		"[2001:db8::1]:1": "[2001:db8::9]:1", "[2001:db8::3]:1": "[2001:db8::9]:1", "192.0.2.1:1": "192.0.2.2:1",
	} {
		if got, err := io.ReadAll(open(from, to).in); err != nil || string(got) != "too many" {
			t.Errorf("%s: %q, %v", from, got, err)
		}
	}
	open("192.0.2.3:1", "192.0.2.2:1").hold(t)
	open("[2001:db8:0:1::3]:1", "[2001:db8::9]:1").hold(t)
	testserver.Wait(t, "what is refused is closed", func() bool { return limit.Connections() == 7 })
}
