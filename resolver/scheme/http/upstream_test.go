package http_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// relay copies between two connections, with half-close.
func relay(a, b net.Conn, fromA io.Reader) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(b, fromA)
		_ = b.(interface{ CloseWrite() error }).CloseWrite()
	}()
	_, _ = io.Copy(a, b)
	if half, ok := a.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	<-done
}

// httpProxy is an HTTP proxy that requires the credentials user:pass, and responds to absolute-form with the
// request. Host names resolve to the loopback address.
func httpProxy(_ int, c net.Conn, in *bufio.Reader) {
	for {
		head := readHead(in)
		if head == "" {
			return
		}
		if !strings.Contains(head,
			"\r\nProxy-Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("user:pass"))+"\r\n") {
			_, _ = io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			return
		}
		if target, ok := strings.CutPrefix(head, "CONNECT "); ok {
			target, _, _ = strings.Cut(target, " ")
			if strings.HasPrefix(target, "refused.example:") {
				_, _ = io.WriteString(c, "HTTP/1.1 403 No\r\n\r\n")
				return
			}
			_, port, _ := net.SplitHostPort(target)
			to, err := net.Dial("tcp", "127.0.0.1:"+port)
			if err != nil {
				_, _ = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
				return
			}
			defer to.Close()
			_, _ = io.WriteString(c,
				"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 Connected\r\nContent-Length: 7\r\n\r\n")
			relay(c, to, in)
			return
		}
		line, _, _ := strings.Cut(head, "\r\n")
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(line), line)
	}
}

// socksProxy is a SOCKS5 proxy that requires user:pass and host names: RFC 1928, RFC 1929.
func socksProxy(_ int, c net.Conn, in *bufio.Reader) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(in, head); err != nil || head[0] != 5 {
		return
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(in, methods); err != nil || !strings.Contains(string(methods), "\x02") {
		_, _ = c.Write([]byte{5, 0xff})
		return
	}
	_, _ = c.Write([]byte{5, 2})
	login := make([]byte, 1+1+4+1+4)
	if _, err := io.ReadFull(in, login); err != nil || string(login) != "\x01\x04user\x04pass" {
		_, _ = c.Write([]byte{1, 1})
		return
	}
	_, _ = c.Write([]byte{1, 0})
	request := make([]byte, 5)
	if _, err := io.ReadFull(in, request); err != nil || request[3] != 3 {
		_, _ = c.Write([]byte{5, 8, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	rest := make([]byte, int(request[4])+2)
	if _, err := io.ReadFull(in, rest); err != nil {
		return
	}
	host, port := string(rest[:len(rest)-2]), int(rest[len(rest)-2])<<8|int(rest[len(rest)-1])
	if host == "refused.example" {
		_, _ = c.Write([]byte{5, 2, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	to, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		_, _ = c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	defer to.Close()
	_, _ = c.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 0})
	relay(c, to, in)
}

// upstreams has a proxy of each scheme.
type upstreams struct {
	roots   *tls.Config
	proxies map[string]string // address by scheme
	servers map[string]*origin
}

func startUpstreams(t testing.TB, handle func(scheme string) func(int, net.Conn, *bufio.Reader)) upstreams {
	t.Helper()
	certified := httptest.NewTLSServer(nil)
	t.Cleanup(certified.Close)
	u := upstreams{proxies: make(map[string]string), servers: make(map[string]*origin)}
	u.roots = certified.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	for _, name := range []string{"http", "https", "socks5"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		u.proxies[name] = "127.0.0.1:" + port
		if name == "https" {
			listener = tls.NewListener(listener, &tls.Config{Certificates: certified.TLS.Certificates})
		}
		u.servers[name] = serveOn(t, listener, handle(name))
	}
	return u
}

func speak(name string) func(int, net.Conn, *bufio.Reader) {
	if name == "socks5" {
		return socksProxy
	}
	return httpProxy
}

func (u upstreams) handler(t testing.TB, name, password string, change func(*schemehttp.Config)) *schemehttp.Handler {
	return newHandler(t, func(c *schemehttp.Config) {
		c.TLS = u.roots.Clone()
		c.Upstream = func(to uri.URI) schemehttp.Route {
			if host, _ := to.Host(); host == "direct.example" {
				return nil
			}
			return via(&schemehttp.Upstream{Scheme: name, Address: u.proxies[name], User: "user", Password: password})
		}
		c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errDirect }
		c.DialUpstream = dial
		if change != nil {
			change(c)
		}
	})
}

var errDirect = errors.New("a direct connection")

func TestUpstream(t *testing.T) {
	u := startUpstreams(t, speak)
	plain := serve(t, always("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\norigin"))
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Proto, " ", r.RequestURI)
	}))
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	_, plainPort, _ := net.SplitHostPort(plain.addr)
	_, securePort, _ := net.SplitHostPort(secure.Listener.Addr().String())
	for _, tt := range []struct{ proxy, target, want string }{
		// RFC 9112 section 3.2.2.
		{"http", "http://a.example:" + plainPort + "/b?c", "GET http://a.example:" + plainPort + "/b?c HTTP/1.1"},
		{"https", "http://a.example/", "GET http://a.example/ HTTP/1.1"},
		{"socks5", "http://a.example:" + plainPort + "/b", "origin"},
		{"http", "https://example.com:" + securePort + "/b", "HTTP/2.0 /b"},
		{"https", "https://example.com:" + securePort + "/b", "HTTP/2.0 /b"},
		{"socks5", "https://example.com:" + securePort + "/b", "HTTP/2.0 /b"},
	} {
		h := u.handler(t, tt.proxy, "pass", nil)
		before := u.servers[tt.proxy].connections()
		for range 3 {
			r, text := fetch(t, h,
				scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, tt.target)}})
			if text != tt.want || r.RemoteAddr.IsValid() {
				t.Errorf("%s by %s: %q from %s", tt.target, tt.proxy, text, r.RemoteAddr)
			}
		}
		if got := u.servers[tt.proxy].connections() - before; got != 1 {
			t.Errorf("%s by %s: %d connections", tt.target, tt.proxy, got)
		}
	}
	if _, err := get(t, u.handler(t, "http", "pass", nil), "http://direct.example/"); !errors.Is(err, errDirect) {
		t.Errorf("none: %v", err)
	}
}

