package listen_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// holding is a server whose requests "hold" are in progress until release is closed, or their context ends.
type holding struct {
	*running
	began   chan *listen.Conn
	release chan struct{}
	unused  atomic.Int32
}

func startHolding(t testing.TB, change func(*listen.ServerConfig)) *holding {
	t.Helper()
	s := &holding{began: make(chan *listen.Conn, 16), release: make(chan struct{})}
	s.running = start(t, localListener(t), func(c *listen.ServerConfig) {
		c.Unused = func() { s.unused.Add(1) }
		c.Serve = lines(func(c *listen.Conn, request string) string {
			if request != "hold" {
				return request
			}
			ctx := c.BeginWait()
			defer c.EndWait()
			s.began <- c
			select {
			case <-s.release:
				return request
			case <-ctx.Done():
				return ""
			}
		})
		if change != nil {
			change(c)
		}
	})
	return s
}

// A server that is replaced cuts off neither a request that takes longer than the shutdown timeout, nor an
// idle connection, whose next response is the last.
func TestReplacedServerLetsClientsFinish(t *testing.T) {
	life, endDaemon := context.WithCancel(t.Context())
	defer endDaemon()
	s := startHolding(t, func(c *listen.ServerConfig) { c.DaemonContext, c.ShutdownTimeout = life, time.Nanosecond })
	idle, slow := call(t, s.addr, "127.0.0.1"), call(t, s.addr, "127.0.0.1")
	idle.send(t, "a\n")
	idle.expect(t, "a")
	slow.send(t, "hold\n")
	<-s.began
	s.end()
	testserver.Wait(t, "nothing is accepted any more", func() bool {
		conn, err := net.Dial("tcp", s.addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	testserver.Wait(t, "the idle connection is told to end", func() bool {
		idle.send(t, "b\n")
		got, _ := idle.in.ReadString('\n')
		return got == "b close"
	})
	close(s.release)
	slow.expect(t, "hold close")
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// A shutdown answers a request that has arrived on an idle connection, and was not read yet.
func TestShutdownWithUnread(t *testing.T) {
	served, read := make(chan *listen.Conn, 1), make(chan struct{})
	s := start(t, localListener(t), func(c *listen.ServerConfig) {
		c.Serve = func(c *listen.Conn) {
			in := bufio.NewReader(c)
			for {
				request, err := in.ReadString('\n')
				if err != nil || !c.SetServing() {
					return
				}
				_, _ = io.WriteString(c, request)
				c.SetIdle()
				served <- c
				<-read
			}
		}
	})
	client := call(t, s.addr, "127.0.0.1")
	client.send(t, "a\n")
	client.expect(t, "a")
	conn := <-served
	client.send(t, "b\n")
	s.end()
	testserver.Wait(t, "the server drains", conn.Draining)
	close(read)
	client.expect(t, "b")
	client.expectEnd(t)
}

// A shutdown waits for responses, and closes their connections after them. Idle connections are closed immediately.
func TestShutdown(t *testing.T) {
	s := startHolding(t, nil)
	idle, busy := call(t, s.addr, "127.0.0.1"), call(t, s.addr, "127.0.0.1")
	idle.send(t, "a\n")
	idle.expect(t, "a")
	busy.send(t, "hold\n")
	<-s.began
	s.end()
	idle.expectEnd(t)
	select {
	case err := <-s.ended:
		t.Fatalf("the server ended in a response: %v", err)
	default:
	}
	close(s.release)
	busy.expect(t, "hold close")
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// During a shutdown a new connection without data has a second after it was accepted, in which a request is
// answered. A protocol that closes connections itself has a second for that.
func TestShutdownOfUnusedConnections(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		age     time.Duration // of the connection at the shutdown
		send    time.Duration // when the request is sent, after the shutdown; negative for no request
		goodbye bool          // the protocol calls OnDrain, and is idle
		want    string
		took    time.Duration
	}{
		"young, silent":            {200 * ms, -1, false, "", 800 * ms},
		"young, with a request":    {200 * ms, 500 * ms, false, "a close", 500 * ms},
		"old, silent":              {2 * time.Second, -1, false, "", 0},
		"old, it says goodbye":     {2 * time.Second, -1, true, "", time.Second},
		"old, with a late request": {2 * time.Second, 500 * ms, true, "a close", 500 * ms},
		"young, a late request":    {200 * ms, 900 * ms, true, "a close", 900 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener, serveLines := newPipes(), lines(echo)
				server := listen.NewServer(listen.ServerConfig{
					Serve: func(c *listen.Conn) {
						if tt.goodbye {
							c.OnDrain(func() {})
						}
						serveLines(c)
					},
					Now: time.Now, Log: slog.New(slog.DiscardHandler),
					ReadHeaderTimeout: time.Hour, ShutdownTimeout: time.Minute,
				})
				ctx, end := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- server.Serve(ctx, listener) }()
				client, _ := listener.dial()
				time.Sleep(tt.age)
				end()
				ended := time.Now()
				if tt.send >= 0 {
					time.Sleep(tt.send)
					go func() { _, _ = io.WriteString(client, "a\n") }()
				}
				got, err := io.ReadAll(client)
				if took := time.Since(ended); err != nil || string(got) != tt.want || took != tt.took {
					t.Errorf("%q, %v, after %v", got, err, took)
				}
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A request that takes longer than the shutdown timeout is cut off: its context ends with the cause, and its
// connection by a reset.
func TestShutdownTimeout(t *testing.T) {
	causes := make(chan error, 1)
	began := make(chan struct{}, 1)
	s := start(t, localListener(t), func(c *listen.ServerConfig) {
		c.ShutdownTimeout = 10 * time.Millisecond
		c.Serve = lines(func(c *listen.Conn, _ string) string {
			ctx := c.BeginWait()
			defer c.EndWait()
			_, _ = io.WriteString(c, "a part of it")
			began <- struct{}{}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return "more"
		})
	})
	c := call(t, s.addr, "127.0.0.1")
	c.send(t, "a\n")
	<-began
	s.end()
	if err := <-s.ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve: %v", err)
	}
	if cause := <-causes; !errors.Is(cause, http.ErrServerClosed) {
		t.Errorf("the context ends by %v", cause)
	}
	if got, err := io.ReadAll(c.in); err == nil {
		t.Errorf("%q looks complete", got)
	}
}

// A server that is replaced, or that announces its end, asks clients to close their connections, once each.
func TestAnnounce(t *testing.T) {
	life, endDaemon := context.WithCancel(t.Context())
	defer endDaemon()
	for name, end := range map[string]func(*running){
		"replaced":  func(s *running) { s.end() },
		"announced": func(s *running) { go s.AnnounceShutdown(t.Context()) },
		"both":      func(s *running) { go s.AnnounceShutdown(t.Context()); s.end() },
	} {
		var served, drained atomic.Int32
		echoes := lines(echo)
		s := start(t, localListener(t), func(c *listen.ServerConfig) {
			c.DaemonContext = life
			c.Serve = func(c *listen.Conn) {
				c.OnDrain(func() { drained.Add(1) })
				served.Add(1)
				echoes(c)
			}
		})
		idle, fresh := call(t, s.addr, "127.0.0.1"), call(t, s.addr, "127.0.0.1")
		idle.send(t, "a\n")
		idle.expect(t, "a")
		testserver.Wait(t, "both are accepted", func() bool { return served.Load() == 2 })
		end(s)
		testserver.Wait(t, name+": OnDrain", func() bool { return drained.Load() == 2 })
		for _, c := range []*caller{idle, fresh} {
			c.send(t, "b\n")
			c.expect(t, "b close")
			c.expectEnd(t)
		}
		if got := drained.Load(); got != 2 {
			t.Errorf("%s: %d calls", name, got)
		}
	}
}

// A function passed to OnDrain while the server drains is called, and not after the end of the connection.
func TestOnDrainLate(t *testing.T) {
	called := make(chan bool, 1)
	s := start(t, localListener(t), func(c *listen.ServerConfig) {
		c.Serve = func(c *listen.Conn) {
			_, _ = c.Read(make([]byte, 1))
			c.OnDrain(func() { called <- c.Draining() })
			_, _ = c.Read(make([]byte, 1))
		}
	})
	c := call(t, s.addr, "127.0.0.1")
	announced, cancel := context.WithCancel(t.Context())
	cancel()
	s.AnnounceShutdown(announced)
	c.send(t, "a")
	testserver.Within(t, "OnDrain", func() {
		if !<-called {
			t.Error("it does not drain")
		}
	})
}

// A released connection, such as a WebSocket, ends with the daemon, not with its server, and that is no error.
func TestStopEndsReleasedConnections(t *testing.T) {
	for name, tunnel := range map[string]func(c *listen.Conn, echo func()){
		"released": func(c *listen.Conn, echo func()) { c.Release(); go echo() },
		"HTTP/2":   func(c *listen.Conn, echo func()) { c.SetTunnels(true); echo() },
	} {
		t.Run(name, func(t *testing.T) { stopEnds(t, tunnel) })
	}
}

// stopEnds is TestStopEndsReleasedConnections for one kind of tunnel.
func stopEnds(t *testing.T, tunnel func(c *listen.Conn, echo func())) {
	t.Helper()
	life, endDaemon := context.WithCancel(t.Context())
	defer endDaemon()
	released := make(chan context.Context, 1)
	s := start(t, localListener(t), func(c *listen.ServerConfig) {
		c.DaemonContext, c.ShutdownTimeout = life, 10*time.Millisecond
		c.Serve = func(c *listen.Conn) {
			if !c.SetServing() {
				return
			}
			tunnel(c, func() {
				released <- c.BeginWait()
				_, _ = io.Copy(c, c)
				c.EndWait()
				_ = c.Close()
				_ = c.Close()
			})
		}
	})
	c := call(t, s.addr, "127.0.0.1")
	ctx := <-released
	s.end()
	for range 3 {
		c.send(t, "a\n")
		c.expect(t, "a")
	}
	if ctx.Err() != nil {
		t.Error("the connection ended before the daemon")
	}
	endDaemon()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	c.expectEnd(t)
	if <-ctx.Done(); !errors.Is(context.Cause(ctx), http.ErrServerClosed) {
		t.Errorf("the context ends by %v", context.Cause(ctx))
	}
}

// A connection that ends without a request is reported to Unused; one with a request is not.
func TestUnusedConnectionsAreCounted(t *testing.T) {
	s := startHolding(t, func(c *listen.ServerConfig) { c.ReadHeaderTimeout = 10 * time.Millisecond })
	for range 3 {
		call(t, s.addr, "127.0.0.1")
	}
	testserver.Wait(t, "they are counted", func() bool { return s.unused.Load() == 3 })
	s = startHolding(t, nil)
	c := call(t, s.addr, "127.0.0.1")
	c.send(t, "a\n")
	c.expect(t, "a")
	c.Close()
	s.end()
	<-s.ended
	if got := s.unused.Load(); got != 0 {
		t.Errorf("%d are counted", got)
	}
}

// Serve ends if its listener fails, with all its connections.
func TestServeEndsWithListener(t *testing.T) {
	listener := localListener(t)
	s := &holding{began: make(chan *listen.Conn, 1)}
	s.running = start(t, listener, func(c *listen.ServerConfig) {
		c.Serve = lines(func(c *listen.Conn, request string) string {
			if request == "hold" {
				s.began <- c
				<-c.BeginWait().Done()
				c.EndWait()
			}
			return request
		})
	})
	fresh, idle, busy := call(t, s.addr, "127.0.0.1"), call(t, s.addr, "127.0.0.1"), call(t, s.addr, "127.0.0.1")
	idle.send(t, "a\n")
	idle.expect(t, "a")
	busy.send(t, "hold\n")
	<-s.began
	_ = listener.Close()
	testserver.Within(t, "Serve", func() {
		if err := <-s.ended; err == nil {
			t.Error("it has not failed")
		}
	})
	fresh.expectEnd(t)
	idle.expectEnd(t)
}

// A panic of a protocol ends its connection, by a reset, and no other one.
func TestPanic(t *testing.T) {
	limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 9}, time.Now)
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{Limit: limit})
	t.Cleanup(func() { _ = socket.Close() })
	s := start(t, socket.Listener(), func(c *listen.ServerConfig) {
		c.Serve = lines(func(_ *listen.Conn, request string) string {
			if request == "panic" {
				panic("of the test")
			}
			return request
		})
	})
	other := call(t, s.addr, "127.0.0.1")
	other.send(t, "a\n")
	other.expect(t, "a")
	c := call(t, s.addr, "127.0.0.1")
	c.send(t, "panic\n")
	if got, err := c.in.ReadString('\n'); err == nil || timedOut(err) {
		t.Errorf("%q, %v", got, err)
	}
	testserver.Wait(t, "it is released", func() bool { return limit.Connections() == 1 })
	other.send(t, "b\n")
	other.expect(t, "b")
}

// If many clients compete for few connections, each request is answered completely, or its connection is
// closed before use.
func TestStressAtLimit(t *testing.T) {
	var served atomic.Int64
	limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 4}, time.Now)
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{Limit: limit})
	t.Cleanup(func() { _ = socket.Close() })
	s := start(t, socket.Listener(), func(c *listen.ServerConfig) {
		c.Serve = lines(func(_ *listen.Conn, request string) string {
			served.Add(1)
			return strings.Repeat(request, 1000)
		})
	})
	var answered, lost atomic.Int64
	var clients sync.WaitGroup
	for i := range uint64(12) {
		random := rand.New(rand.NewPCG(i, 4))
		clients.Go(func() {
			for range 40 {
				conn, err := net.Dial("tcp", s.addr)
				if err != nil {
					t.Error(err)
					return
				}
				c := newCaller(conn)
				for range random.IntN(4) {
					if _, err = io.WriteString(c, "a\n"); err != nil {
						break
					}
					got, err := c.in.ReadString('\n')
					if err != nil {
						if lost.Add(1); got != "" || timedOut(err) {
							t.Errorf("%d bytes of a response, %v", len(got), err)
						}
						break
					}
					answered.Add(1)
				}
				_ = conn.Close()
			}
		})
	}
	clients.Wait()
	if served.Load() != answered.Load() {
		t.Errorf("%d requests were served, %d answered, %d lost", served.Load(), answered.Load(), lost.Load())
	}
}

