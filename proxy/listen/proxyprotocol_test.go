package listen_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// newHandler returns a Handler that redirects clients that may resolve names.
func newHandler(t testing.TB, access gate.Access) http.Handler {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	return proxy.New(proxy.Config{
		Resolver: resolver.Func(func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{Locations: []resolver.Location{{URI: "https://a.example/", From: &resolver.Source{Name: "test"}}}, TTL: time.Minute}, nil
		}),
		Names: resolver.Names{Set: set, Accept: uri.CurrentURN}, Fetch: scheme.Mux{},
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Access: access, Own: route.NewOwnHosts("a"), MaxTarget: maxTarget,
	})
}

func version2(t testing.TB, command proxyproto.ProtocolVersionAndCommand, protocol proxyproto.AddressFamilyAndProtocol, from, to net.Addr) string {
	t.Helper()
	header := proxyproto.Header{Version: 2, Command: command, TransportProtocol: protocol, SourceAddr: from, DestinationAddr: to}
	text, err := header.Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func tcp(addr string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr)) }

// serveBehindBalancer serves connections of the load balancer 127.0.0.1, for clients of some
// networks.
func serveBehindBalancer(t testing.TB, change func(*listen.ServerConfig)) string {
	t.Helper()
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.Handler = newHandler(t, gate.Access{Resolve: prefixes("203.0.113.0/24", "2001:db8::/32", "127.0.0.1/32", "127.0.0.2/32"), Trusted: prefixes("203.0.113.9/32")})
		c.ProxyProtocol = prefixes("127.0.0.1/32")
		if change != nil {
			change(c)
		}
	})
	return listener.Addr().String()
}

// The PROXY protocol, versions 1 and 2, sections 2.1 and 2.2.
func TestProxyProtocol(t *testing.T) {
	addr := serveBehindBalancer(t, nil)
	own, v6 := tcp(addr), tcp("[2001:db8::ff]:80")
	const tcp4, tcp6 = proxyproto.TCPv4, proxyproto.TCPv6
	forwardedBy := "GET /urn:example:a HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: %\r\n\r\n"
	for name, tt := range map[string]struct {
		header, request string
		status          int
	}{
		"1":                     {"PROXY TCP4 203.0.113.1 192.0.2.1 4711 80\r\n", request, 302},
		"1, no client":          {"PROXY TCP4 198.51.100.1 192.0.2.1 4711 80\r\n", request, 403},
		"1, IPv6":               {"PROXY TCP6 2001:db8::1 2001:db8::ff 4711 80\r\n", request, 302},
		"1, IPv6, other":        {"PROXY TCP6 2001:db9::1 2001:db8::ff 4711 80\r\n", request, 403},
		"1, UNKNOWN":            {"PROXY UNKNOWN\r\n", request, 302}, // it is the balancer's own
		"1, UNKNOWN, addresses": {"PROXY UNKNOWN 198.51.100.1 192.0.2.1 4711 80\r\n", request, 302},
		"1, trusted":            {"PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\n", strings.Replace(forwardedBy, "%", "198.51.100.1", 1), 403},
		"1, behind":             {"PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\n", strings.Replace(forwardedBy, "%", "203.0.113.1", 1), 302},
		"1, not trusted":        {"PROXY TCP4 198.51.100.1 192.0.2.1 4711 80\r\n", strings.Replace(forwardedBy, "%", "203.0.113.1", 1), 403},
		"2":                     {version2(t, proxyproto.PROXY, tcp4, tcp("203.0.113.1:1"), own), request, 302},
		"2, no client":          {version2(t, proxyproto.PROXY, tcp4, tcp("198.51.100.1:1"), own), request, 403},
		"2, IPv6":               {version2(t, proxyproto.PROXY, tcp6, tcp("[2001:db8::1]:1"), v6), request, 302},
		"2, mapped":             {version2(t, proxyproto.PROXY, tcp6, tcp("[::ffff:203.0.113.1]:1"), v6), request, 302},
		"2, LOCAL":              {version2(t, proxyproto.LOCAL, tcp4, tcp("198.51.100.1:1"), own), request, 302},
		"2, socket in file": {version2(t, proxyproto.PROXY, proxyproto.UnixStream, &net.UnixAddr{Name: "/a", Net: "unix"}, &net.UnixAddr{
			Name: "/b",
			Net:  "unix",
		}), request, 403},
	} {
		c := call(t, addr, "127.0.0.1")
		for range 2 { // the client of a connection stays the same
			c.send(t, tt.header+tt.request)
			if got, body, err := c.status(); err != nil || got != tt.status {
				t.Errorf("%s: %d %s, %v", name, got, body, err)
				break
			}
			tt.header = ""
		}
	}
}

