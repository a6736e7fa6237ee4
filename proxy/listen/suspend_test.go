package listen_test

import (
	"bufio"
	"context"
	"io"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// parking is a protocol that parks a connection after each response.
type parking struct {
	suspended chan struct{}
	ended     chan error
}

func (p *parking) serve(c *listen.Conn) {
	if _, err := c.Handshake(); err == nil {
		p.read(c)
	}
}

func (p *parking) read(c *listen.Conn) {
	in := bufio.NewReaderSize(c, 16)
	for {
		request, err := in.ReadString('\n')
		if err != nil || !c.SetServing() {
			return
		}
		if c.Draining() {
			_, _ = io.WriteString(c, request[:len(request)-1]+" close")
			return
		}
		_, _ = io.WriteString(c, request)
		if in.Buffered() > 0 {
			continue
		}
		c.SetIdle()
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := in.Peek(1); err == nil {
			_ = c.SetReadDeadline(time.Now().Add(testserver.Timeout))
			continue
		}
		c.Suspend(time.Now().Add(testserver.Timeout), func(err error) {
			if err != nil {
				p.ended <- err
				return
			}
			_ = c.SetReadDeadline(time.Now().Add(testserver.Timeout))
			p.read(c)
		})
		p.suspended <- struct{}{}
		return
	}
}

// A parked connection resumes when data arrives. It ends if its client disconnects, if it is closed for
// another one, and with the server.
func TestPark(t *testing.T) {
	t.Parallel()
	own, pool := certificates(t)
	for _, secure := range []bool{false, true} {
		for how, end := range map[string]func(*running, *listen.ConnectionLimit, *caller){
			"the client leaves": func(_ *running, _ *listen.ConnectionLimit, c *caller) { c.Close() },
			"the server ends":   func(s *running, _ *listen.ConnectionLimit, _ *caller) { s.end() },
			"it is closed for another one": func(s *running, limit *listen.ConnectionLimit, _ *caller) {
				limit.SetLimits(listen.ConnectionLimits{Connections: 1})
				call(t, s.addr, "127.0.0.1")
			},
			"it is announced": func(s *running, _ *listen.ConnectionLimit, c *caller) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				s.AnnounceShutdown(ctx)
				c.send(t, "last\n")
				c.expect(t, "last close")
			},
		} {
			p := &parking{suspended: make(chan struct{}, 9), ended: make(chan error, 9)}
			limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 9}, time.Now)
			socket := listen.NewSocket(localListener(t), listen.SocketConfig{Limit: limit})
			t.Cleanup(func() { _ = socket.Close() })
			s := start(t, socket.Listener(), func(c *listen.ServerConfig) {
				if c.Serve = p.serve; secure {
					c.TLS = own
				}
			})
			dial := func() *caller {
				if secure {
					return dialTLS(t, s.addr, pool)
				}
				return call(t, s.addr, "127.0.0.1")
			}
			c := dial()
			for _, request := range []string{"a\n", "b\nc\n", "d\n"} {
				c.send(t, request)
				for range len(request) / 2 {
					if _, err := c.in.ReadString('\n'); err != nil {
						t.Fatalf("%s, TLS %t: %q: %v", how, secure, request, err)
					}
				}
				<-p.suspended
			}
			end(s, limit, c)
			if how == "the client leaves" {
				testserver.Wait(t, "it is gone", func() bool { return limit.Connections() == 0 })
				continue
			}
			c.expectEnd(t)
			if how != "it is announced" && !timedOut(<-p.ended) {
				t.Errorf("%s, TLS %t: the protocol learns nothing", how, secure)
			}
		}
	}
}

// A deadline that another goroutine sets right after Suspend applies to the suspended connection.
func TestDeadlineAfterSuspend(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	s := start(t, localListener(t), func(c *listen.ServerConfig) {
		c.Serve = func(c *listen.Conn) {
			c.Suspend(time.Now().Add(time.Hour), func(err error) { ended <- err })
			_ = c.SetReadDeadline(time.Unix(1, 0))
		}
	})
	call(t, s.addr, "127.0.0.1")
	testserver.Within(t, "the suspension", func() {
		if err := <-ended; !timedOut(err) {
			t.Errorf("it ends by %v", err)
		}
	})
}
