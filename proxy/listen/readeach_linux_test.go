package listen_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// ReadEach reads and answers within the poller, until received returns false, at its deadline, and at the end
// of the client's side.
func TestReadEach(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	s := start(t, localListener(t), func(c *listen.ServerConfig) {
		c.Serve = func(c *listen.Conn) {
			if _, err := c.Handshake(); err != nil || !c.CanReadEach() {
				t.Errorf("%v, it can be called: %t", err, c.CanReadEach())
				return
			}
			p := make([]byte, 8)
			each := func(n int) bool {
				if !c.SetServing() {
					return false
				}
				_, _ = c.Write(p[:n])
				c.SetIdle()
				return p[n-1] != '.'
			}
			if err := c.ReadEach(p, each); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(c, "and\n")
			_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			if err := c.ReadEach(p, each); !timedOut(err) {
				t.Errorf("at the deadline: %v", err)
			}
			_, _ = io.WriteString(c, "again\n")
			_ = c.SetReadDeadline(time.Now().Add(testserver.Timeout))
			ended <- c.ReadEach(p, each)
		}
	})
	c := call(t, s.addr, "127.0.0.1")
	echoed := func(text string) {
		t.Helper()
		c.send(t, text)
		got := make([]byte, len(text))
		if _, err := io.ReadFull(c.in, got); err != nil || string(got) != text {
			t.Fatalf("%q, %v", got, err)
		}
	}
	echoed("a")
	echoed("exactly8")
	echoed(strings.Repeat("more than eight,", 9))
	echoed(".")
	c.expect(t, "and")
	echoed("before the deadline,")
	c.expect(t, "again")
	echoed("to the end")
	_ = c.Conn.(interface{ CloseWrite() error }).CloseWrite()
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// ReadEach ends if the connection is dismissed, and if it is cut.
func TestReadEachEnds(t *testing.T) {
	t.Parallel()
	for _, busy := range []bool{false, true} {
		ended := make(chan error, 1)
		s := start(t, localListener(t), func(c *listen.ServerConfig) {
			c.ShutdownTimeout = 50 * time.Millisecond
			c.Serve = func(c *listen.Conn) {
				p := make([]byte, 8)
				ended <- c.ReadEach(p, func(n int) bool {
					c.SetServing()
					_, _ = c.Write(p[:n])
					if !busy {
						c.SetIdle()
					}
					return true
				})
			}
		})
		c := call(t, s.addr, "127.0.0.1")
		c.send(t, "a\n")
		c.expect(t, "a")
		s.end()
		if err := <-ended; err == nil || timedOut(err) == busy {
			t.Errorf("busy %t: %v", busy, err)
		}
	}
}

// With TLS, or the PROXY protocol, reads are buffered: ReadEach is not supported.
func TestReadEachIsForSockets(t *testing.T) {
	own, pool := certificates(t)
	for name, change := range map[string]func(*listen.ServerConfig){
		"TLS":                func(c *listen.ServerConfig) { c.TLS = own },
		"the PROXY protocol": func(c *listen.ServerConfig) { c.ProxyProtocol = prefixes("127.0.0.1/32") },
	} {
		done := make(chan error, 1)
		s := start(t, localListener(t), func(c *listen.ServerConfig) {
			change(c)
			c.Serve = func(c *listen.Conn) {
				if _, err := c.Handshake(); err != nil || c.CanReadEach() {
					t.Errorf("%s: %v, it can be called: %t", name, err, c.CanReadEach())
				}
				done <- c.ReadEach(make([]byte, 1), func(int) bool { return false })
			}
		})
		if name == "TLS" {
			go io.WriteString(dialTLS(t, s.addr, pool), "a") // for the handshake
		} else {
			proxied(call(t, s.addr, "127.0.0.1"), "192.0.2.1")
		}
		if err := <-done; !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A disconnect of the client is detected, even if it arrived together with its last bytes, without an event
// of its own.
func TestReadEachClientLeaves(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*caller){
		"closes": func(c *caller) { _ = c.Conn.(interface{ CloseWrite() error }).CloseWrite() },
		"resets": (*caller).reset,
	} {
		for range 8 {
			done := make(chan struct{})
			s := start(t, localListener(t), func(c *listen.ServerConfig) {
				c.Serve = func(c *listen.Conn) {
					defer close(done)
					p := make([]byte, 64)
					for {
						_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
						if err := c.ReadEach(p, func(n int) bool {
							_, _ = c.Write(p[:n])
							return true
						}); !timedOut(err) {
							return
						}
						_ = c.SetReadDeadline(time.Now().Add(testserver.Timeout))
						if c.Await() != nil {
							return
						}
					}
				}
			})
			c := call(t, s.addr, "127.0.0.1")
			c.send(t, "a\n")
			c.expect(t, "a")
			c.send(t, "last\n")
			leave(c)
			testserver.Within(t, "the end of a client that "+name, func() { <-done })
		}
	}
}
