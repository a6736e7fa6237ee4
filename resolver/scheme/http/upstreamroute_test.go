package http_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// ways is a scripted route that records failures.
type ways struct {
	next   []*schemehttp.Upstream
	failed []*schemehttp.Upstream
}

func (w *ways) Next() (u *schemehttp.Upstream, ok bool) {
	if len(w.next) == 0 {
		return nil, false
	}
	u, w.next = w.next[0], w.next[1:]
	return u, true
}

func (w *ways) Failed(u *schemehttp.Upstream, _ error) { w.failed = append(w.failed, u) }

// via returns a route through one proxy.
func via(u *schemehttp.Upstream) schemehttp.Route { return &ways{next: []*schemehttp.Upstream{u}} }

// TestRoutes: another proxy is tried if one cannot be connected to; a single other one if it closes the
// connection; and none if it denies, which may be due to the target.
func TestRoutes(t *testing.T) {
	u := startUpstreams(t, speak)
	o := serve(t, func(int, net.Conn, *bufio.Reader) {})
	_, port, _ := net.SplitHostPort(o.addr)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	cut := serve(t, func(_ int, c net.Conn, in *bufio.Reader) { _, _ = in.ReadString('\n') })
	proxy := func(address string) *schemehttp.Upstream {
		return &schemehttp.Upstream{Scheme: "http", Address: address, User: "user", Password: "pass"}
	}
	away, breaks, good := proxy(closed.Addr().String()), proxy(cut.addr), proxy(u.proxies["http"])
	wrong := &schemehttp.Upstream{Scheme: "http", Address: u.proxies["http"], User: "user", Password: "wrong"}
	for name, tt := range map[string]struct {
		next   []*schemehttp.Upstream
		failed int
		err    error
	}{
		"the first one is away":        {[]*schemehttp.Upstream{away, good}, 1, nil},
		"two are away":                 {[]*schemehttp.Upstream{away, away, good}, 2, nil},
		"all are away":                 {[]*schemehttp.Upstream{away, away}, 2, scheme.ErrUpstream},
		"none is left":                 {nil, 0, scheme.ErrUpstream},
		"the first one breaks off":     {[]*schemehttp.Upstream{breaks, good}, 0, nil},
		"two break off":                {[]*schemehttp.Upstream{breaks, breaks, good}, 0, scheme.ErrUpstream},
		"the first one refuses":        {[]*schemehttp.Upstream{wrong, good}, 0, scheme.ErrUpstream},
		"the server itself comes next": {[]*schemehttp.Upstream{away, nil, good}, 1, errDirect},
	} {
		route := &ways{next: tt.next}
		h := newHandler(t, func(c *schemehttp.Config) {
			c.TLS = u.roots.Clone()
			c.Upstream = func(uri.URI) schemehttp.Route { return route }
			c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errDirect }
			c.DialUpstream = dial
		})
		c, err := h.Tunnel(t.Context(), "a.example:"+port, nil)
		if c != nil {
			_ = c.Close()
		}
		if (err == nil) != (tt.err == nil) || tt.err != nil && !errors.Is(err, tt.err) ||
			len(route.failed) != tt.failed {
			t.Errorf("%s: %v, %d have failed", name, err, len(route.failed))
		}
	}
}

