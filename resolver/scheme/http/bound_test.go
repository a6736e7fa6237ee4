package http_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// TestBoundConnection requires that a bound connection is used by no other request, before and after, and ends
// once.
func TestBoundConnection(t *testing.T) {
	o := serve(t, always(empty))
	h := newHandler(t, func(c *schemehttp.Config) { c.MaxIdle = 1 })
	u := parse(t, "http://"+o.addr+"/")
	ended := 0
	bound := scheme.NewBoundConn(func() { ended++ })
	for i, tt := range []struct {
		bound       *scheme.BoundConn
		connections int
	}{{nil, 1}, {bound, 2}, {nil, 2}, {bound, 2}, {bound, 2}} {
		fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: u}, Bound: tt.bound})
		if got := o.connections(); got != tt.connections {
			t.Errorf("%d: %d connections, want %d", i, got, tt.connections)
		}
	}
	if !bound.Reusable() || ended != 0 {
		t.Error("it has ended")
	}
	deny := func(netip.AddrPort) error { return errors.New("no") }
	if _, err := h.Fetch(t.Context(),
		scheme.Request{Request: httpmessage.Request{Method: "GET", URI: u}, Bound: bound, Check: deny}); !errors.Is(err,
		resolver.ErrForbidden) || ended != 1 {
		t.Errorf("a server that must not be asked: %v, ended %d", err, ended)
	}
	bound.End()
	if bound.Reusable() || ended != 1 {
		t.Errorf("ended %d", ended)
	}
	if fetch(t, h, scheme.Request{
		Request: httpmessage.Request{Method: "GET", URI: u},
		Bound:   bound,
	}); bound.Reusable() {
		t.Error("it waits behind its end")
	}
}

// TestBoundOnce requires that a bound request is sent once, even if RFC 9112 section 9.3.1 allows a retry.
func TestBoundOnce(t *testing.T) {
	var sent atomic.Int32
	o := serve(t, func(n int, c net.Conn, in *bufio.Reader) {
		for i := range 2 {
			if readHead(in) == "" {
				return
			}
			sent.Add(1)
			if i == 0 {
				_, _ = io.WriteString(c, empty)
			}
		}
	})
	h := newHandler(t, nil)
	bound := scheme.NewBoundConn(func() {})
	request := scheme.Request{
		Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")},
		Bound:   bound,
	}
	fetch(t, h, request)
	if _, err := h.Fetch(t.Context(), request); !errors.Is(err, resolver.ErrUnreachable) || sent.Load() != 2 ||
		o.connections() != 1 || bound.Reusable() {
		t.Errorf("%v, sent %d times on %d connections", err, sent.Load(), o.connections())
	}
}

// TestBoundIdle requires that an idle bound connection is closed after its timeout, and when the server has
// closed it.
func TestBoundIdle(t *testing.T) {
	for name, handle := range map[string]func(int, net.Conn, *bufio.Reader){
		"timeout": always(empty),
		"server":  once(empty),
	} {
		h := newHandler(t, func(c *schemehttp.Config) {
			if name == "timeout" {
				c.IdleTimeout = time.Millisecond
			}
		})
		var ended atomic.Bool
		bound := scheme.NewBoundConn(func() { ended.Store(true) })
		fetch(t, h,
			scheme.Request{Request: httpmessage.Request{
				Method: "GET",
				URI:    parse(t, "http://"+serve(t, handle).addr+"/"),
			}, Bound: bound})
		testserver.Wait(t, name+" ends it",
			func() bool { return ended.Load() || name == "server" && !bound.Reusable() })
	}
}

// TestBoundByHTTP2: HTTP/2 connections are shared, so a bound request uses HTTP/1.1. An HTTP/2 connection that
// is authenticated nevertheless is no longer shared.
func TestBoundByHTTP2(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
		if r.URL.Path == "/token" {
			w.Header().Set("WWW-Authenticate", "Negotiate token")
		}
	}, nil)
	bound := scheme.NewBoundConn(func() {})
	custom := httpmessage.NewFields("Authorization", "Custom a")
	for i, tt := range []struct {
		path   string
		header httpmessage.Fields
		bound  *scheme.BoundConn
		proto  string
		opened int64
	}{
		{"/", nil, nil, "HTTP/2.0", 1},
		{"/", nil, bound, "HTTP/1.1", 2},
		{"/", nil, nil, "HTTP/2.0", 2},
		{"/", custom, nil, "HTTP/2.0", 3},
		{"/", custom, nil, "HTTP/2.0", 4},
		{"/", nil, nil, "HTTP/2.0", 4},
		{"/token", nil, nil, "HTTP/2.0", 4},
		{"/", nil, nil, "HTTP/2.0", 5},
		{"/", nil, bound, "HTTP/1.1", 5},
	} {
		r, _ := fetch(t, h,
			scheme.Request{
				Request: httpmessage.Request{Method: "GET", URI: parse(t, o.URL+tt.path), Fields: tt.header},
				Bound:   tt.bound,
			})
		if got := r.Fields.Get("X-Proto"); got != tt.proto || o.opened.Load() != tt.opened {
			t.Errorf("%d: %s, %d connections, want %d", i, got, o.opened.Load(), tt.opened)
		}
	}
	bound.End()
	testserver.Wait(t, "all but the shared one are closed", func() bool { return o.closed.Load() == 4 })
}
