package http_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// ways are those of a test, with what has failed.
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

// via is a route through one proxy.
func via(u *schemehttp.Upstream) schemehttp.Route { return &ways{next: []*schemehttp.Upstream{u}} }

// Another way is tried where a proxy cannot be connected to, and not where it refuses or breaks off: that may be due to what is requested.
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
		"the first one breaks off":     {[]*schemehttp.Upstream{breaks, good}, 0, scheme.ErrUpstream},
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
		if (err == nil) != (tt.err == nil) || tt.err != nil && !errors.Is(err, tt.err) || len(route.failed) != tt.failed {
			t.Errorf("%s: %v, %d have failed", name, err, len(route.failed))
		}
	}
}
