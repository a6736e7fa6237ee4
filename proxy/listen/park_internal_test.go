package listen

import (
	"context"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// parked returns a client whose connection is parked, and what that is.
func (s *fastServer) parked(t testing.TB) (fastClient, *FastConn) {
	t.Helper()
	conns := make(chan *FastConn, 1)
	before := func(c *FastConn) {
		select {
		case conns <- c:
		default:
		}
	}
	s.path.before.Store(&before)
	c := s.dial(t)
	c.send(t, fastRequest)
	c.expect(t, fastAnswer)
	s.path.before.Store(nil)
	f := <-conns
	s.waitParked(t, f)
	return c, f
}

func (*fastServer) waitParked(t testing.TB, f *FastConn) {
	t.Helper()
	testserver.Wait(t, "the connection is parked", f.isParked.Load)
}

func overProxyProtocol(s *fastServer, c *ServerConfig) {
	s.balanced = true
	c.ProxyProtocol = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// A connection that was parked goes on as if it had not been, whatever comes, and however it is divided into packets.
func TestParkedGoesOn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fastServer, *ServerConfig){"plain": nil, "TLS": overTLS, "PROXY protocol": overProxyProtocol} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serving(t, func(*FastConn, context.Context) {}, change)
			c, f := s.parked(t)
			for request, want := range map[string][]string{
				fastRequest:                              {fastAnswer},
				plainRequest:                             {"200 plain"},
				fastRequest + plainRequest + fastRequest: {fastAnswer, "200 plain", fastAnswer},
			} {
				c.send(t, request)
				c.expect(t, want...)
				s.waitParked(t, f)
			}
			c.send(t, slowRequest[:1])
			testserver.Wait(t, "the octet is read", func() bool { return !f.isParked.Load() })
			c.send(t, slowRequest[1:])
			c.expect(t, slowAnswer)
			c.send(t, fastRequest+"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"+slowRequest)
			c.expect(t, fastAnswer, "200 POST /x ab", slowAnswer)
			if unused := s.unused.Load(); unused != 0 {
				t.Errorf("%d connections without a request", unused)
			}
		})
	}
}

// What is malformed behind the wait is refused as ever, and what is not complete ends in silence.
func TestParkedRefuses(t *testing.T) {
	t.Parallel()
	s := serveFast(t, func(_ *fastServer, c *ServerConfig) { c.HeaderTimeout = 300 * time.Millisecond })
	for _, tt := range []struct{ octets, want string }{
		{"GET / HTTP/1.1\r\n\r\n", "400"},
		{"no request\r\n\r\n", "400"},
		{"GE", "closed"},
		{"", "closed"},
	} {
		c, _ := s.parked(t)
		c.send(t, tt.octets)
		if tt.octets == "" {
			half, _ := c.Conn.(interface{ CloseWrite() error })
			_ = half.CloseWrite()
		}
		c.expect(t, tt.want)
	}
}

// A parked connection ends where its client leaves, where it is closed for another one, and with the server.
func TestParkedEnds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fastServer, *ServerConfig){"plain": nil, "TLS": overTLS} {
		for how, end := range map[string]func(*testing.T, *fastServer, fastClient){
			"the client leaves": func(_ *testing.T, _ *fastServer, c fastClient) { c.Close() },
			"it is closed for another one": func(t *testing.T, s *fastServer, _ fastClient) {
				t.Helper()
				s.limit.Change(ConnectionLimits{Connections: 1})
				_ = s.dial(t)
			},
			"the server ends": func(_ *testing.T, s *fastServer, _ fastClient) {
				s.replace()
				s.end()
			},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				s := serveFast(t, change)
				c, f := s.parked(t)
				end(t, s, c)
				if how != "the client leaves" {
					c.expect(t, "closed")
				}
				testserver.Wait(t, "the connection is gone", func() bool {
					_, isTracked := usedOf(f)
					return !isTracked
				})
			})
		}
	}
}

func usedOf(f *FastConn) (used, isTracked bool) {
	f.tracked.mu.Lock()
	defer f.tracked.mu.Unlock()
	used, isTracked = f.tracked.used[f.conn]
	return used, isTracked
}

// While clients are asked to close their connections, a request of a parked one is the last.
func TestParkedIsAnnounced(t *testing.T) {
	t.Parallel()
	s := serveFast(t, nil)
	c, _ := s.parked(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.server.Announce(ctx)
	c.send(t, fastRequest)
	c.expect(t, fastAnswer+" close", "closed")
}

// A connection in use is not parked, though a read of it lasts longer than parkAfter.
func TestParkedOnlyWhereIdle(t *testing.T) {
	t.Parallel()
	s := serveFast(t, nil)
	c, f := s.parked(t)
	c.send(t, fastRequest)
	c.expect(t, fastAnswer)
	for begun := time.Now(); time.Since(begun) < 3*parkAfter; {
		asked := time.Now()
		c.send(t, fastRequest)
		c.expect(t, fastAnswer)
		if f.isParked.Load() && time.Since(asked) < parkAfter/2 {
			t.Fatal("it is parked")
		}
	}
	_, _ = io.WriteString(c, fastRequest)
	c.expect(t, fastAnswer)
}

// One that is in use again and again waits longer, until it was idle for long.
func TestParkWait(t *testing.T) {
	const rest = time.Minute
	var w parkWait
	now := time.Unix(0, 0)
	step := func(want time.Duration) {
		t.Helper()
		if got := w.next(rest); got != want {
			t.Errorf("%v, not %v", got, want)
		}
	}
	step(parkAfter)
	w.lengthen()
	step(2 * parkAfter)
	w.since = now
	w.woken(now.Add(watched - 1))
	step(4 * parkAfter)
	for range 10 {
		w.lengthen()
	}
	step(watched)
	if got := w.next(watched); got != watched/2 {
		t.Errorf("%v of %v", got, watched)
	}
	w.since = now
	w.woken(now.Add(watched))
	step(parkAfter)
}
