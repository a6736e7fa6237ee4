package listen_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"
	"golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// isClosed reports whether a connection was closed without an octet.
func (c *caller) isClosed() bool {
	_ = c.SetReadDeadline(time.Now().Add(testserver.Patience))
	_, err := c.in.ReadByte()
	return err != nil && !timedOut(err)
}

// ask makes a request, and reports whether it is served.
func (c *caller) ask() bool {
	_ = c.SetReadDeadline(time.Now().Add(testserver.Patience))
	if _, err := io.WriteString(c, request); err != nil {
		return false
	}
	status, _, err := c.status()
	return err == nil && status == http.StatusOK
}

// At the limit the connection that has waited longest of the largest client is closed for the new one (RFC 9112
// section 9.5: a server may close an idle connection at any time).
func TestLimitClosesIdleConnections(t *testing.T) {
	addr, limit, _ := serveLimited(t, listen.ConnectionLimits{Connections: 6}, listen.SocketConfig{TooMany: tooMany})
	victim := call(t, addr, "127.0.0.1")
	if !victim.ask() {
		t.Fatal("the first one is not served")
	}
	var large []*caller
	for range 3 {
		large = append(large, call(t, addr, "127.0.0.2"))
	}
	testserver.Wait(t, "all wait", func() bool { return limit.Waiting() == 4 })
	for _, c := range []*caller{large[1], large[2], large[0]} { // large[1] will have waited longest
		if !c.ask() {
			t.Fatal("one below the limit is not served")
		}
		testserver.Wait(t, "it waits", func() bool { return limit.Waiting() == 4 })
	}
	for range 2 {
		call(t, addr, "127.0.0.3").hold(t)
	}
	for i, want := range []*caller{large[1], large[2]} {
		if c := call(t, addr, fmt.Sprintf("127.0.0.%d", 10+i)); !c.ask() {
			t.Fatalf("%d: at the limit a new connection is not served", i)
		}
		if !want.isClosed() {
			t.Errorf("%d: the one that waited longest is not closed", i)
		}
	}
	if !victim.ask() || !large[0].ask() {
		t.Error("another one is closed")
	}
	if got := limit.Open(); got != 6 {
		t.Errorf("%d are open, where six may be", got)
	}
}

// What the issue saw: idle connections of nine addresses locked everybody out. They have sent nothing, a request, or
// whatever is no request yet.
func TestIdleConnectionsLockNobodyOut(t *testing.T) {
	own, _ := certificates(t)
	secure := func(c *listen.ServerConfig) { c.TLS = own }
	balanced := func(c *listen.ServerConfig) { c.ProxyProtocol = prefixes("127.0.0.0/8") }
	const connections = 64
	for name, tt := range map[string]struct {
		change func(*listen.ServerConfig)
		attack func(*caller)
	}{
		"that have sent nothing":                {func(*listen.ServerConfig) {}, func(*caller) {}},
		"behind a request":                      {func(*listen.ServerConfig) {}, func(c *caller) { c.ask() }},
		"with TLS that have sent nothing":       {secure, func(*caller) {}},
		"in the handshake of TLS":               {secure, func(c *caller) { _, _ = io.WriteString(c, "\x16\x03\x01\x02\x00\x01") }},
		"behind the handshake of TLS":           {secure, func(c *caller) { _ = tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}).Handshake() }},
		"by HTTP/2 without streams":             {secure, func(c *caller) { http2Idle(t, c) }},
		"in the head of the PROXY protocol":     {balanced, func(c *caller) { _, _ = io.WriteString(c, "PROXY TCP4 192.0") }},
		"behind the head of the PROXY protocol": {balanced, func(c *caller) { _, _ = io.WriteString(c, "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n") }},
		"behind the head of it, and the TLS in front": {func(c *listen.ServerConfig) { secure(c); balanced(c) }, func(c *caller) {
			proxied(c,
				"192.0.2.1")
			http2Idle(t, c)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			addr, limit, _ := serveLimited(t, listen.ConnectionLimits{Connections: connections, ClientConnections: 16}, listen.SocketConfig{}, tt.change)
			for i := range connections + 8 {
				tt.attack(call(t, addr, fmt.Sprintf("127.0.1.%d", i%9+1)))
			}
			c := call(t, addr, "127.0.0.1")
			config := new(listen.ServerConfig)
			if tt.change(config); config.ProxyProtocol != nil {
				proxied(c, "192.0.2.9")
			}
			if config.TLS != nil {
				c = newCaller(tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}))
			}
			if !c.ask() {
				t.Error("a new client is locked out")
			}
			testserver.Wait(t, "the limit holds", func() bool { return limit.Open() <= connections })
		})
	}
}

