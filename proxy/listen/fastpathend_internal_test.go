package listen

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// stopped waits for the end of Serve.
func (s *fastServer) stopped(t testing.TB) {
	t.Helper()
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
		s.ended <- nil // for the end of the test
	case <-time.After(testserver.Patience):
		t.Fatal("Serve goes on")
	}
}

// The end of a server waits for a response that is being written, whether net/http takes its connection for a new one
// or for an idle one, and closes the connection behind it. A connection that waits is closed at once: net/http would
// wait five seconds for the first request of a new one. A machine that has much else to do gets several tries.
func TestFastPathShutdown(t *testing.T) {
	const tries = 5
	for _, first := range []string{fastRequest, slowRequest} {
		for try := 1; ; try++ {
			took := shutDown(t, first)
			if took < firstRequestTimeout/2 {
				break
			}
			if try == tries {
				t.Fatalf("a connection that waited was closed after %v", took)
			}
		}
	}
}

// shutDown ends a server while it writes a response, and returns when it closed a connection that waited. first is the first request of both.
func shutDown(t *testing.T, first string) (took time.Duration) {
	t.Helper()
	began, release := make(chan struct{}), make(chan struct{})
	s := serveFast(t, nil)
	waiting, c := s.dial(t), s.dial(t)
	for _, c := range []fastClient{waiting, c} {
		c.send(t, first)
		c.receive()
	}
	testserver.Wait(t, "the connection is on the fast path", func() bool {
		before := s.path.answered.Load()
		c.send(t, fastRequest)
		c.expect(t, fastAnswer)
		return s.path.answered.Load() > before
	})
	block := func(*FastConn) {
		close(began)
		<-release
	}
	s.path.before.Store(&block)
	c.send(t, fastRequest)
	<-began
	start := time.Now()
	s.replace()
	s.end()
	waiting.expect(t, "closed")
	took = time.Since(start)
	select {
	case err := <-s.ended:
		t.Fatalf("the server ended in a response: %v", err)
	default:
	}
	close(release)
	c.expect(t, fastAnswer, "closed")
	s.stopped(t)
	return took
}

// A response that takes longer than the shutdown timeout is cut off.
func TestFastPathShutdownTimeout(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	s := serveFast(t, func(_ *fastServer, c *ServerConfig) { c.ShutdownTimeout = 10 * time.Millisecond })
	block := func(*FastConn) {
		close(began)
		<-release
	}
	s.path.before.Store(&block)
	c := s.dial(t)
	c.send(t, fastRequest)
	<-began
	s.replace()
	s.end()
	c.expect(t, "closed")
	close(release)
	if err := <-s.ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve: %v", err)
	}
	s.ended <- nil
}

// A server that is replaced, or that announces its end, asks clients to close their connections: by net/http.
func TestFastPathAnnounces(t *testing.T) {
	for name, end := range map[string]func(*fastServer){
		"replaced":  func(s *fastServer) { s.replace() },
		"announced": func(s *fastServer) { go s.server.Announce(t.Context()) },
	} {
		s := serveFast(t, nil)
		c := s.dial(t)
		c.send(t, fastRequest)
		c.expect(t, fastAnswer)
		end(s)
		testserver.Wait(t, "it is "+name, func() bool {
			c.send(t, fastRequest)
			got := c.receive()
			if !strings.HasPrefix(got, fastAnswer) {
				t.Fatalf("%s: %q", name, got)
			}
			return strings.HasSuffix(got, " close")
		})
		c.expect(t, "closed")
	}
}

// Requests that came before the client ended its side are answered. What ends within a request is refused only from
// its fourth octet on, as on an idle connection.
func TestFastPathHalfClosed(t *testing.T) {
	for _, tt := range []struct {
		octets string
		want   []string
	}{
		{"", []string{"closed"}},
		{strings.Repeat(fastRequest, 3), []string{fastAnswer, fastAnswer, fastAnswer, "closed"}},
		{fastRequest + "GET", []string{fastAnswer, "closed"}},
		{fastRequest + "GET /", []string{fastAnswer, "400", "closed"}},
	} {
		for name, change := range map[string]func(*fastServer, *ServerConfig){
			"with": nil, "without": func(_ *fastServer, c *ServerConfig) { c.FastPath = nil },
		} {
			s := serveFast(t, change)
			c := s.dial(t)
			c.send(t, tt.octets)
			if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			t.Log(name, tt.octets)
			c.expect(t, tt.want...)
			unused := int32(0)
			if tt.octets == "" {
				unused = 1
			}
			testserver.Wait(t, "the connection is counted", func() bool { return s.unused.Load() == unused })
		}
	}
}

