package gopher_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/gopher"
	"github.com/urnd/urnd/uri"
)

func limits() scheme.Limits {
	return scheme.Limits{Timeout: testserver.Timeout, Entries: 1000, Bytes: 1 << 20, Line: 4 << 10}
}

func dial(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
	guard := netguard.New(time.Minute, netip.MustParsePrefix("127.0.0.0/8"))
	return guard.WithCheck(check).DialContext(ctx, network, address)
}

func handler() *gopher.Handler { return gopher.New(gopher.Config{Dial: dial, Limits: limits()}) }

// request returns a request for a URL.
func request(t testing.TB, method, url string) scheme.Request {
	t.Helper()
	u, err := uri.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return scheme.Request{Request: httpmessage.Request{Method: method, URI: u, Fields: httpmessage.Fields{}}}
}

// fetch fetches a resource that must exist.
func fetch(t testing.TB, h scheme.Handler, url string) *scheme.Resource {
	t.Helper()
	resource, err := h.Fetch(t.Context(), request(t, http.MethodGet, url))
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	t.Cleanup(func() { _ = resource.Body.Close() })
	return resource
}

// read returns the body of a resource.
func read(t testing.TB, r *scheme.Resource) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// peer is a fake server that records requests.
type peer struct {
	addr      string
	requested chan string
	count     atomic.Int32
}

// serve starts a peer that calls answer for each request, and then closes the connection.
func serve(t testing.TB, answer func(conn *net.TCPConn, line string)) *peer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{addr: listener.Addr().String(), requested: make(chan string, 64)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.count.Add(1)
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err == nil {
				p.requested <- line
				answer(conn.(*net.TCPConn), line)
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return p
}

// respond starts a peer that responds with a text.
func respond(t testing.TB, text string) *peer {
	t.Helper()
	return serve(t, func(conn *net.TCPConn, _ string) { _, _ = io.WriteString(conn, text) })
}