// proxied writes the head of the PROXY protocol.
func proxied(c net.Conn, from string) {
	fmt.Fprintf(c, "PROXY TCP4 %s 192.0.2.2 1 2\r\n", from)
}

// http2Idle makes a request by HTTP/2, and leaves the connection open.
func http2Idle(t testing.TB, c *caller) *http2.Framer {
	t.Helper()
	conn := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	framer := openHTTP2(conn)
	writeRequest(framer, 1)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if end, ok := frame.(*http2.HeadersFrame); ok && end.StreamEnded() {
			return framer
		}
	}
}

// A connection in use is never closed for another one: one with a request, a part of its head, a body under way, a
// stream by HTTP/2, or a tunnel. The new one waits, and is served when one of them waits.
func TestLimitClosesNothingInUse(t *testing.T) {
	own, _ := certificates(t)
	for name, use := range map[string]func(testing.TB, *caller){
		"a request":     func(t testing.TB, c *caller) { t.Helper(); c.hold(t) },
		"a part of one": func(t testing.TB, c *caller) { t.Helper(); c.send(t, "GET /urn:exam") },
		"a part of a later one": func(t testing.TB, c *caller) {
			t.Helper()
			c.send(t, request+"GET /urn:exam")
			c.served(t, 200)
		},
		"a stream": func(t testing.TB, c *caller) {
			t.Helper()
			framer := openHTTP2(c.Conn)
			writeHeld(framer, 1)
			for {
				frame, err := framer.ReadFrame()
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := frame.(*http2.HeadersFrame); ok {
					return
				}
			}
		},
		"a part of a head by HTTP/2": func(t testing.TB, c *caller) {
			t.Helper()
			framer := openHTTP2(c.Conn)
			writePart(framer, 1)
			awaitSettings(t, framer)
		},
	} {
		t.Run(name, func(t *testing.T) {
			addr, _, _ := serveLimited(t, listen.ConnectionLimits{Connections: 2}, listen.SocketConfig{}, func(c *listen.ServerConfig) { c.TLS = own })
			dial := func(from string, protocols ...string) *caller {
				return newCaller(tls.Client(call(t, addr, from).Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}))
			}
			protocol := "http/1.1"
			if strings.Contains(name, "stream") || strings.Contains(name, "HTTP/2") {
				protocol = "h2"
			}
			busy := dial("127.0.0.2", protocol)
			use(t, busy)
			for range 4 { // each takes the place of the one before
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

// A new connection that has to wait is served when one of those in use waits for a request.
func TestLimitWaitsForAnIdleConnection(t *testing.T) {
	began, end := make(chan struct{}, 2), make(chan struct{})
	addr, _, _ := serveLimited(t, listen.ConnectionLimits{Connections: 2}, listen.SocketConfig{}, func(c *listen.ServerConfig) {
		c.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/held" {
				began <- struct{}{}
				<-end
			}
		})
	})
	for range 2 {
		call(t, addr, "127.0.0.2").send(t, held)
		<-began
	}
	c := call(t, addr, "127.0.0.1")
	c.send(t, request)
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := c.in.Peek(1); !timedOut(err) {
		t.Fatalf("beyond the limit: %v", err)
	}
	close(end)
	if _ = c.SetReadDeadline(time.Now().Add(testserver.Patience)); true {
		c.served(t, 200)
	}
}

// The client of a load balancer has its own limit, not that of the balancer.
func TestLimitOfClientsBehindTheProxyProtocol(t *testing.T) {
	limits := listen.ConnectionLimits{Connections: 100, ClientConnections: 2, NetworkConnections: 3, Exempt: prefixes("127.0.0.1/32")}
	addr, limit, _ := serveLimited(t, limits, listen.SocketConfig{TooMany: tooMany}, func(c *listen.ServerConfig) { c.ProxyProtocol = prefixes("127.0.0.0/8") })
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
	for _, from := range []string{"[2001:db8::1]:1", "[2001:db8::3]:1"} {
		c := open(from, "[2001:db8::9]:1")
		c.send(t, request)
		c.served(t, 429)
	}
	c := open("192.0.2.1:1", "192.0.2.2:1")
	c.send(t, request)
	c.served(t, 429)
	open("192.0.2.3:1", "192.0.2.2:1").hold(t)
	open("[2001:db8:0:1::3]:1", "[2001:db8::9]:1").hold(t)
	testserver.Wait(t, "what is refused is closed", func() bool { return limit.Open() == 7 })
}