// A client that leaves is noticed, also where its end came together with its last request, which wakes nobody by itself.
func TestFastPathClientLeaves(t *testing.T) {
	for name, leave := range map[string]func(*net.TCPConn) error{"closes": (*net.TCPConn).CloseWrite, "resets": func(c *net.TCPConn) error {
		_ = c.SetLinger(0)
		return c.Close()
	}} {
		for _, last := range []string{"", fastRequest, slowRequest} {
			s := serveFast(t, nil)
			c := s.dial(t)
			for range 2 * confirmed {
				c.send(t, fastRequest)
				c.expect(t, fastAnswer)
			}
			c.send(t, last)
			if err := leave(c.Conn.(*net.TCPConn)); err != nil {
				t.Fatal(err)
			}
			testserver.Wait(t, "the connection that it "+name+" is released", func() bool { return s.limit.Open() == 0 })
		}
	}
}

// A connection waits for its next request as long as one of net/http, however many it has made: twice as long for twice the timeout. A machine
// that has much else to do gets several tries.
func TestFastPathIdle(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	const idle, tries = 500 * time.Millisecond, 5
	for _, requests := range []int{1, confirmed + 1, 2 * confirmed} {
		for try := 1; ; try++ {
			waited, longer := idleFor(t, idle, requests), idleFor(t, 2*idle, requests)
			if waited < idle*3/4 || longer < idle*3/2 {
				t.Fatalf("after %d requests, it waits for %v, and with twice the timeout for %v", requests, waited, longer)
			}
			if longer < waited*5/2 && waited < longer {
				break
			}
			if try == tries {
				t.Fatalf("after %d requests, it waits for %v, and with twice the timeout for %v", requests, waited, longer)
			}
		}
	}
}

// idleFor returns how long a connection waits for another request, which has made some.
func idleFor(t *testing.T, idle time.Duration, requests int) time.Duration {
	t.Helper()
	s := serveFast(t, func(_ *fastServer, c *ServerConfig) { c.IdleTimeout = idle })
	c := s.dial(t)
	var last time.Time
	for range requests {
		last = time.Now()
		c.send(t, fastRequest)
		c.expect(t, fastAnswer)
	}
	c.expect(t, "closed")
	return time.Since(last)
}