// A connection of a sender without a valid header is closed.
func TestProxyProtocolByNothing(t *testing.T) {
	addr := serveBehindBalancer(t, nil)
	good := version2(t, proxyproto.PROXY, proxyproto.TCPv4, tcp("203.0.113.1:1"), tcp(addr))
	for name, says := range map[string]string{
		"no header":        request,
		"another protocol": "\x16\x03\x01\x02\x00\x01\x00",
		"other case":       "proxy TCP4 203.0.113.1 192.0.2.1 4711 80\r\n" + request,
		"no address":       "PROXY TCP4 client.example 192.0.2.1 4711 80\r\n" + request,
		"wrong family":     "PROXY TCP4 2001:db8::1 2001:db8::ff 4711 80\r\n" + request,
		"no end":           "PROXY TCP4 203.0.113.1 192.0.2.1 4711 80" + strings.Repeat(" ", 200) + "\r\n" + request,
		"version 3":        good[:12] + "\x31" + good[13:] + request,
		"cut off":          good[:14] + "\x00\x04" + good[16:20] + request,
	} {
		c := call(t, addr, "127.0.0.1")
		c.send(t, says)
		if status, body, err := c.status(); err == nil {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// The header of a peer that is not a configured sender is not used.
func TestProxyProtocolByOthers(t *testing.T) {
	addr := serveBehindBalancer(t, nil)
	c := call(t, addr, "127.0.0.2")
	c.send(t, request)
	c.served(t, 302)
	for _, header := range []string{"PROXY TCP4 203.0.113.1 192.0.2.1 4711 80\r\n", version2(t, proxyproto.PROXY, proxyproto.TCPv4, tcp("203.0.113.1:1"),
		tcp(addr))} {
		for _, from := range []string{"127.0.0.2", "127.0.0.3"} {
			c := call(t, addr, from)
			c.send(t, header+request)
			if status, body, err := c.status(); err == nil && status != http.StatusBadRequest {
				t.Errorf("%q of %s: %d %s", header, from, status, body)
			}
		}
	}
}

// A slow sender is cut off at the header timeout, and does not delay others.
func TestProxyProtocolSlowly(t *testing.T) {
	const timeout = 200 * time.Millisecond
	addr := serveBehindBalancer(t, func(c *listen.ServerConfig) { c.HeaderTimeout = timeout })
	var slow []*caller
	for _, says := range []string{
		"", "PROXY TCP4 203.0", "\r\n\r\n\x00\r\nQUIT", "PROXY TCP4 203.0.113.1 192.0.2.1 4711 80\r\n",
		"PROXY TCP4 203.0.113.1 192.0.2.1 4711 80\r\nGET ",
	} {
		c := call(t, addr, "127.0.0.1")
		c.send(t, says)
		slow = append(slow, c)
	}
	quick := call(t, addr, "127.0.0.1")
	quick.send(t, "PROXY TCP4 203.0.113.1 192.0.2.1 4711 80\r\n"+request)
	quick.served(t, 302)
	for i, c := range slow {
		if status, body, err := c.status(); err == nil && status/100 != 4 || timedOut(err) {
			t.Errorf("%d. %d %s, %v", i, status, body, err)
		}
	}
}

// Over TLS the header goes before the handshake.
func TestProxyProtocolTLS(t *testing.T) {
	own, pool := certificates(t)
	addr := serveBehindBalancer(t, func(c *listen.ServerConfig) { c.TLS = own })
	for from, status := range map[string]int{"203.0.113.1": 302, "198.51.100.1": 403} {
		c := call(t, addr, "127.0.0.1")
		c.send(t, "PROXY TCP4 "+from+" 192.0.2.1 4711 443\r\n")
		secure := newCaller(tls.Client(c.Conn, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}))
		secure.send(t, request)
		secure.served(t, status)
	}
}
