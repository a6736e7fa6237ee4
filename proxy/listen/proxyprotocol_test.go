package listen_test

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/urnd/urnd/proxy/listen"
)

func version2(
	t testing.TB, command proxyproto.ProtocolVersionAndCommand, protocol proxyproto.AddressFamilyAndProtocol,
	from, to net.Addr,
) string {
	t.Helper()
	header := proxyproto.Header{
		Version: 2, Command: command, TransportProtocol: protocol, SourceAddr: from, DestinationAddr: to,
	}
	text, err := header.Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func tcp(addr string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr)) }

// serveBehindBalancer serves connections of the load balancer 127.0.0.1.
func serveBehindBalancer(t testing.TB, change func(*listen.ServerConfig)) string {
	t.Helper()
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.ProxyProtocol = prefixes("127.0.0.1/32")
		if change != nil {
			change(c)
		}
	})
	return listener.Addr().String()
}

// The PROXY protocol, versions 1 and 2, sections 2.1 and 2.2. A client without an address is 0.0.0.0: the
// balancer's address would give it the balancer's rights.
func TestProxyProtocol(t *testing.T) {
	addr := serveBehindBalancer(t, nil)
	own, v6 := tcp(addr), tcp("[2001:db8::ff]:80")
	const tcp4, tcp6, unix = proxyproto.TCPv4, proxyproto.TCPv6, proxyproto.UnixStream
	mapped := tcp("[::ffff:203.0.113.1]:1")
	file := func(name string) net.Addr { return &net.UnixAddr{Name: name, Net: "unix"} }
	for name, tt := range map[string]struct{ header, client string }{
		"1":                     {"PROXY TCP4 203.0.113.1 192.0.2.1 4711 80\r\n", "203.0.113.1"},
		"1, IPv6":               {"PROXY TCP6 2001:db8::1 2001:db8::ff 4711 80\r\n", "2001:db8::1"},
		"1, UNKNOWN":            {"PROXY UNKNOWN\r\n", "127.0.0.1"}, // the balancer's own
		"1, UNKNOWN, addresses": {"PROXY UNKNOWN 198.51.100.1 192.0.2.1 4711 80\r\n", "127.0.0.1"},
		"2":                     {version2(t, proxyproto.PROXY, tcp4, tcp("203.0.113.1:1"), own), "203.0.113.1"},
		"2, IPv6":               {version2(t, proxyproto.PROXY, tcp6, tcp("[2001:db8::1]:1"), v6), "2001:db8::1"},
		"2, mapped":             {version2(t, proxyproto.PROXY, tcp6, mapped, v6), "203.0.113.1"},
		"2, LOCAL":              {version2(t, proxyproto.LOCAL, tcp4, tcp("198.51.100.1:1"), own), "127.0.0.1"},
		"2, socket in file":     {version2(t, proxyproto.PROXY, unix, file("/a"), file("/b")), "0.0.0.0"},
	} {
		c := call(t, addr, "127.0.0.1")
		for range 2 { // the client of a connection stays the same
			c.send(t, tt.header+"from\n")
			if got, err := c.in.ReadString('\n'); err != nil || got != tt.client+"\n" {
				t.Errorf("%s: %q, %v", name, got, err)
				break
			}
			tt.header = ""
		}
	}
}

// A sender's connection without a valid header is closed.
func TestProxyProtocolByNothing(t *testing.T) {
	addr := serveBehindBalancer(t, nil)
	good := version2(t, proxyproto.PROXY, proxyproto.TCPv4, tcp("203.0.113.1:1"), tcp(addr))
	for name, sent := range map[string]string{
		"no header":        "from\n",
		"another protocol": "\x16\x03\x01\x02\x00\x01\x00",
		"other case":       "proxy TCP4 203.0.113.1 192.0.2.1 4711 80\r\nfrom\n",
		"no address":       "PROXY TCP4 client.example 192.0.2.1 4711 80\r\nfrom\n",
		"wrong family":     "PROXY TCP4 2001:db8::1 2001:db8::ff 4711 80\r\nfrom\n",
		"no end":           "PROXY TCP4 203.0.113.1 192.0.2.1 4711 80" + strings.Repeat(" ", 200) + "\r\nfrom\n",
		"version 3":        good[:12] + "\x31" + good[13:] + "from\n",
		"cut off":          good[:14] + "\x00\x04" + good[16:20] + "from\n",
	} {
		c := call(t, addr, "127.0.0.1")
		c.send(t, sent)
		if got, err := c.in.ReadString('\n'); err == nil || got != "" || timedOut(err) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// The header of a peer that is not a configured sender is read as a request.
func TestProxyProtocolByOthers(t *testing.T) {
	addr := serveBehindBalancer(t, nil)
	const header = "PROXY TCP4 203.0.113.1 192.0.2.1 4711 80"
	for _, from := range []string{"127.0.0.2", "127.0.0.3"} {
		c := call(t, addr, from)
		c.send(t, header+"\nfrom\n")
		c.expect(t, header, from)
	}
}

// A slow sender is cut off at the header timeout, and does not delay others.
func TestProxyProtocolSlowly(t *testing.T) {
	const timeout = 200 * time.Millisecond
	addr := serveBehindBalancer(t, func(c *listen.ServerConfig) { c.ReadHeaderTimeout = timeout })
	var slow []*caller
	for _, sent := range []string{
		"", "PROXY TCP4 203.0", "\r\n\r\n\x00\r\nQUIT", "PROXY TCP4 203.0.113.1 192.0.2.1 4711 80\r\n",
	} {
		c := call(t, addr, "127.0.0.1")
		c.send(t, sent)
		slow = append(slow, c)
	}
	quick := call(t, addr, "127.0.0.1")
	quick.send(t, "PROXY TCP4 203.0.113.1 192.0.2.1 4711 80\r\nfrom\n")
	quick.expect(t, "203.0.113.1")
	for _, c := range slow {
		c.expectEnd(t)
	}
}

// With TLS the header precedes the handshake.
func TestProxyProtocolTLS(t *testing.T) {
	own, pool := certificates(t)
	addr := serveBehindBalancer(t, func(c *listen.ServerConfig) { c.TLS = own })
	c := call(t, addr, "127.0.0.1")
	c.send(t, "PROXY TCP4 203.0.113.1 192.0.2.1 4711 443\r\n")
	secure := newCaller(tls.Client(c.Conn, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}))
	secure.send(t, "from\n")
	secure.expect(t, "203.0.113.1")
}
