package listen_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// The protocol of these tests consists of lines: each request is one, and so is each response.

// respond answers a request of a connection; "" closes the connection.
type respond func(c *listen.Conn, request string) (response string)

// echo answers with the request, and "from" with the IP address of the client.
func echo(c *listen.Conn, request string) string {
	if request != "from" {
		return request
	}
	host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	return host
}

// lines returns the Serve of a ServerConfig. While the server drains, a response is the last of its
// connection, and says so.
func lines(respond respond) func(*listen.Conn) {
	return func(c *listen.Conn) {
		_, err := c.Handshake()
		if errors.Is(err, listen.ErrPlainHTTP) {
			_, _ = io.WriteString(c, "no TLS\n")
			_ = c.Linger()
		}
		if err != nil {
			return
		}
		for in := bufio.NewReader(c); ; {
			if _, err := in.Peek(1); err != nil || !c.SetServing() {
				return
			}
			_ = c.SetReadDeadline(time.Now().Add(testserver.Timeout))
			request, err := in.ReadString('\n')
			if err != nil {
				return
			}
			response := respond(c, strings.TrimSuffix(request, "\n"))
			last := response == ""
			if !last && c.Draining() {
				response, last = response+" close", true
			}
			if !last {
				response += "\n"
			}
			if _, err := io.WriteString(c, response); err != nil || last {
				return
			}
			if in.Buffered() == 0 {
				c.SetIdle()
			}
		}
	}
}

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

func localListener(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// running is a server under test.
type running struct {
	*listen.Server
	addr  string
	end   context.CancelFunc // ends the context of Serve
	ended chan error         // the result of Serve
}

// start serves a listener by lines of echo until end is called; the test waits for the end.
func start(t testing.TB, listener net.Listener, change func(*listen.ServerConfig)) *running {
	t.Helper()
	config := listen.ServerConfig{
		Serve: lines(echo), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		ReadHeaderTimeout: testserver.Timeout, ShutdownTimeout: testserver.Timeout,
	}
	if change != nil {
		change(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &running{
		Server: listen.NewServer(config), addr: listener.Addr().String(), end: cancel, ended: make(chan error, 1),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ended <- s.Serve(ctx, listener)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

// serve is start for tests that end the server by stop, which waits for that.
func serve(t testing.TB, listener net.Listener, change func(*listen.ServerConfig)) (stop func()) {
	t.Helper()
	s := start(t, listener, change)
	stop = sync.OnceFunc(func() {
		s.end()
		if err := <-s.ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// caller is a client on one connection.
type caller struct {
	net.Conn
	in *bufio.Reader
}

// call connects from a loopback address.
func call(t testing.TB, addr, from string) *caller {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return newCaller(conn)
}

func newCaller(conn net.Conn) *caller {
	c := &caller{conn, bufio.NewReader(conn)}
	_ = c.SetReadDeadline(time.Now().Add(testserver.Timeout))
	return c
}

func (c *caller) send(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// expect compares the next responses.
func (c *caller) expect(t testing.TB, want ...string) {
	t.Helper()
	for i, want := range want {
		got, err := c.in.ReadString('\n')
		if strings.TrimSuffix(got, "\n") != want || err != nil && !strings.HasSuffix(got, "close") {
			t.Fatalf("response %d: %q, %v; not %q", i, got, err, want)
		}
	}
}

// expectEnd checks that the connection was closed.
func (c *caller) expectEnd(t testing.TB) {
	t.Helper()
	if got, err := c.in.ReadString('\n'); err == nil || got != "" || timedOut(err) {
		t.Fatalf("%q, %v: it is not closed", got, err)
	}
}

// ask makes a request, and reports whether it is answered.
func (c *caller) ask() bool {
	_ = c.SetReadDeadline(time.Now().Add(testserver.Timeout))
	if _, err := io.WriteString(c, "ask\n"); err != nil {
		return false
	}
	got, err := c.in.ReadString('\n')
	return err == nil && got == "ask\n"
}

// reset closes the connection by a RST.
func (c *caller) reset() {
	_ = c.Conn.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// timedOut reports whether there was no response in time.
func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