// A response that cannot be written ends its connection by a reset, without a refusal behind it, and without a wait for
// others.
func TestFastPathWriteFails(t *testing.T) {
	for name, fail := range map[string]func(*FastConn){
		"aborted":      (*FastConn).Abort,
		"slow readers": func(c *FastConn) { _, _ = io.CopyN(c, zeros{}, 64<<20) },
	} {
		s := serveFast(t, func(s *fastServer, _ *ServerConfig) {
			s.path.before.Store(&fail)
			s.timeout = 10 * time.Millisecond
		})
		c := s.dial(t)
		c.send(t, fastRequest+fastRequest)
		below := <-s.accepted
		testserver.Wait(t, name+": it is aborted", func() bool { return below.(*clientConn).aborted.Load() })
		other := s.dial(t)
		other.send(t, slowRequest)
		other.expect(t, slowAnswer)
		if _, err := io.Copy(io.Discard, c.in); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.refused.Load(); got != 0 {
			t.Errorf("%s: %d refusals", name, got)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A connection whose fast path panics is closed, and given back.
func TestFastPathPanics(t *testing.T) {
	s := serveFast(t, nil)
	fail := func(*FastConn) { panic("of the test") }
	s.path.before.Store(&fail)
	c := s.dial(t)
	c.send(t, fastRequest)
	c.expect(t, "closed")
	testserver.Wait(t, "it is released", func() bool { return s.limit.Open() == 0 })
}

// The deadlines of a connection: that of the head while it is new and again from the first octet of a request on, and
// the idle timeout while it waits for one.
func TestFastPathDeadlines(t *testing.T) {
	const short = 50 * time.Millisecond
	for _, tt := range []struct {
		name         string
		header, idle time.Duration
		octets       string
		want         string
	}{
		{"it sends nothing", short, testserver.Patience, "", "closed"},
		{"it sends a part of a head", short, testserver.Patience, "GET /f", "400"},
		{"it sends a part of a head behind a request", short, testserver.Patience, fastRequest + "GET /f", fastAnswer + "|400"},
		{"it sends an octet behind a request", testserver.Patience, short, fastRequest + "G", fastAnswer + "|closed"},
		{"it sends an octet late behind a request", short, testserver.Patience, fastRequest + "G", fastAnswer + "|closed"},
		{"it sends an octet behind a slow request", short, testserver.Patience, slowRequest + "G", slowAnswer + "|closed"},
		{"it sends nothing behind a request", testserver.Patience, short, fastRequest, fastAnswer + "|closed"},
		{"it sends nothing behind requests of both paths", testserver.Patience, short, fastRequest + slowRequest, fastAnswer + "|" + slowAnswer + "|closed"},
	} {
		for name, off := range map[string]bool{"": false, ", without the fast path": true} {
			t.Run(tt.name+name, func(t *testing.T) {
				t.Parallel()
				s := serveFast(t, func(_ *fastServer, c *ServerConfig) {
					if c.HeaderTimeout, c.IdleTimeout = tt.header, tt.idle; off {
						c.FastPath = nil
					}
				})
				c := s.dial(t)
				c.send(t, tt.octets)
				c.expect(t, strings.Split(tt.want, "|")...)
			})
		}
	}
}

// busyConn has a request at each Read until its end, which is so much later.
type busyConn struct {
	net.Conn
	now, end time.Time
	step     time.Duration
	deadline time.Time
	shortest time.Duration // from a read to its deadline
}

func (c *busyConn) Read(p []byte) (int, error) {
	c.shortest = min(c.shortest, c.deadline.Sub(c.now))
	if !c.now.Before(c.end) {
		return 0, io.EOF
	}
	c.now = c.now.Add(c.step)
	return copy(p, fastRequest), nil
}

func (c *busyConn) Write(p []byte) (int, error) { return len(p), nil }

func (c *busyConn) SetReadDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

// A connection in use has the idle timeout for each request but its first.
func TestFastPathRenewsDeadlines(t *testing.T) {
	const header, idle = 10 * time.Second, 30 * time.Second
	conn := &busyConn{now: time.Unix(1e9, 0), end: time.Unix(1e9+60, 0), step: 10 * time.Millisecond, shortest: time.Hour}
	path := new(fakePath)
	server := NewServer(ServerConfig{Now: func() time.Time { return conn.now }, HeaderTimeout: header, IdleTimeout: idle})
	c := &requestConn{Conn: conn, server: server, isNew: true, between: true}
	tracked := newConnections(t.Context(), nil)
	c.fast = &FastConn{conn: c, path: path, tracked: tracked, between: true, isNew: true}
	conn.deadline = conn.now.Add(header)
	if n, err := c.Read(make([]byte, readSize)); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatal(n, err)
	}
	if got := path.answered.Load(); got != 6000 {
		t.Errorf("%d requests were answered", got)
	}
	if conn.shortest != header || conn.deadline != conn.end.Add(idle) {
		t.Errorf("the nearest deadline is in %v, the last in %v", conn.shortest, conn.deadline.Sub(conn.end))
	}
}

// What follows the head of a request that a handler has taken the connection of is for the handler.
func TestFastPathHijacked(t *testing.T) {
	s := serveFast(t, func(_ *fastServer, c *ServerConfig) {
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, in, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "taken")
			_, _ = io.Copy(conn, in)
		})
	})
	for _, first := range []string{"", fastRequest} {
		c := s.dial(t)
		c.send(t, first)
		if first != "" {
			c.expect(t, fastAnswer)
		}
		c.send(t, slowRequest)
		taken := make([]byte, len("taken"))
		if _, err := io.ReadFull(c.in, taken); err != nil {
			t.Fatal(err)
		}
		echo := make([]byte, len(fastRequest))
		for range 3 {
			c.send(t, fastRequest)
			if _, err := io.ReadFull(c.in, echo); err != nil || string(echo) != fastRequest {
				t.Fatalf("%q, %v", echo, err)
			}
		}
		c.Conn.(*net.TCPConn).CloseWrite()
		if rest, err := io.ReadAll(c.in); err != nil || len(rest) > 0 {
			t.Errorf("%q, %v", rest, err)
		}
	}
}

// A probe is for net/http, whatever it asks.
func TestFastPathProbe(t *testing.T) {
	s := serveFast(t, func(s *fastServer, c *ServerConfig) {
		s.socket = NewSocket(s.listener, SocketConfig{})
		c.Probe = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.refused.Add(1) })
	})
	if err := s.socket.Probe(t.Context()); err != nil || s.refused.Load() != 1 {
		t.Errorf("%v, %d probes", err, s.refused.Load())
	}
	c := s.dial(t)
	c.send(t, fastRequest)
	if c.expect(t, fastAnswer); s.path.answered.Load() != 1 {
		t.Error("the fast path is not used")
	}
}
