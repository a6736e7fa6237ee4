package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// peer is an origin on the level of bytes: it records requests, and sends the responses of a test.
type peer struct {
	addr string

	mu    sync.Mutex
	seen  []string // the requests, unparsed
	conns int
	open  sync.WaitGroup
}

// listenRaw starts a server whose connections are served by a function; a connection closes when it returns.
func listenRaw(t testing.TB, serve func(p *peer, c net.Conn, in *bufio.Reader)) *peer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{addr: listener.Addr().String()}
	var conns sync.Map
	p.open.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Store(c, true)
			p.mu.Lock()
			p.conns++
			p.mu.Unlock()
			p.open.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(testserver.Timeout))
				serve(p, c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		conns.Range(func(c, _ any) bool {
			if conn, ok := c.(net.Conn); ok {
				conn.Close()
			}
			return true
		})
		p.open.Wait()
	})
	return p
}

// answering starts an origin that answers each request with the returned bytes, and closes the connection if
// they do not state their length.
func answering(t testing.TB, answer func(request string) string) *peer {
	t.Helper()
	return listenRaw(t, func(p *peer, c net.Conn, in *bufio.Reader) {
		for {
			request, err := readMessage(in)
			if err != nil {
				return
			}
			p.record(request)
			message := answer(request)
			if _, err := io.WriteString(c, message); err != nil || !persists(message) {
				return
			}
		}
	})
}

func persists(response string) bool {
	head, _, _ := strings.Cut(response, "\r\n\r\n")
	lower := strings.ToLower(head)
	status := strings.TrimPrefix(lower, "http/1.1 ")
	return !strings.Contains(lower, "connection: close") &&
		(strings.Contains(lower, "content-length:") || strings.Contains(lower, "chunked") ||
			strings.HasPrefix(status, "204") || strings.HasPrefix(status, "304"))
}

// always is an origin with one response.
func always(t testing.TB, answer string) *peer {
	t.Helper()
	return answering(t, func(string) string { return answer })
}

func (p *peer) record(request string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, request)
}

// requests returns the requests received.
func (p *peer) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

// last returns the last request, "" for none.
func (p *peer) last() string {
	all := p.requests()
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// readMessage reads a request, unparsed.
func readMessage(in *bufio.Reader) (string, error) {
	head, err := readSection(in)
	if err != nil {
		return "", err
	}
	lower := strings.ToLower(head)
	if _, rest, ok := strings.Cut(lower, "\r\ncontent-length: "); ok {
		text, _, _ := strings.Cut(rest, "\r\n")
		n, _ := strconv.Atoi(text)
		body := make([]byte, n)
		_, err = io.ReadFull(in, body)
		return head + string(body), err
	}
	if !strings.Contains(lower, "\r\ntransfer-encoding: chunked") {
		return head, nil
	}
	for all := head; ; {
		line, err := in.ReadString('\n')
		if all += line; err != nil {
			return all, err
		}
		if line == "0\r\n" {
			trailers, err := readSection(in)
			return all + trailers, err
		}
	}
}

// readSection reads lines up to and including an empty one.
func readSection(in *bufio.Reader) (string, error) {
	for all := ""; ; {
		line, err := in.ReadString('\n')
		if all += line; err != nil {
			return all, err
		}
		if line == "\r\n" {
			return all, nil
		}
	}
}

// field returns the values of a field in a message.
func field(data, name string) []string {
	head, _, _ := strings.Cut(data, "\r\n\r\n")
	var values []string
	for _, line := range strings.Split(head, "\r\n")[1:] {
		if n, value, _ := strings.Cut(line, ":"); strings.EqualFold(n, name) {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

// dial connects to urnd.
func (s *server) dial(t testing.TB) conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(testserver.Timeout)); err != nil {
		t.Fatal(err)
	}
	return newConn(c)
}

// send sends bytes.
func (c conn) send(t testing.TB, data string) {
	t.Helper()
	if _, err := io.WriteString(c, data); err != nil {
		t.Fatal(err)
	}
}

// expect reads as many bytes as want has, and compares them.
func (c conn) expect(t testing.TB, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c.in, got); err != nil || string(got) != want {
		t.Fatalf("%q, %v\nwant %q", got[:n], err, want)
	}
}

// head reads a header section.
func (c conn) head(t testing.TB) string {
	t.Helper()
	head, err := readSection(c.in)
	if err != nil {
		t.Fatalf("%q: %v", head, err)
	}
	return head
}

// rest reads to the end of the connection; broken is whether that was a reset.
func (c conn) rest() (data string, broken bool) {
	all, err := io.ReadAll(c.in)
	return string(all), err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// bytes returns the complete response to a request that closes its connection.
func (s *server) bytes(t testing.TB, request string) (answer string, broken bool) {
	t.Helper()
	c := s.dial(t)
	defer c.Close()
	c.send(t, request)
	return c.rest()
}

// withCache gives a proxy an HTTP cache.
func withCache(
	t testing.TB, c *proxy.Config, change ...func(*httpcache.Config),
) *memory.Store[*httpcache.Entry] {
	t.Helper()
	store, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: 1 << 20, Size: (*httpcache.Entry).Size})
	if err != nil {
		t.Fatal(err)
	}
	cached := httpcache.Config{
		Store: store, Now: c.Now, MaxObject: 1 << 16, MaxArriving: 1 << 18, Targeted: []string{"Cdn-Cache-Control"},
		SameOrigin: func(base, reference string) (string, bool) { return base, reference == "." },
	}
	for _, f := range change {
		f(&cached)
	}
	c.Forward.Cache = httpcache.New(cached)
	t.Cleanup(func() { c.Forward.Cache.Close(); store.Close() })
	return store
}

// guardedDial and tunnelBy wire a client as the daemon does.
func guardedDial(
	guard *netguard.Guard,
) func(context.Context, string, string, func(netip.AddrPort) error) (net.Conn, error) {
	return func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
		return guard.WithCheck(check).DialContext(ctx, network, address)
	}
}

func tunnelBy(h *schemehttp.Handler) func(context.Context, string, func(netip.AddrPort) error) (net.Conn, error) {
	return func(ctx context.Context, target string, check func(netip.AddrPort) error) (net.Conn, error) {
		c, err := h.Tunnel(ctx, target, check)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}
