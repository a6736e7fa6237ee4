package listen_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/problem"
)

const maxTarget = 1024

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// malformed and tooMany return refusals as the daemon does.
func malformed(m listen.Malformed) listen.Document {
	return document(problem.Malformed(m.Status, m.Reason, m.Target, maxTarget, m.PlainHTTP))
}

func tooMany() listen.Document { return document(problem.ErrConnections) }

func document(err error) listen.Document {
	status, contentType, body := problem.Short(err)
	return listen.Document{Status: status, ContentType: contentType, Body: body}
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

// serve answers connections of a listener until stop is called, which waits for the end.
func serve(t testing.TB, listener net.Listener, change func(*listen.ServerConfig)) (stop func()) {
	t.Helper()
	config := listen.ServerConfig{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr) }),
		Now:     time.Now, Log: slog.New(slog.DiscardHandler), Malformed: malformed, MaxTarget: maxTarget, MaxHeader: 4096,
		HeaderTimeout: testserver.Patience, IdleTimeout: testserver.Patience, ShutdownTimeout: testserver.Patience,
	}
	if change != nil {
		change(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- listen.NewServer(config).Serve(ctx, listener) }()
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
	_ = c.SetReadDeadline(time.Now().Add(testserver.Patience))
	return c
}

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

// timedOut reports whether there was no answer in time.
func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
