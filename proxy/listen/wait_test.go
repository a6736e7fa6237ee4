package listen_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// waits are the contexts of a request of TestClientLeaves.
type waits struct{ ctx, half context.Context }

// The context of a waiting request ends when its client has disconnected, and not at a half-close, which ends
// HalfClosed. Data that the client sends after the request is not read meanwhile.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		for _, halfClose := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, half-closed before %t", name, halfClose), func(t *testing.T) {
				t.Parallel()
				began := make(chan waits, 1)
				dial := serveOnce(t, listen.SocketConfig{}, secure, func(c *listen.Conn) {
					ctx := c.BeginWait()
					defer c.EndWait()
					began <- waits{ctx, c.HalfClosed()}
					<-ctx.Done()
				})
				c := dial()
				c.send(t, "a")
				c.send(t, "another request")
				w := <-began
				socket, ok := c.Conn.(*net.TCPConn)
				if !ok {
					socket, _ = c.Conn.(*tls.Conn).NetConn().(*net.TCPConn)
				}
				if halfClose {
					if err := socket.CloseWrite(); err != nil {
						t.Fatal(err)
					}
					testserver.Within(t, "the end of the client's side by "+name, func() { <-w.half.Done() })
					if w.ctx.Err() != nil {
						t.Errorf("%s: a half-close ends the wait", name)
					}
				}
				_ = socket.SetLinger(0)
				_ = socket.Close()
				testserver.Within(t, "the end of the client by "+name, func() { <-w.ctx.Done() })
			})
		}
	}
}

// Waits may be nested, and share one context. It ends with the connection, also for a wait that begins after that.
func TestNestedWaits(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	dial := serveOnce(t, listen.SocketConfig{}, false, func(c *listen.Conn) {
		defer close(done)
		first, second := c.BeginWait(), c.BeginWait()
		c.EndWait()
		if first != second || first.Err() != nil {
			t.Errorf("two waits have two contexts, or %v", first.Err())
		}
		_, _ = io.Copy(io.Discard, c) // until the client has disconnected
		select {
		case <-first.Done():
		case <-time.After(testserver.Timeout):
			t.Error("the wait that has not ended is not watched")
		}
		c.EndWait()
		_ = c.Close()
		if third := c.BeginWait(); third.Err() == nil {
			t.Error("a context of a connection that was closed")
		}
		c.EndWait()
		if c.HalfClosed().Err() == nil {
			t.Error("it is not known that the client has ended its side")
		}
	})
	c := dial()
	c.send(t, "a")
	c.reset()
	testserver.Within(t, "the connection", func() { <-done })
}

// A waiting request keeps its connection in use: it is not idle, and is not closed for another one.
func TestWaitingIsNotIdle(t *testing.T) {
	limits := listen.ConnectionLimits{Connections: 2}
	addr, _, _ := serveLimited(t, limits, listen.SocketConfig{})
	held := call(t, addr, "127.0.0.1")
	held.hold(t)
	for range 3 {
		if !call(t, addr, "127.0.0.2").ask() {
			t.Fatal("a new one is not served")
		}
	}
	_ = held.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := held.in.ReadByte(); !timedOut(err) {
		t.Errorf("the one that waits: %v", err)
	}
}

// Await returns when data arrives, at the end of the client's side, at its deadline, and when the connection
// is dismissed. It consumes no data, even if it has to read ahead.

func TestAwait(t *testing.T) {
	own, _ := certificates(t)
	for name, tt := range map[string]struct{ secure, inMemory bool }{
		"plain": {false, false}, "TLS": {true, false}, "in memory": {false, true}, "TLS in memory": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			awaited := make(chan error)
			got := make(chan string)
			serveConn := func(c *listen.Conn) {
				if _, err := c.Handshake(); err != nil {
					t.Error(err)
				}
				_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
				if _, err := c.Read(make([]byte, 1)); !timedOut(err) {
					t.Errorf("before Await: %v", err)
				}
				_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
				awaited <- c.Await()
				for range 2 {
					_ = c.SetReadDeadline(time.Now().Add(testserver.Timeout))
					awaited <- c.Await()
					p := make([]byte, 9)
					n, err := io.ReadAtLeast(c, p, 5)
					if err != nil && !errors.Is(err, io.EOF) {
						t.Error(err)
					}
					got <- string(p[:n])
				}
			}
			change := func(c *listen.ServerConfig) {
				if c.Serve = serveConn; tt.secure {
					c.TLS = own
				}
			}
			var conn net.Conn
			if tt.inMemory {
				listener := newPipes()
				start(t, listener, change)
				conn, _ = listener.dial()
			} else {
				conn = call(t, start(t, localListener(t), change).addr, "127.0.0.1").Conn
			}
			if tt.secure {
				secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
				go secure.Handshake() // the test fails if it does
				conn = secure
			}
			if err := <-awaited; !timedOut(err) {
				t.Errorf("at the deadline: %v", err)
			}
			go io.WriteString(conn, "bytes") // the test fails if it does
			if err := <-awaited; err != nil {
				t.Error(err)
			}
			if bytes := <-got; bytes != "bytes" {
				t.Errorf("%q is read", bytes)
			}
			go conn.Close() // waits for the reader of a pipe
			if err := <-awaited; err != nil {
				t.Errorf("at the end: %v", err)
			}
			if bytes := <-got; bytes != "" {
				t.Errorf("%q is read at the end", bytes)
			}
		})
	}
}