// Many clients that pipeline get complete responses, in order, until the server ends.
func TestStress(t *testing.T) {
	for seed := range uint64(4) {
		s := start(t, localListener(t), nil)
		var batches atomic.Int64
		var ending atomic.Bool
		var clients sync.WaitGroup
		for i := range uint64(16) {
			random, c := rand.New(rand.NewPCG(seed, i)), call(t, s.addr, "127.0.0.1")
			clients.Go(func() {
				for ; ; batches.Add(1) {
					over, err := c.converse(random)
					if err != nil || over && !ending.Load() {
						t.Errorf("client %d of run %d: ended %v: %v", i, seed, over, err)
					}
					if err != nil || over {
						return
					}
				}
			})
		}
		testserver.Wait(t, "requests are answered", func() bool { return batches.Load() > 200 || t.Failed() })
		ending.Store(true)
		if seed%2 == 0 {
			go s.AnnounceShutdown(t.Context())
		} else {
			s.end()
		}
		clients.Wait()
		s.end()
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
	}
}

// converse sends requests, split anywhere, and returns whether the server has closed the connection between
// two responses.
func (c *caller) converse(random *rand.Rand) (over bool, err error) {
	var sent strings.Builder
	var want []string
	for range 1 + random.IntN(12) {
		request := strconv.Itoa(random.Int())
		sent.WriteString(request + "\n")
		want = append(want, request)
	}
	var sending sync.WaitGroup
	defer sending.Wait()
	cut := random.IntN(sent.Len())
	sending.Go(func() {
		for _, part := range []string{sent.String()[:cut], sent.String()[cut:]} {
			_, _ = io.WriteString(c, part) // unsent requests get no response
		}
	})
	for _, want := range want {
		got, err := c.in.ReadString('\n')
		switch {
		case got == "" || got == want+" close":
			return true, nil
		case got != want+"\n":
			return false, errors.Join(err, errors.New(got))
		}
	}
	return false, nil
}
