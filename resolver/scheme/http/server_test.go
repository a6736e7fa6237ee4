package http_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// origin is a raw server that calls a function for each connection, with the number of earlier connections.
type origin struct {
	addr string
	mu   sync.Mutex
	open int
}

// serve starts an origin. A connection is closed when handle returns.
func serve(t testing.TB, handle func(n int, c net.Conn, in *bufio.Reader)) *origin {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, listener, handle)
}

func serveOn(t testing.TB, listener net.Listener, handle func(n int, c net.Conn, in *bufio.Reader)) *origin {
	t.Helper()
	o := &origin{addr: listener.Addr().String()}
	var all sync.WaitGroup
	var conns sync.Map
	all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Store(c, true)
			o.mu.Lock()
			n := o.open
			o.open++
			o.mu.Unlock()
			all.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(testserver.Timeout))
				handle(n, c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		conns.Range(func(c, _ any) bool {
			c.(net.Conn).Close()
			return true
		})
		all.Wait()
	})
	return o
}

// connections returns the number of accepted connections.
func (o *origin) connections() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open
}

// readHead returns the lines of a request up to the empty line; "" at the end of the connection.
func readHead(in *bufio.Reader) string {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return ""
		}
		if line == "\r\n" {
			return b.String()
		}
		b.WriteString(line)
	}
}

// always sends the same response to each request without a body.
func always(response string) func(int, net.Conn, *bufio.Reader) {
	return func(_ int, c net.Conn, in *bufio.Reader) {
		for readHead(in) != "" {
			if _, err := io.WriteString(c, response); err != nil {
				return
			}
		}
	}
}

// once sends one response, and closes the connection.
func once(response string) func(int, net.Conn, *bufio.Reader) {
	return func(_ int, c net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(c, response)
	}
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// newHandler returns a Handler with keep-alive; change may be nil.
func newHandler(t testing.TB, change func(*schemehttp.Config)) *schemehttp.Handler {
	t.Helper()
	config := schemehttp.Config{Dial: dial, HeaderTimeout: testserver.Timeout, MaxIdle: 8, Now: time.Now}
	if change != nil {
		change(&config)
	}
	h := schemehttp.New(config)
	t.Cleanup(h.Close)
	return h
}

func parse(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// get fetches a URI.
func get(t testing.TB, h *schemehttp.Handler, target string) (*scheme.Resource, error) {
	t.Helper()
	return h.Fetch(t.Context(),
		scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: parse(t, target)}})
}

// body reads a body to its end, and closes it.
func body(r *scheme.Resource) (string, error) {
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return string(b), err
}

// fetch fetches a resource, and reads its body.
func fetch(t testing.TB, h *schemehttp.Handler, r scheme.Request) (*scheme.Resource, string) {
	t.Helper()
	resource, err := h.Fetch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := body(resource)
	if err != nil {
		t.Fatal(err)
	}
	return resource, text
}
