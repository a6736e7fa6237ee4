package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/problem"
)

// echoing is a server that echoes all bytes, and sends "bye" at the end of its input.
func echoing(t testing.TB) *peer {
	t.Helper()
	return listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
		_, _ = io.Copy(c, in)
		_, _ = io.WriteString(c, "bye")
	})
}

func connectTo(target string) string {
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n"
}

// established reads the response to a CONNECT: it has no framing (RFC 9110 section 9.3.6).
func (c conn) established(t testing.TB) {
	t.Helper()
	head := c.head(t)
	if !strings.HasPrefix(head, "HTTP/1.1 200 ") || strings.Contains(head, "Content-Length") ||
		strings.Contains(head, "Transfer-Encoding") {
		t.Fatalf("%q", head)
	}
}

// A tunnel carries all bytes, also those sent before the response, and each direction ends on its own (RFC
// 9110 section 9.3.6).
func TestConnect(t *testing.T) {
	o := echoing(t)
	s := start(t, nil)
	c := s.dial(t)
	c.send(t, connectTo(o.addr)+"early ")
	c.established(t)
	c.send(t, "late")
	c.expect(t, "early late")
	if half, ok := c.Conn.(*net.TCPConn); !ok || half.CloseWrite() != nil {
		t.Fatal("no half-close")
	}
	if got, broken := c.rest(); got != "bye" || broken {
		t.Errorf("after the end of the client: %q, %v", got, broken)
	}
	heard := make(chan string, 1)
	first := listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
		_, _ = io.WriteString(c, "hello")
		if half, ok := c.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
		all, _ := io.ReadAll(in)
		heard <- string(all)
	})
	c = s.dial(t)
	c.send(t, connectTo(first.addr))
	c.established(t)
	if got, broken := c.rest(); got != "hello" || broken {
		t.Errorf("of the side that ends first: %q, %v", got, broken)
	}
	c.send(t, "still here")
	c.Close()
	if got := <-heard; got != "still here" {
		t.Errorf("after the end of the server: %q", got)
	}
}

// A rejected CONNECT closes its connection: tunnel data must not be read as a request.
func TestConnectRefused(t *testing.T) {
	o := echoing(t)
	host, port, _ := net.SplitHostPort(o.addr)
	s := start(t, func(c *proxy.Config) {
		c.Forward.TunnelPort = func(p uint16) bool { return fmt.Sprint(p) == port }
	})
	for _, tt := range []struct {
		target string
		status int
	}{
		{"localhost:" + port, 200},
		{host + ":" + port, 200},
		{"2130706433:" + port, 400},
		{"127.1:" + port, 400},
		{"localhost:22", 403},
		{"localhost:443", 403},
		{"localhost:0", 400},
		{"localhost", 400},
		{"localhost:", 400},
		{"localhost:99999", 400},
		{"localhost:+80", 400},
		{":443", 400},
		{"/", 400},
		{"http://localhost:" + port, 400},
		{"a@localhost:" + port, 400},
		{"a:b@localhost:" + port, 400},
		{"localhost:" + port + "/", 400},
		{"localhost:" + port + "?", 400},
		{"localhost:" + port + "#", 400},
		{"[localhost]:" + port, 400},
		{"::1:" + port, 400},
		{"local%68ost:" + port, 200}, // the host is compared in normal form: RFC 3986 section 6.2.2.2
		{"localhost.:" + port, 200},
	} {
		c := s.dial(t)
		c.send(t, "CONNECT "+tt.target+" HTTP/1.1\r\nHost: a\r\n\r\nGET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a\r\n\r\n")
		head := c.head(t)
		if !strings.HasPrefix(head, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) {
			t.Errorf("%s: %.40q", tt.target, head)
		}
		if tt.status == 200 {
			c.expect(t, "GET ")
		} else if rest, _ := c.rest(); strings.Contains(rest, "\r\n\r\n") {
			t.Errorf("%s: a second answer: %q", tt.target, rest)
		}
		c.Close()
	}
}

// Content of a CONNECT has no meaning (RFC 9110 section 9.3.6): it is neither part of the tunnel nor a request.
func TestConnectWithContent(t *testing.T) {
	o := echoing(t)
	s := start(t, nil)
	for _, framing := range []string{"Content-Length: 5", "Transfer-Encoding: chunked"} {
		c := s.dial(t)
		c.send(t, "CONNECT "+o.addr+" HTTP/1.1\r\nHost: a\r\n"+framing+"\r\n\r\n")
		if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 400 ") {
			t.Errorf("%s: %.40q", framing, head)
		}
		if rest, broken := c.rest(); broken || !strings.Contains(rest, "CONNECT with content") {
			t.Errorf("%s: %q", framing, rest)
		}
	}
	c := s.dial(t)
	c.send(t, "CONNECT "+o.addr+" HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nhello")
	c.established(t)
	c.expect(t, "hello")
}

