package admin_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/listen"
)

// servedAdmin is an admin.Server on a socket.
type servedAdmin struct {
	socket *listen.Socket
	limit  *listen.ConnectionLimit
	end    context.CancelFunc
	ended  chan error
}

func serveAdmin(
	t *testing.T, handler http.HandlerFunc, change func(*admin.ServerConfig, *listen.ServerConfig),
) *servedAdmin {
	t.Helper()
	config := admin.ServerConfig{
		Handler: handler, Log: slog.New(slog.DiscardHandler), MaxHeaderBytes: 1 << 10,
		ReadHeaderTimeout: testserver.Timeout, IdleTimeout: testserver.Timeout,
	}
	below := listen.ServerConfig{
		Now: time.Now, Log: slog.New(slog.DiscardHandler), DisableHTTP2: true,
		ReadHeaderTimeout: testserver.Timeout, ShutdownTimeout: testserver.Timeout,
	}
	if change != nil {
		change(&config, &below)
	}
	below.Serve = admin.NewServer(config).Serve
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 99}, time.Now)
	s := &servedAdmin{limit: limit, ended: make(chan error, 1)}
	s.socket = listen.NewSocket(listener, listen.SocketConfig{Limit: s.limit})
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ended <- listen.NewServer(below).Serve(ctx, s.socket.Listener())
	}()
	t.Cleanup(func() { end(); <-done; _ = s.socket.Close() })
	return s
}

// dial returns a connection with the reader of its responses.
func (s *servedAdmin) dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", s.socket.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testserver.Timeout))
	return conn, bufio.NewReader(conn)
}

const getRequest = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"

// postTo returns the beginning of the header of a POST.
func postTo(path string) string { return "POST " + path + " HTTP/1.1\r\nHost: a\r\n" }

// roundTrip sends text, and returns a summary of the next response.
func roundTrip(t *testing.T, conn net.Conn, in *bufio.Reader, text string) string {
	t.Helper()
	_, _ = io.WriteString(conn, text) // the server may respond before it has read all
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return err.Error()
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	if response.Close {
		return fmt.Sprintf("%d %s close", response.StatusCode, body)
	}
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

func TestServer(t *testing.T) {
	s := serveAdmin(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %v %t", r.Method, r.URL.Path, body, err, r.TLS != nil)
	}, nil)
	conn, in := s.dial(t)
	for range 2 {
		for request, want := range map[string]string{
			getRequest: "200 GET /a  <nil> false",
			postTo("/b") + "Content-Length: 4\r\n\r\nbody":                         "200 POST /b body <nil> false",
			postTo("/b") + "Transfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\n": "200 POST /b b <nil> false",
		} {
			if got := roundTrip(t, conn, in, request); got != want {
				t.Errorf("%q: %q", request, got)
			}
		}
	}
	if got := roundTrip(t, conn, in, getRequest+getRequest); got != "200 GET /a  <nil> false" {
		t.Errorf("pipelined: %q", got)
	}
	if got := roundTrip(t, conn, in, ""); got != "200 GET /a  <nil> false" {
		t.Errorf("pipelined: %q", got)
	}
	large := "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n"
	if got := roundTrip(t, conn, in, large); !strings.HasPrefix(got, "431") {
		t.Errorf("a large head: %q", got)
	}
	conn, in = s.dial(t)
	if got := roundTrip(t, conn, in, "no request\r\n\r\n"); !strings.HasPrefix(got, "400") {
		t.Errorf("no request: %q", got)
	}
	if err := s.socket.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestServerTLS(t *testing.T) {
	other := httptest.NewTLSServer(nil)
	defer other.Close()
	s := serveAdmin(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.TLS.ServerName, r.TLS.NegotiatedProtocol)
	},
		func(_ *admin.ServerConfig, c *listen.ServerConfig) { c.TLS = other.TLS })
	plain, in := s.dial(t)
	if got := roundTrip(t, plain, in, getRequest); got != "400 this port requires HTTPS\n close" {
		t.Errorf("without TLS: %q", got)
	}
	conn, _ := s.dial(t)
	secure := tls.Client(conn, &tls.Config{
		InsecureSkipVerify: true, ServerName: "admin.example", NextProtos: []string{"h2", "http/1.1"},
	})
	if got := roundTrip(t, secure, bufio.NewReader(secure), getRequest); got != "200 admin.examplehttp/1.1" {
		t.Errorf("%q", got)
	}
}