// TestUpstreamAbsoluteForm: one connection to an HTTP proxy carries requests to all origins. OPTIONS * has no
// path in absolute-form: RFC 9112 section 3.2.4.
func TestUpstreamAbsoluteForm(t *testing.T) {
	u := startUpstreams(t, speak)
	h := u.handler(t, "http", "pass", nil)
	for _, tt := range []struct{ method, target, want string }{
		{"GET", "http://a.example/", "GET http://a.example/ HTTP/1.1"},
		{"GET", "http://u:p@b.example:81", "GET http://b.example:81/ HTTP/1.1"},
		{"OPTIONS", "http://c.example", "OPTIONS http://c.example HTTP/1.1"},
	} {
		if _, text := fetch(t, h,
			scheme.Request{Request: httpmessage.Request{
				Method: tt.method,
				URI:    parse(t, tt.target),
			}}); text != tt.want {
			t.Errorf("%s %s: %q", tt.method, tt.target, text)
		}
	}
	if got := u.servers["http"].connections(); got != 1 {
		t.Errorf("%d connections", got)
	}
}

// TestUpstreamFailures: a proxy that denies, is silent or invalid is an unreachable origin, and its challenge
// is not forwarded to the client.
func TestUpstreamFailures(t *testing.T) {
	u := startUpstreams(t, speak)
	silent := startUpstreams(t, func(string) func(int, net.Conn, *bufio.Reader) {
		return func(_ int, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) }
	})
	short := func(c *schemehttp.Config) { c.HeaderTimeout = 50 * time.Millisecond }
	for _, name := range []string{"http", "https", "socks5"} {
		for _, target := range []string{"http://a.example/", "https://a.example/"} {
			if _, err := get(t, u.handler(t, name, "wrong", nil), target); !errors.Is(err, resolver.ErrUnreachable) ||
				strings.Contains(err.Error(),
					u.proxies[name]) || name != "socks5" && !strings.Contains(err.Error(), "response 407 ") {
				t.Errorf("%s by %s with wrong credentials: %v", target, name, err)
			}
			if _, err := get(t, silent.handler(t, name, "pass", short), target); !errors.Is(err,
				context.DeadlineExceeded) {
				t.Errorf("%s by a silent %s: %v", target, name, err)
			}
			cause := errors.New("the client left")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
			if _, err := silent.handler(t, name, "pass", nil).Fetch(ctx,
				scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t,
					target)}}); !errors.Is(err, cause) {
				t.Errorf("%s by a silent %s: %v", target, name, err)
			}
		}
		if _, err := get(t, u.handler(t, name, "pass", nil), "https://refused.example/"); !errors.Is(err,
			resolver.ErrUnreachable) {
			t.Errorf("%s that refuses: %v", name, err)
		}
		literal := scheme.Request{
			Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://[::ffff:10.0.0.1]/")},
			Check:   func(a netip.AddrPort) error { return fmt.Errorf("%w: %s", errRefused, a) },
		}
		if _, err := u.handler(t, name, "pass", nil).Fetch(t.Context(), literal); !errors.Is(err,
			resolver.ErrForbidden) || !strings.Contains(err.Error(),
			"10.0.0.1:80") {
			t.Errorf("an address by %s: %v", name, err)
		}
	}
	unknown := newHandler(t, func(c *schemehttp.Config) {
		c.Upstream = func(uri.URI) schemehttp.Route { return via(&schemehttp.Upstream{Scheme: "gopher"}) }
	})
	if _, err := get(t, unknown, "http://a.example/"); !errors.Is(err, resolver.ErrUnreachable) {
		t.Errorf("an unknown kind: %v", err)
	}
}

