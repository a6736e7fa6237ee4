package listen_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// serveLimited serves connections within limits. The request "held" gets its response, and stays in progress until the
// test ends. most returns the largest number of connections open while a request was served, since the last call.
func serveLimited(
	t testing.TB, limits listen.ConnectionLimits, config listen.SocketConfig, change ...func(*listen.ServerConfig),
) (addr string, limit *listen.ConnectionLimit, most func() int) {
	t.Helper()
	end := make(chan struct{})
	limit = listen.NewConnectionLimit(limits, time.Now)
	config.Limit = limit
	s := listen.NewSocket(localListener(t), config)
	t.Cleanup(func() { // after that of the server
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		testserver.Wait(t, "all connections are closed", func() bool { return limit.Connections() == 0 })
	})
	var mu sync.Mutex
	seen := 0
	serve(t, s.Listener(), func(c *listen.ServerConfig) {
		c.Serve = lines(func(conn *listen.Conn, request string) string {
			mu.Lock()
			seen = max(seen, limit.Connections())
			mu.Unlock()
			if request == "held" {
				_, _ = io.WriteString(conn, "held\n")
				select {
				case <-end:
				case <-conn.BeginWait().Done():
				}
				conn.EndWait()
			}
			return request
		})
		for _, change := range change {
			change(c)
		}
	})
	t.Cleanup(func() { close(end) })
	return s.Addr().String(), limit, func() int {
		mu.Lock()
		defer mu.Unlock()
		defer func() { seen = 0 }()
		return seen
	}
}

// hold sends a request that stays in progress until the test ends.
func (c *caller) hold(t testing.TB) {
	t.Helper()
	c.send(t, "held\n")
	c.expect(t, "held")
}

func TestConnectionLimitInTotal(t *testing.T) {
	addr, _, most := serveLimited(t, listen.ConnectionLimits{Connections: 2}, listen.SocketConfig{})
	var callers []*caller
	for range 5 {
		c := call(t, addr, "127.0.0.1")
		c.send(t, "a\n")
		callers = append(callers, c)
	}
	for _, c := range callers {
		c.expect(t, "a")
		c.Close()
	}
	if got := most(); got > 2 {
		t.Errorf("%d connections were open", got)
	}
}

func tooMany() []byte { return []byte("too many") }

func TestConnectionLimitOfOneClient(t *testing.T) {
	t.Parallel()
	for want, answer := range map[string]func() []byte{"too many": tooMany, "": nil} {
		var refused atomic.Int64
		limits := listen.ConnectionLimits{Connections: 100, ClientConnections: 2, Exempt: prefixes("127.0.0.9/32")}
		config := listen.SocketConfig{TooManyConnections: answer, Rejected: func() { refused.Add(1) }}
		addr, limit, _ := serveLimited(t, limits, config)
		var first *caller
		for range 2 {
			first = call(t, addr, "127.0.0.1")
			first.hold(t)
		}
		for range 2 {
			c := call(t, addr, "127.0.0.1")
			if got, err := io.ReadAll(c.in); err != nil || string(got) != want {
				t.Errorf("%q, %v; not %q", got, err, want)
			}
		}
		if got := refused.Load(); got != 2 || limit.Connections() != 2 {
			t.Errorf("%d are refused, %d open", got, limit.Connections())
		}
		const other, exempt = "127.0.0.2", "127.0.0.9"
		for _, from := range []string{other, exempt, exempt, exempt, exempt} {
			call(t, addr, from).hold(t)
		}
		first.reset()
		testserver.Wait(t, "one of its own ends", func() bool { return limit.Connections() == 6 })
		c := call(t, addr, "127.0.0.1")
		c.send(t, "a\n")
		c.expect(t, "a")
	}
}

func TestConnectionLimitChanged(t *testing.T) {
	t.Parallel()
	addr, limit, most := serveLimited(t, listen.ConnectionLimits{Connections: 1},
		listen.SocketConfig{TooManyConnections: tooMany})
	first := call(t, addr, "127.0.0.1")
	first.hold(t)
	var callers []*caller
	more := func(n int) {
		for range n {
			c := call(t, addr, "127.0.0.1")
			c.send(t, "held\n")
			callers = append(callers, c)
		}
	}
	more(2)
	if got := most(); got != 1 {
		t.Errorf("%d were open, where one may be", got)
	}
	limit.SetLimits(listen.ConnectionLimits{Connections: 3})
	callers[0].expect(t, "held")
	callers[1].expect(t, "held")
	more(1) // not before: a connection whose request is not processed yet may be closed for it
	if got := most(); got > 3 {
		t.Errorf("%d were open, where three may be", got)
	}
	limit.SetLimits(listen.ConnectionLimits{Connections: 1}) // open connections stay open
	if got := limit.Connections(); got != 3 {
		t.Errorf("%d are open", got)
	}
	for _, c := range []*caller{first, callers[0], callers[1]} {
		c.reset()
	}
	callers[2].expect(t, "held")
	if got := most(); got != 1 {
		t.Errorf("%d were open when the last one was served, where one may be", got)
	}
	limit.SetLimits(listen.ConnectionLimits{Connections: 9, ClientConnections: 1})
	if got, err := io.ReadAll(call(t, addr, "127.0.0.1").in); err != nil || string(got) != "too many" {
		t.Errorf("%q, %v", got, err)
	}
}

// A connection is released once, however often it is closed.
func TestConnectionLimitCountsBack(t *testing.T) {
	limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 100, ClientConnections: 100}, time.Now)
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{Limit: limit})
	server := socket.Listener()
	var accepted []net.Conn
	for range 50 {
		call(t, socket.Addr().String(), "127.0.0.1")
		conn, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		accepted = append(accepted, conn)
	}
	if limit.Connections() != 50 {
		t.Errorf("%d are open", limit.Connections())
	}
	var closing sync.WaitGroup
	for _, conn := range accepted[1:] {
		closing.Go(func() { conn.Close() })
		closing.Go(func() { conn.Close() })
	}
	closing.Wait()
	if limit.Connections() != 1 {
		t.Errorf("%d are open after a double Close", limit.Connections())
	}
	accepted[0].Close()
	testserver.Within(t, "Close", func() { socket.Close() })
	if limit.Connections() != 0 {
		t.Errorf("%d are open in the end", limit.Connections())
	}
}

// The connection of a client that does not read ends at the write deadline.
func TestConnectionLimitEndsSlowReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	addr, limit, _ := serveLimited(t, listen.ConnectionLimits{Connections: 10},
		listen.SocketConfig{WriteDeadline: func() time.Time { return time.Now().Add(20 * time.Millisecond) }})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { // pipelines without reading, until the connection ends
		for {
			if _, err := io.WriteString(conn, "a request, and its response\n"); err != nil {
				return
			}
		}
	}()
	testserver.Wait(t, "the connection has ended", func() bool { return limit.Connections() == 0 })
}
