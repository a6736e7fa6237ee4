package listen_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// serveFor runs a server that can be replaced while its daemon lives.
func serveFor(t *testing.T, handler http.Handler, shutdown time.Duration) (address string, replace, endDaemon context.CancelFunc, ended chan error) {
	t.Helper()
	listener := localListener(t)
	life, endDaemon := context.WithCancel(context.Background())
	ctx, replace := context.WithCancel(context.Background())
	ended = make(chan error, 1)
	server := listen.NewServer(listen.ServerConfig{
		Handler: handler, Now: time.Now, Log: slog.New(slog.DiscardHandler), Malformed: malformed, MaxTarget: maxTarget, MaxHeader: 4096,
		HeaderTimeout: testserver.Patience, IdleTimeout: time.Second, ShutdownTimeout: shutdown, DaemonContext: life,
	})
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() { replace(); endDaemon() })
	return listener.Addr().String(), replace, endDaemon, ended
}

// A server that is replaced cuts off neither a request that takes longer than the shutdown
// timeout, nor an idle connection, whose next response has Connection: close.
func TestReplacedServerLetsClientsFinish(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	addr, replace, _, ended := serveFor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(began)
			<-release
		}
		_, _ = io.WriteString(w, "whole")
	}), time.Nanosecond)
	idle, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	in := bufio.NewReader(idle)
	ask := func() *http.Response {
		t.Helper()
		if _, err := io.WriteString(idle, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		return response
	}
	ask()
	slow := make(chan string, 1)
	go func() {
		response, err := http.Get("http://" + addr + "/slow")
		if err != nil {
			slow <- err.Error()
			return
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		slow <- string(body)
	}()
	<-began
	replace()
	testserver.Wait(t, "nothing is accepted any more", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	testserver.Wait(t, "the idle connection is told to end", func() bool { return ask().Close })
	close(release)
	if got := <-slow; got != "whole" {
		t.Errorf("the slow request got %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A hijacked connection, as of a WebSocket, ends with the daemon, not with its server.
func TestStopEndsTakenConnections(t *testing.T) {
	taken, daemonEnding := make(chan struct{}), make(chan struct{})
	addr, replace, endDaemon, ended := serveFor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ping" {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		close(taken)
		<-r.Context().Done()
		select {
		case <-daemonEnding:
		default:
			t.Error("the connection ended before the daemon")
		}
	}), time.Nanosecond)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-taken
	idle := call(t, addr, "127.0.0.1")
	replace()
	testserver.Wait(t, "the server waits for its clients", func() bool {
		idle.send(t, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n")
		response, err := http.ReadResponse(idle.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		return response.Close
	})
	close(daemonEnding)
	endDaemon()
	if err := <-ended; err != nil && !errors.Is(err, context.DeadlineExceeded) { // there is no time to shut down in
		t.Error(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection lives on")
	}
}

// A connection that ends at the header timeout without a request is counted.
func TestUnusedConnectionsAreCounted(t *testing.T) {
	var unused atomic.Int32
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.HeaderTimeout = 10 * time.Millisecond
		c.Unused = func() { unused.Add(1) }
	})
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	testserver.Wait(t, "it is counted", func() bool { return unused.Load() == 1 })
}
