package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
)

const patience = 10 * time.Second

// poll waits until a condition holds.
func poll(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(time.Millisecond), time.After(patience)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("never: %s", what)
		}
	}
}

// within fails where something does not end.
func within(t testing.TB, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s does not end", what)
	}
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// serve answers connections of a listener until stop is called, which waits for the end.
func serve(t testing.TB, listener net.Listener, change func(*proxy.ServerConfig)) (stop func()) {
	t.Helper()
	config := proxy.ServerConfig{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr) }),
		Log:     slog.New(slog.DiscardHandler), MaxTarget: maxTarget, MaxHeader: 4096,
		HeaderTimeout: patience, IdleTimeout: patience, ShutdownTimeout: patience,
	}
	if change != nil {
		change(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- proxy.NewServer(config).Serve(ctx, listener) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
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

// call connects from an address of loopback.
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
	c.patient(patience)
	return c
}

func (c *caller) patient(d time.Duration) { _ = c.SetReadDeadline(time.Now().Add(d)) }

func (c *caller) send(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// status returns that of the next response, or why there is none.
func (c *caller) status() (int, string, error) {
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

const request = "GET /urn:example:a HTTP/1.1\r\nHost: a\r\n\r\n"

func (c *caller) served(t testing.TB, want int) {
	t.Helper()
	if got, body, err := c.status(); err != nil || got != want {
		t.Fatalf("%d %s, %v; want %d", got, body, err, want)
	}
}

// waits fails where there is an answer already.
func (c *caller) waits(t testing.TB) {
	t.Helper()
	c.patient(20 * time.Millisecond)
	if _, err := c.in.Peek(1); !timedOut(err) {
		t.Fatalf("it does not wait: %v", err)
	}
	c.patient(patience)
}

// timedOut reports whether a caller lost its patience.
func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