// A shutdown closes idle connections, and completes a response, which is the last of its connection.
func TestServerShutdown(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	s := serveAdmin(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(began)
			<-release
		}
	}, nil)
	idle, idleIn := s.dial(t)
	if got := roundTrip(t, idle, idleIn, getRequest); got != "200 " {
		t.Errorf("%q", got)
	}
	busy, busyIn := s.dial(t)
	_, _ = io.WriteString(busy, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"+getRequest)
	<-began
	s.end()
	if got := roundTrip(t, idle, idleIn, ""); got != "unexpected EOF" && got != "EOF" {
		t.Errorf("the idle one: %q", got)
	}
	close(release)
	if got := roundTrip(t, busy, busyIn, ""); got != "200 " {
		t.Errorf("the busy one: %q", got) // started before, without Connection: close
	}
	if got := roundTrip(t, busy, busyIn, ""); got != "200  close" {
		t.Errorf("the last one: %q", got)
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// A request that exceeds the shutdown timeout is aborted: its context ends with the cause.
func TestServerShutdownTimeout(t *testing.T) {
	began, causes := make(chan struct{}), make(chan error, 1)
	s := serveAdmin(t, func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		causes <- context.Cause(r.Context())
	}, func(_ *admin.ServerConfig, c *listen.ServerConfig) { c.ShutdownTimeout = 10 * time.Millisecond })
	conn, _ := s.dial(t)
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n") // its body is missing
	<-began
	s.end()
	if cause := <-causes; !errors.Is(cause, http.ErrServerClosed) {
		t.Errorf("the context ends by %v", cause)
	}
	if err := <-s.ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve: %v", err)
	}
}

// The deadline for each part of a body also applies if the handler does not read it, and not while the
// handler responds after it.
func TestServerBodyDeadline(t *testing.T) {
	const short = 50 * time.Millisecond
	release := make(chan struct{})
	s := serveAdmin(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/read":
			_, err := io.ReadAll(r.Body)
			fmt.Fprint(w, errors.Is(err, context.DeadlineExceeded) || err != nil)
		case "/slow":
			_, _ = io.ReadAll(r.Body)
			select {
			case <-r.Context().Done():
				fmt.Fprint(w, "it has left")
			case <-release:
				fmt.Fprint(w, "slow")
			}
		}
	}, func(c *admin.ServerConfig, _ *listen.ServerConfig) {
		c.BodyDeadline = func() time.Time { return time.Now().Add(short) }
	})
	conn, in := s.dial(t)
	if got := roundTrip(t, conn, in, postTo("/read")+"Content-Length: 4\r\n\r\nbo"); !strings.HasPrefix(got,
		"200 true") {
		t.Errorf("it is read: %q", got)
	}
	conn, in = s.dial(t)
	got := roundTrip(t, conn, in, postTo("/unread")+"Content-Length: 4\r\n\r\nbo")
	if !strings.HasPrefix(got, "200 ") {
		t.Errorf("it is not read: %q", got)
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("it is not read, and the connection goes on: %v", err)
	}
	conn, in = s.dial(t)
	time.AfterFunc(4*short, func() { close(release) })
	if got := roundTrip(t, conn, in, postTo("/slow")+"Content-Length: 4\r\n\r\nbody"); got != "200 slow" {
		t.Errorf("the handler is slow: %q", got)
	}
	if got := roundTrip(t, conn, in, getRequest); got != "200 " {
		t.Errorf("the next one: %q", got)
	}
}

// A handler that hijacks a connection gets it with the buffered data, and closes it.
func TestServerHijack(t *testing.T) {
	s := serveAdmin(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			defer conn.Close()
			_, _ = io.Copy(conn, in)
		}()
	}, nil)
	conn, in := s.dial(t)
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nbehind it\n")
	for range 3 {
		if line, err := in.ReadString('\n'); err != nil || line != "behind it\n" {
			t.Fatalf("%q, %v", line, err)
		}
		_, _ = io.WriteString(conn, "behind it\n")
	}
	_ = conn.Close()
	testserver.Wait(t, "it is released", func() bool { return s.limit.Connections() == 0 })
}

// Limits and the PROXY protocol are those of package listen.
func TestServerLimits(t *testing.T) {
	proxied := func(from string, port int) string { return fmt.Sprintf("PROXY TCP4 %s 192.0.2.2 %d 2\r\n", from, port) }
	s := serveAdmin(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr) },
		func(_ *admin.ServerConfig, c *listen.ServerConfig) {
			c.ProxyProtocol = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		})
	s.limit.SetLimits(listen.ConnectionLimits{Connections: 1})
	first, firstIn := s.dial(t)
	if got := roundTrip(t, first, firstIn, proxied("192.0.2.1", 1)+getRequest); got != "200 192.0.2.1:1" {
		t.Errorf("%q", got)
	}
	second, secondIn := s.dial(t)
	if got := roundTrip(t, second, secondIn, proxied("192.0.2.3", 3)+getRequest); got != "200 192.0.2.3:3" {
		t.Errorf("%q", got)
	}
	if got := roundTrip(t, first, firstIn, ""); got != "unexpected EOF" && got != "EOF" {
		t.Errorf("the idle one: %q", got)
	}
}
