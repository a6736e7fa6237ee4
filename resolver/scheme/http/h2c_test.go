package http_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// serveH2C serves HTTP/1.1 and HTTP/2 without TLS, and counts the connections.
func serveH2C(t testing.TB, handler http.HandlerFunc) (url string, opened *atomic.Int64) {
	t.Helper()
	o := httptest.NewUnstartedServer(handler)
	o.Config.Protocols = new(http.Protocols)
	o.Config.Protocols.SetHTTP1(true)
	o.Config.Protocols.SetUnencryptedHTTP2(true)
	opened = new(atomic.Int64)
	o.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	o.Start()
	t.Cleanup(o.Close)
	return o.URL, opened
}

func h2cRequest(t testing.TB, target string) scheme.Request {
	t.Helper()
	return scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: parse(t, target)}, H2C: true}
}

// TestH2C: a server that is known to speak HTTP/2 without TLS gets it with prior knowledge, on one connection
// (RFC 9113 section 3.3). HTTP/1.1 requests to the same address use other connections.
func TestH2C(t *testing.T) {
	origin, opened := serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		w.Header().Set(http.TrailerPrefix+"T", "u")
		fmt.Fprintf(w, "%s %s %s %q %v", r.Proto, r.Host, r.RequestURI, b, err)
	})
	h := newHandler(t, nil)
	for range 2 {
		r := h2cRequest(t, origin+"/a?b")
		r.Method, r.Host, r.Body, r.ContentLength = "POST", "www.example.org", strings.NewReader("body"), -1
		got, text := fetch(t, h, r)
		if want := `HTTP/2.0 www.example.org /a?b "body" <nil>`; text != want {
			t.Errorf("%s, want %s", text, want)
		}
		if got.Trailer.Fields.Get("T") != "u" || "http://"+got.RemoteAddr.String() != origin {
			t.Errorf("trailer %v from %v", got.Trailer, got.RemoteAddr)
		}
		_, text = fetch(t, h,
			scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: parse(t, origin+"/")}})
		if !strings.HasPrefix(text, "HTTP/1.1 ") {
			t.Errorf("without H2C: %s", text)
		}
	}
	if n := opened.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// TestH2COfHTTPS: with TLS, ALPN selects the protocol, whatever Request.H2C is.
func TestH2COfHTTPS(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }, nil)
	if _, text := fetch(t, h, h2cRequest(t, o.URL+"/")); text != "HTTP/2.0" || o.opened.Load() != 1 {
		t.Errorf("%s by %d connections", text, o.opened.Load())
	}
}

// TestH2CFailures: an HTTP/2 connection cannot be upgraded (RFC 9113 section 8.6), and a server without HTTP/2
// is an error.
func TestH2CFailures(t *testing.T) {
	origin, opened := serveH2C(t, func(http.ResponseWriter, *http.Request) {})
	h := newHandler(t, nil)
	r := h2cRequest(t, origin+"/")
	r.Fields = httpmessage.NewFields("Upgrade", "websocket")
	if _, err := h.Fetch(t.Context(), r); !errors.Is(err, resolver.ErrUnreachable) ||
		!strings.Contains(err.Error(), "HTTP/2") {
		t.Errorf("an upgrade: %v", err)
	}
	if n := opened.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
	old := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer old.Close()
	if _, err := h.Fetch(t.Context(), h2cRequest(t, old.URL+"/")); !errors.Is(err, resolver.ErrUnreachable) {
		t.Errorf("a server of HTTP/1.1: %v", err)
	}
}

// TestH2CThroughUpstream: HTTP/2 through an upstream proxy needs a tunnel, because absolute-form is HTTP/1.1.
func TestH2CThroughUpstream(t *testing.T) {
	origin, _ := serveH2C(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) })
	connects := make(chan string, 1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		in := bufio.NewReader(c)
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		connects <- request.Method + " " + request.RequestURI
		server, err := net.Dial("tcp", request.RequestURI)
		if err != nil {
			return
		}
		defer server.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(server, in) }()
		_, _ = io.Copy(c, server)
	}()
	h := newHandler(t, func(c *schemehttp.Config) {
		c.Upstream = func(uri.URI) schemehttp.Route {
			return via(&schemehttp.Upstream{Scheme: "http", Address: listener.Addr().String()})
		}
	})
	var text string
	testserver.Within(t, "the response", func() { _, text = fetch(t, h, h2cRequest(t, origin+"/")) })
	if got := <-connects; got != "CONNECT "+strings.TrimPrefix(origin, "http://") || text != "HTTP/2.0" {
		t.Errorf("%s: %s", got, text)
	}
}
