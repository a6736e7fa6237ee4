package proxy_test

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// The value of an origin's field cannot create another line for the client (RFC 9110 section 5.5, RFC 9112
// section 11.1).
func TestResponseSplitting(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct{ name, answer string }{
		{"CR in a field", "HTTP/1.1 200 OK\r\nX: a\rEvil: 1\r\nContent-Length: 0\r\n\r\n"},
		{"NUL in a field", "HTTP/1.1 200 OK\r\nX: a\x00Evil: 1\r\nContent-Length: 0\r\n\r\n"},
		{"LF in a field", "HTTP/1.1 200 OK\r\nX: a\n Evil: 1\r\nContent-Length: 0\r\n\r\n"},
		{"CR in the words", "HTTP/1.1 200 a\rEvil: 1\r\nContent-Length: 0\r\n\r\n"},
		{"NUL in the words", "HTTP/1.1 200 a\x00Evil: 1\r\nContent-Length: 0\r\n\r\n"},
		{"CR in a name", "HTTP/1.1 200 OK\r\nX\rEvil: 1\r\nContent-Length: 0\r\n\r\n"},
		{"CR in 103", "HTTP/1.1 103 a\rEvil: 1\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		{
			"CR in a field of 103",
			"HTTP/1.1 103 Early Hints\r\nLink: a\rEvil: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		},
		{"CR in a trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\rEvil: 1\r\n\r\n"},
		{
			"framing in a trailer",
			"HTTP/1.1 200 OK\r\nTrailer: Content-Length, Transfer-Encoding, Evil\r\nTransfer-Encoding: " +
				"chunked\r\n\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\n\r\n",
		},
		{"a second answer", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nEvil: 1\r\n\r\n"},
	} {
		o := always(t, tt.answer)
		answer, _ := s.bytes(t, "GET http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		head, body, _ := strings.Cut(answer, "\r\n\r\n")
		for _, line := range strings.FieldsFunc(head, func(c rune) bool { return c == '\r' || c == '\n' || c == 0 }) {
			if strings.HasPrefix(line, "Evil") {
				t.Errorf("%s: %q", tt.name, answer)
			}
		}
		if strings.Contains(body, "\r\nContent-Length: 5") || strings.Contains(body, "\nEvil:") ||
			strings.Contains(body, "\rEvil:") {
			t.Errorf("%s: %q", tt.name, answer)
		}
	}
}

// Parts of a request that are not in the cache key must not affect the stored response: cache poisoning.
func TestCachePoisoning(t *testing.T) {
	o := answering(t, func(request string) string {
		reported := "clean"
		if strings.Contains(strings.ToLower(request), "evil") {
			reported = "evil!"
		}
		return "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\n" + reported
	})
	s := start(t, func(c *proxy.Config) { withCache(t, c) })
	for i, tt := range []struct{ name, request, fields, body string }{
		{"X-Forwarded-Host", "GET %s", "X-Forwarded-Host: evil", ""},
		{"X-Forwarded-Scheme", "GET %s", "X-Forwarded-Scheme: evil", ""},
		{"X-Forwarded-Proto", "GET %s", "X-Forwarded-Proto: evil", ""},
		{"X-Forwarded-Port", "GET %s", "X-Forwarded-Port: evil", ""},
		{"X-Forwarded-Prefix", "GET %s", "X-Forwarded-Prefix: /evil", ""},
		{"X-Host", "GET %s", "X-Host: evil", ""},
		{"X-Original-URL", "GET %s", "X-Original-URL: /evil", ""},
		{"X-Rewrite-URL", "GET %s", "X-Rewrite-URL: /evil", ""},
		{"Forwarded", "GET %s", "Forwarded: for=192.0.2.1;Host=evil", ""},
		{"a method in a field", "GET %s", "X-HTTP-Method-Override: EVIL", ""},
		{"content of GET", "GET %s", "Content-Length: 4", "evil"},
		{"another Host", "GET %s", "X: 1", ""},
		{"a field in lower case", "GET %s", "x-forwarded-host: evil", ""},
		{"a method that looks like GET", "GETevil %s", "X: 1", ""},
		{"POST", "POST %s", "Content-Length: 4", "evil"},
	} {
		target := fmt.Sprintf("http://%s/%d", o.addr, i)
		host := "a"
		if tt.name == "another Host" {
			host = "evil" // the target has the authority: RFC 9112 section 3.2.2
		}
		s.ask(t, fmt.Sprintf(tt.request, target)+" HTTP/1.1\r\nHost: "+host+"\r\n"+tt.fields+"\r\n\r\n"+tt.body)
		if got := text(t, s.get(t, target)); got != "clean" {
			t.Errorf("%s: others get %q", tt.name, got)
		}
	}
	if got := s.get(t, fmt.Sprintf("http://%s/0", o.addr)).Header.Get("Cache-Status"); !strings.Contains(got,
		"urnd; hit") {
		t.Errorf("nothing is stored at all: %s", got)
	}
}

// Credentials reach only their recipient: those of the proxy are not forwarded, and the response to those of
// a user is private to that user (RFC 9110 section 11.7.2, RFC 9111 section 3.5).
func TestCredentials(t *testing.T) {
	o := answering(t, func(request string) string {
		who := "nobody"
		if got := field(request, "Authorization"); len(got) > 0 {
			who = got[0]
		}
		control := "max-age=60"
		if strings.HasPrefix(request, "GET /public") {
			control = "public, max-age=60"
		}
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: %s\r\nContent-Length: %d\r\n\r\n%s", control,
			len(who), who)
	})
	up := upgrading(t)
	s := start(t, func(c *proxy.Config) {
		withCache(t, c)
		c.Access.Users = users(t, hashed(t, "alice", "a"))
	})
	const login = "Proxy-Authorization: Basic YWxpY2U6YQ=="
	for _, who := range []string{"Basic QTpB", "Basic QjpC"} {
		for range 2 {
			if got := text(t, s.get(t, "http://"+o.addr+"/private", login, "Authorization: "+who)); got != who {
				t.Errorf("%s gets the response to %s", who, got)
			}
		}
	}
	if got := text(t, s.get(t, "http://"+o.addr+"/private", login)); got != "nobody" {
		t.Errorf("an anonymous client gets the response to %s", got)
	}
	s.get(t, "http://"+o.addr+"/public", login, "Authorization: Basic QTpB")
	if got := text(t, s.get(t, "http://"+o.addr+"/public", login)); got != "Basic QTpB" {
		t.Errorf("a public response is not shared: %s", got)
	}
	s.ask(t, "GET http://"+up.addr+"/ HTTP/1.1\r\nHost: a\r\n"+login+"\r\n"+websocket+"\r\n")
	for _, request := range append(o.requests(), up.requests()...) {
		if got := field(request, "Proxy-Authorization"); len(got) > 0 {
			t.Errorf("the origin got %q", got)
		}
	}
	if response := s.get(t,
		"http://"+o.addr+"/private"); response.StatusCode != 407 || response.Header.Get("Proxy-Authenticate") == "" ||
		!strings.Contains(response.Header.Get("Proxy-Status"), "error=http_request_denied") {
		t.Errorf("without a login: %d %v", response.StatusCode, response.Header)
	}
}

// In the default configuration urnd is no open proxy: a remote client reaches nothing through it, in any form
// of request.
func TestNoOpenProxy(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	s := startOn(t, nil, func(c *proxy.Config) {
		c.Access.Resolve = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
		c.Access.Purge = []netip.Prefix{loopback}
	}, func(e *engine) { e.listen.ProxyProtocol = []netip.Prefix{loopback} })
	// A client on a Unix domain socket has no IP address: PROXY protocol version 2, section 2.2.
	const local = "\r\n\r\n\x00\r\nQUIT\n\x21\x31\x00\xd8"
	for _, client := range []string{
		"PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n", "PROXY TCP6 2001:db8::7 2001:db8::1 1 2\r\n",
		local + strings.Repeat("\x00", 0xd8),
	} {
		for _, request := range []string{
			"GET http://%s/ HTTP/1.1\r\nHost: a", "GET HTTP://%s/ HTTP/1.1\r\nHost: a", "GET http://%s/ HTTP/1.0",
			"HEAD http://%s/ HTTP/1.1\r\nHost: a",
			"POST http://%s/ HTTP/1.1\r\nHost: a\r\nContent-Length: 0",
			"OPTIONS http://%s HTTP/1.1\r\nHost: a", "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s",
			"PURGE http://%s/ HTTP/1.1\r\nHost: a",
			"GET http://%s/ HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket",
			"GET https://%s/ HTTP/1.1\r\nHost: a", "GET ftp://%s/ HTTP/1.1\r\nHost: a",
			"GET /http://%s/ HTTP/1.1\r\nHost: a",
			"GET /uri-res/N2R?http://%s/ HTTP/1.1\r\nHost: a", "TRACE http://%s/ HTTP/1.1\r\nHost: a",
			"GET http://%s/ HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 127.0.0.1",
			"GET http://%s/ HTTP/1.1\r\nHost: a\r\nForwarded: for=127.0.0.1",
		} {
			c := s.dial(t)
			c.send(t, client+fmt.Sprintf(request, o.addr)+"\r\n\r\n")
			if head := c.head(t); !strings.HasPrefix(head[len("HTTP/1.1"):], " 403 ") {
				t.Errorf("%q, %s: %.60q", client, request, head)
			}
			c.Close()
		}
		// In origin-form the host is not that of a site: the request is for a name.
		c := s.dial(t)
		c.send(t, client+"GET / HTTP/1.1\r\nHost: "+o.addr+"\r\n\r\n")
		c.head(t)
		c.Close()
	}
	if got := o.requests(); len(got) > 0 {
		t.Errorf("the origin was asked: %q", got)
	}
}

// urnd does not connect to its own listeners as a proxy, in any form of request.
func TestOwnListenersAreNotReached(t *testing.T) {
	inner := listenRaw(t, func(p *peer, _ net.Conn, in *bufio.Reader) {
		request, _ := readMessage(in)
		p.record(request)
	})
	own := new(netguard.OwnAddrs)
	own.Set([]net.Addr{net.TCPAddrFromAddrPort(netip.MustParseAddrPort(inner.addr))})
	guard := netguard.New(time.Second, loopback, netip.MustParsePrefix("::1/128"),
		netip.MustParsePrefix("0.0.0.0/8")).WithoutOwn(own)
	fetch := schemehttp.New(schemehttp.Config{
		Dial: guard.DialContext, DialChecked: guardedDial(guard),
		HeaderTimeout: time.Second, Now: time.Now,
	})
	t.Cleanup(fetch.Close)
	s := start(t, func(c *proxy.Config) {
		c.Fetch, c.Forward.Tunnel = scheme.Mux{"http": fetch, "https": fetch}, tunnelBy(fetch)
		c.Sites = []proxy.Site{siteAt(t, nil, "http://"+inner.addr)}
		c.OwnHosts = route.NewOwnHosts("a")
	})
	_, port, _ := net.SplitHostPort(inner.addr)
	for _, request := range []string{
		"GET http://" + inner.addr + "/", "GET https://" + inner.addr + "/", "CONNECT " + inner.addr,
		"CONNECT localhost:" + port,
		"CONNECT [::ffff:127.0.0.1]:" + port,
		"GET http://localhost:" + port + "/", "GET http://[::ffff:127.0.0.1]:" + port + "/", "GET /\r\nGET",
		"POST http://" + inner.addr + "/",
	} {
		fields := " HTTP/1.1\r\nHost: a\r\n\r\n"
		if request == "GET /\r\nGET" {
			request, fields = "GET /", " HTTP/1.1\r\nHost: www.example\r\n\r\n"
		}
		c := s.dial(t)
		c.send(t, request+fields)
		if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 403 ") ||
			!strings.Contains(head, "Proxy-Status: urnd; error=destination_ip_prohibited") {
			t.Errorf("%s: %q", request, head)
		}
		c.Close()
	}
	if got := inner.requests(); len(got) > 0 {
		t.Errorf("it was reached: %q", got)
	}
}