// TestLateRoutes: if a proxy is silent, one other is tried for a safe request; neither a direct connection nor
// a third proxy.
func TestLateRoutes(t *testing.T) {
	u := startUpstreams(t, speak)
	o := serve(t, func(int, net.Conn, *bufio.Reader) {})
	_, port, _ := net.SplitHostPort(o.addr)
	quiet := serve(t, func(_ int, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) })
	closes := serve(t, func(_ int, _ net.Conn, in *bufio.Reader) { _, _ = in.Peek(1) })
	silent := &schemehttp.Upstream{Scheme: "http", Address: quiet.addr}
	closed := &schemehttp.Upstream{Scheme: "http", Address: closes.addr}
	closedSOCKS := &schemehttp.Upstream{Scheme: "socks5", Address: closes.addr}
	silentSOCKS := &schemehttp.Upstream{Scheme: "socks5", Address: quiet.addr}
	good := &schemehttp.Upstream{Scheme: "http", Address: u.proxies["http"], User: "user", Password: "pass"}
	for name, tt := range map[string]struct {
		next   []*schemehttp.Upstream
		method string // CONNECT is a tunnel
		ok     bool
		left   int // proxies that were not tried
	}{
		"GET":                   {[]*schemehttp.Upstream{silent, good}, http.MethodGet, true, 0},
		"POST":                  {[]*schemehttp.Upstream{silent, good}, http.MethodPost, false, 1},
		"tunnel":                {[]*schemehttp.Upstream{silent, good}, http.MethodConnect, true, 0},
		"tunnel by SOCKS":       {[]*schemehttp.Upstream{silentSOCKS, good}, http.MethodConnect, true, 0},
		"GET, it closes":        {[]*schemehttp.Upstream{closed, good}, http.MethodGet, true, 0},
		"tunnel, it closes":     {[]*schemehttp.Upstream{closed, good}, http.MethodConnect, true, 0},
		"tunnel, SOCKS closes":  {[]*schemehttp.Upstream{closedSOCKS, good}, http.MethodConnect, true, 0},
		"GET, two are silent":   {[]*schemehttp.Upstream{silent, silent, good}, http.MethodGet, false, 1},
		"tunnel, not by itself": {[]*schemehttp.Upstream{silent, nil}, http.MethodConnect, false, 0},
		"GET, not by itself":    {[]*schemehttp.Upstream{silent, nil}, http.MethodGet, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			route := &ways{next: tt.next}
			h := newHandler(t, func(c *schemehttp.Config) {
				c.HeaderTimeout = time.Second
				c.Upstream = func(uri.URI) schemehttp.Route { return route }
				c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errDirect }
				c.DialUpstream = dial
			})
			var err error
			if tt.method == http.MethodConnect {
				var c schemehttp.Conn
				if c, err = h.Tunnel(t.Context(), "a.example:"+port, nil); err == nil {
					_ = c.Close()
				}
			} else {
				request := httpmessage.Request{Method: tt.method, URI: parse(t, "http://a.example:"+port+"/")}
				var r *scheme.Resource
				if r, err = h.Fetch(t.Context(), scheme.Request{Request: request}); err == nil {
					_ = r.Body.Close()
				}
			}
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, context.DeadlineExceeded) ||
				len(route.next) != tt.left || len(route.failed) > 0 {
				t.Errorf("%v, %d ways are left, %d have failed", err, len(route.next), len(route.failed))
			}
		})
	}
}

// hasty is a connection that reports its deadline before ctx ends.
type hasty struct{ net.Conn }

func (c hasty) SetDeadline(t time.Time) error {
	if !t.IsZero() {
		t = time.Unix(1, 0)
	}
	return c.Conn.SetDeadline(t)
}

// TestLateConnection: a SOCKS proxy is late even if its connection reports the timeout first.
func TestLateConnection(t *testing.T) {
	u := startUpstreams(t, speak)
	o := serve(t, func(int, net.Conn, *bufio.Reader) {})
	_, port, _ := net.SplitHostPort(o.addr)
	silent := serve(t, func(_ int, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) }).addr
	route := &ways{next: []*schemehttp.Upstream{
		{Scheme: "socks5", Address: silent},
		{Scheme: "http", Address: u.proxies["http"], User: "user", Password: "pass"},
	}}
	h := newHandler(t, func(c *schemehttp.Config) {
		c.HeaderTimeout = time.Minute
		c.Upstream = func(uri.URI) schemehttp.Route { return route }
		c.DialUpstream = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err == nil && address == silent {
				c = hasty{c}
			}
			return c, err
		}
	})
	c, err := h.Tunnel(t.Context(), "a.example:"+port, nil)
	if err != nil || len(route.next) > 0 || len(route.failed) > 0 {
		t.Fatalf("%v, %d ways are left, %d have failed", err, len(route.next), len(route.failed))
	}
	_ = c.Close()
}

func TestProbe(t *testing.T) {
	u := startUpstreams(t, speak)
	quiet := serve(t, func(_ int, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) })
	closes := serve(t, func(int, net.Conn, *bufio.Reader) {})
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	h := newHandler(t, func(c *schemehttp.Config) { c.TLS, c.DialUpstream = u.roots.Clone(), dial })
	for _, tt := range []struct {
		scheme, address string
		ok              bool
	}{
		{"http", u.proxies["http"], true},
		{"https", u.proxies["https"], true},
		{"socks5", u.proxies["socks5"], true},
		{"http", closes.addr, true},
		{"http", quiet.addr, false},
		{"http", gone.Addr().String(), false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if tt.address == quiet.addr {
			ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		}
		if err := h.Probe(ctx, schemehttp.Upstream{Scheme: tt.scheme, Address: tt.address}); (err == nil) != tt.ok {
			t.Errorf("%s %s: %v", tt.scheme, tt.address, err)
		}
		cancel()
	}
}