// TestTunnel: a tunnel carries bytes in both directions, and each can be closed alone: RFC 9110 section 9.3.6.
func TestTunnel(t *testing.T) {
	u := startUpstreams(t, speak)
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		_, _ = io.WriteString(c, "hello ")
		_, _ = io.Copy(c, in)
		_, _ = io.WriteString(c, " bye")
	})
	_, port, _ := net.SplitHostPort(o.addr)
	handlers := map[string]*schemehttp.Handler{"": newHandler(t, nil)}
	for name := range u.proxies {
		handlers[name] = u.handler(t, name, "pass", nil)
	}
	for name, h := range handlers {
		target := "a.example:" + port
		if name == "" {
			target = o.addr
		}
		c, err := h.Tunnel(t.Context(), target, func(netip.AddrPort) error { return nil })
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if known := c.RemoteAddr().String() != ""; known != (name == "") { // unknown behind a proxy
			t.Errorf("%q: the address is %s", name, c.RemoteAddr())
		}
		if _, err := io.WriteString(c, "echo"); err != nil {
			t.Error(err)
		}
		if name == "https" { // closing TLS ends both directions at this proxy
			c.Close()
			continue
		}
		if err := c.CloseWrite(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if text, err := io.ReadAll(c); err != nil || string(text) != "hello echo bye" {
			t.Errorf("%q: %q, %v", name, text, err)
		}
		c.Close()
	}
	if _, err := handlers[""].Tunnel(t.Context(), o.addr,
		func(netip.AddrPort) error { return errRefused }); !errors.Is(err,
		errRefused) || !errors.Is(err, resolver.ErrForbidden) {
		t.Errorf("a check: %v", err)
	}
	if _, err := handlers["http"].Tunnel(t.Context(), "10.0.0.1:443",
		func(netip.AddrPort) error { return errRefused }); !errors.Is(err, resolver.ErrForbidden) {
		t.Errorf("a check of an address: %v", err)
	}
	if _, err := handlers["http"].Tunnel(t.Context(), "refused.example:443", nil); !errors.Is(err,
		resolver.ErrUnreachable) {
		t.Errorf("refused: %v", err)
	}
	if _, err := handlers[""].Tunnel(t.Context(), "a b", nil); err == nil {
		t.Error("a target that is none")
	}
}