// A tunnel that is idle in both directions ends; one with traffic in one direction does not.
func TestConnectIdle(t *testing.T) {
	var clock idleClock
	pauses, read := pausing(t, &clock)
	silent := echoing(t)
	s := start(t, func(c *proxy.Config) { c.Now, c.Forward.TunnelIdle = clock.look, tunnelIdle })
	c := s.dial(t)
	c.send(t, connectTo(pauses.addr))
	c.established(t)
	read(c.in)
	if got, broken := c.rest(); got != "end" || broken {
		t.Errorf("%q, %v", got, broken)
	}
	c = s.dial(t)
	c.send(t, connectTo(silent.addr))
	c.established(t)
	if got, err := clock.idle(t, c.in); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// tunnelIdle is the idle timeout of tunnels with an idleClock. They read the clock about as often.
const tunnelIdle = 20 * time.Millisecond

// idleClock is a clock that counts its readings.
type idleClock struct {
	testClock
	looks atomic.Int64
}

func (c *idleClock) look() time.Time {
	c.looks.Add(1)
	return c.now()
}

// idle advances the clock until the input ends, and returns what was read.
func (c *idleClock) idle(t *testing.T, in io.Reader) (text string, err error) {
	t.Helper()
	var read []byte
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		read, err = io.ReadAll(in)
	}()
	testserver.Wait(t, "the tunnel has ended", func() bool {
		c.advance(tunnelIdle) // the tunnel may have started after the last reading
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	return string(read), err
}

// pausing starts a server that sends bytes for longer than the idle timeout, with shorter pauses, and then
// "end". read reads the bytes of a tunnel to it, and lets the server pass each pause.
func pausing(t *testing.T, clock *idleClock) (o *peer, read func(io.Reader)) {
	t.Helper()
	next := make(chan bool)
	o = listenRaw(t, func(_ *peer, c net.Conn, _ *bufio.Reader) {
		for range next {
			if _, err := io.WriteString(c, "."); err != nil {
				return
			}
		}
		_, _ = io.WriteString(c, "end")
	})
	return o, func(in io.Reader) {
		defer close(next)
		for i := range 10 {
			next <- true
			one := make([]byte, 1)
			if _, err := io.ReadFull(in, one); err != nil || one[0] != '.' {
				t.Errorf("%d. %q, %v", i, one, err)
				return
			}
			clock.advance(tunnelIdle * 3 / 4)
			seen := clock.looks.Load()
			testserver.Wait(t, "the tunnel has seen the time", func() bool { return clock.looks.Load() > seen })
		}
	}
}

// Tunnels have their own limit, and end with the daemon.
func TestConnectLimits(t *testing.T) {
	o := echoing(t)
	var slots quota.Semaphore
	s := startOn(t, nil, func(c *proxy.Config) {
		slots = make(quota.Semaphore, 2)
		c.Forward.Streams = quota.Limit{Semaphore: slots, Busy: problem.ErrTooManyStreams}
	}, withShutdown(time.Second))
	open := make([]conn, 0, 2)
	for range 2 {
		c := s.dial(t)
		c.send(t, connectTo(o.addr))
		c.established(t)
		open = append(open, c)
	}
	c := s.dial(t)
	c.send(t, connectTo(o.addr))
	if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 503 ") ||
		!strings.Contains(head, "Proxy-Status: urnd; error=connection_limit_reached") {
		t.Errorf("%q", head)
	}
	open[0].Close()
	testserver.Wait(t, "a tunnel has ended", func() bool { return len(slots) == 1 })
	c = s.dial(t)
	c.send(t, connectTo(o.addr))
	c.established(t)
	s.stop()
	for _, c := range []conn{open[1], c} {
		if got, _ := c.rest(); got != "" {
			t.Errorf("%q", got)
		}
	}
	testserver.Wait(t, "all tunnels have ended", func() bool { return len(slots) == 0 })
}

// The event of a tunnel has the number of bytes sent to the client.
func TestConnectEvent(t *testing.T) {
	o := echoing(t)
	var carried atomic.Int64
	s := start(t, func(c *proxy.Config) {
		c.Observe = func(e *proxy.Event) { carried.Store(e.Bytes<<10 + int64(e.Status)) }
	})
	c := s.dial(t)
	c.send(t, connectTo(o.addr)+"four")
	c.established(t)
	c.expect(t, "four")
	if half, ok := c.Conn.(*net.TCPConn); !ok || half.CloseWrite() != nil {
		t.Fatal("no half-close")
	}
	c.expect(t, "bye")
	testserver.Wait(t, "the tunnel is observed", func() bool { return carried.Load() == 7<<10+200 })
}
