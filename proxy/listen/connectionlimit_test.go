package listen_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// held is a request that is answered when the test ends.
const held = "GET /held HTTP/1.1\r\nHost: a\r\n\r\n"

// serveLimited serves connections within limits. most is the greatest number of connections
// that were open when a request was served, since it was last read.
func serveLimited(t testing.TB, limits listen.ConnectionLimits, config listen.SocketConfig, change ...func(*listen.ServerConfig)) (addr string,
	limit *listen.ConnectionLimit, most func() int,
) {
	t.Helper()
	end := make(chan struct{})
	limit = listen.NewConnectionLimit(limits, time.Now)
	config.Limit = limit
	s := listen.NewSocket(localListener(t), config)
	t.Cleanup(func() { // after the server's
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		testserver.Wait(t, "all connections are closed", func() bool { return limit.Open() == 0 })
	})
	var mu sync.Mutex
	seen := 0
	serve(t, s.Listen(), func(c *listen.ServerConfig) {
		c.FastPath = noPath{} // as the daemon has one
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			seen = max(seen, limit.Open())
			mu.Unlock()
			if r.URL.Path == "/held" {
				w.WriteHeader(http.StatusAccepted)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-end:
				case <-r.Context().Done():
				}
			}
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

// hold sends a request that is being answered until the test ends.
func (c *caller) hold(t testing.TB) {
	t.Helper()
	c.send(t, held)
	c.begun(t)
}

// begun reads the head of the answer.
func (c *caller) begun(t testing.TB) {
	t.Helper()
	if response, err := http.ReadResponse(c.in, nil); err != nil || response.StatusCode != http.StatusAccepted {
		t.Fatalf("%+v, %v", response, err)
	}
}

func TestConnectionLimitInTotal(t *testing.T) {
	addr, _, most := serveLimited(t, listen.ConnectionLimits{Connections: 2}, listen.SocketConfig{})
	var callers []*caller
	for range 5 {
		c := call(t, addr, "127.0.0.1")
		c.send(t, request)
		callers = append(callers, c)
	}
	for _, c := range callers {
		c.served(t, 200)
		c.Close()
	}
	if got := most(); got > 2 {
		t.Errorf("%d connections were open", got)
	}
}

func TestConnectionLimitOfOneClient(t *testing.T) {
	answers := map[bool]func() listen.Document{true: tooMany}
	for _, plain := range []bool{true, false} {
		var refused atomic.Int64
		addr, limit, _ := serveLimited(t, listen.ConnectionLimits{Connections: 100, ClientConnections: 2, Exempt: prefixes("127.0.0.9/32")},
			listen.SocketConfig{TooMany: answers[plain], Refused: func() { refused.Add(1) }})
		var first *caller
		for range 2 {
			first = call(t, addr, "127.0.0.1")
			first.hold(t)
		}
		for _, says := range []string{"", request} {
			c := call(t, addr, "127.0.0.1")
			_, _ = io.WriteString(c, says) // it may be closed by now
			if plain {
				response, err := http.ReadResponse(c.in, nil)
				if err != nil || response.StatusCode != 429 || response.Header.Get("Retry-After") == "" || !response.Close {
					t.Fatalf("%+v, %v", response, err)
				}
				if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), "limits.client_connections") {
					t.Errorf("%s, %v", body, err)
				}
			}
			if got, err := c.in.ReadByte(); err == nil || timedOut(err) {
				t.Errorf("it is not closed: %q, %v", got, err)
			}
		}
		if got := refused.Load(); got != 2 || limit.Open() != 2 {
			t.Errorf("%d are refused, %d open", got, limit.Open())
		}
		for _, from := range []string{"127.0.0.2", "127.0.0.9", "127.0.0.9", "127.0.0.9", "127.0.0.9"} { // others, and an exempt proxy
			call(t, addr, from).hold(t)
		}
		_ = first.Conn.(*net.TCPConn).SetLinger(0)
		first.Close()
		testserver.Wait(t, "one of its own ends", func() bool { return limit.Open() == 6 })
		c := call(t, addr, "127.0.0.1")
		c.send(t, request)
		c.served(t, 200)
	}
}

func TestConnectionLimitChanged(t *testing.T) {
	addr, limit, most := serveLimited(t, listen.ConnectionLimits{Connections: 1}, listen.SocketConfig{TooMany: tooMany})
	first := call(t, addr, "127.0.0.1")
	first.hold(t)
	var callers []*caller
	more := func(n int) {
		for range n {
			c := call(t, addr, "127.0.0.1")
			c.send(t, held)
			callers = append(callers, c)
		}
	}
	more(2)
	if got := most(); got != 1 {
		t.Errorf("%d were open, where one may be", got)
	}
	limit.Change(listen.ConnectionLimits{Connections: 3})
	callers[0].begun(t)
	callers[1].begun(t)
	more(1) // not before: one whose request is not taken up yet may be closed for it
	if got := most(); got > 3 {
		t.Errorf("%d were open, where three may be", got)
	}
	limit.Change(listen.ConnectionLimits{Connections: 1}) // those that are open stay
	if got := limit.Open(); got != 3 {
		t.Errorf("%d are open", got)
	}
	for _, c := range []*caller{first, callers[0], callers[1]} {
		_ = c.Conn.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	callers[2].begun(t)
	if got := most(); got != 1 {
		t.Errorf("%d were open when the last one was served, where one may be", got)
	}
	limit.Change(listen.ConnectionLimits{Connections: 9, ClientConnections: 1})
	call(t, addr, "127.0.0.1").served(t, 429)
}

// A connection is released once, however often it is closed.
func TestConnectionLimitCountsBack(t *testing.T) {
	limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 100, ClientConnections: 100}, time.Now)
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{Limit: limit})
	server := socket.Listen()
	var accepted []net.Conn
	for range 50 {
		call(t, socket.Addr().String(), "127.0.0.1")
		conn, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		accepted = append(accepted, conn)
	}
	if limit.Open() != 50 {
		t.Errorf("%d are open", limit.Open())
	}
	var closing sync.WaitGroup
	for _, conn := range accepted[1:] {
		closing.Go(func() { conn.Close() })
		closing.Go(func() { conn.Close() })
	}
	closing.Wait()
	if limit.Open() != 1 {
		t.Errorf("%d are open after a double Close", limit.Open())
	}
	accepted[0].Close()
	testserver.Within(t, "Close", func() { socket.Close() })
	if limit.Open() != 0 {
		t.Errorf("%d are open in the end", limit.Open())
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
			if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				return
			}
		}
	}()
	testserver.Wait(t, "the connection has ended", func() bool { return limit.Open() == 0 })
}

// noPath is a FastPath that answers and serves nothing.
type noPath struct{}

func (noPath) AnswerFast(*listen.FastConn, []byte) int { return 0 }
func (noPath) ServePlain(*listen.FastConn, []byte) int { return 0 }
