package proxy_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
)

// gated serves what comes through a gate.
func gated(t testing.TB, config proxy.GateConfig, socket proxy.SocketConfig) (string, *proxy.Gate) {
	t.Helper()
	socket.Gate = proxy.NewGate(config)
	s := proxy.NewSocket(listen(t), socket)
	t.Cleanup(func() { // after the server's
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		poll(t, "the gate is empty", func() bool { return socket.Gate.Open() == 0 })
	})
	serve(t, s.Listen(), nil)
	return s.Addr().String(), socket.Gate
}

func TestGateInTotal(t *testing.T) {
	addr, gate := gated(t, proxy.GateConfig{Connections: 2}, proxy.SocketConfig{})
	var callers []*caller
	for range 5 {
		c := call(t, addr, "127.0.0.1")
		c.send(t, request)
		callers = append(callers, c)
	}
	for i, c := range callers {
		c.served(t, 200)
		if open := gate.Open(); open > 2 {
			t.Errorf("%d connections are open", open)
		}
		if i+2 < len(callers) {
			callers[i+2].waits(t)
		}
		c.Close()
	}
}

func TestGateOfOneClient(t *testing.T) {
	for _, plain := range []bool{true, false} {
		var refused atomic.Int64
		addr, gate := gated(t, proxy.GateConfig{Connections: 100, ClientConnections: 2, Exempt: prefixes("127.0.0.9/32")},
			proxy.SocketConfig{Plain: plain, Refused: func() { refused.Add(1) }})
		var first *caller
		for range 2 {
			first = call(t, addr, "127.0.0.1")
			first.send(t, request)
			first.served(t, 200)
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
		if got := refused.Load(); got != 2 || gate.Open() != 2 {
			t.Errorf("%d are refused, %d open", got, gate.Open())
		}
		for _, from := range []string{"127.0.0.2", "127.0.0.9", "127.0.0.9", "127.0.0.9", "127.0.0.9"} { // others, and one that speaks for many
			c := call(t, addr, from)
			c.send(t, request)
			c.served(t, 200)
		}
		first.Close()
		poll(t, "one of its own ends", func() bool { return gate.Open() == 6 })
		c := call(t, addr, "127.0.0.1")
		c.send(t, request)
		c.served(t, 200)
	}
}

func TestGateConfiguredAnew(t *testing.T) {
	addr, gate := gated(t, proxy.GateConfig{Connections: 1}, proxy.SocketConfig{Plain: true})
	var callers []*caller
	for range 4 {
		c := call(t, addr, "127.0.0.1")
		c.send(t, request)
		callers = append(callers, c)
	}
	callers[0].served(t, 200)
	callers[1].waits(t)
	gate.Configure(proxy.GateConfig{Connections: 3})
	callers[1].served(t, 200)
	callers[2].served(t, 200)
	callers[3].waits(t)
	gate.Configure(proxy.GateConfig{Connections: 1}) // those that are open stay
	for _, c := range callers[:3] {
		c.send(t, request)
		c.served(t, 200)
		callers[3].waits(t)
		c.Close()
	}
	callers[3].served(t, 200)
	gate.Configure(proxy.GateConfig{Connections: 9, ClientConnections: 1})
	c := call(t, addr, "127.0.0.1")
	c.served(t, 429)
}

// An open connection counts once, however often it is closed and whoever closes it.
func TestGateCountsBack(t *testing.T) {
	gate := proxy.NewGate(proxy.GateConfig{Connections: 100, ClientConnections: 100})
	socket := proxy.NewSocket(listen(t), proxy.SocketConfig{Gate: gate})
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
	if gate.Open() != 50 {
		t.Errorf("%d are open", gate.Open())
	}
	var closing sync.WaitGroup
	for _, conn := range accepted[1:] {
		closing.Go(func() { conn.Close() })
		closing.Go(func() { conn.Close() })
	}
	closing.Wait()
	if gate.Open() != 1 {
		t.Errorf("%d are open after a double Close", gate.Open())
	}
	accepted[0].Close()
	within(t, "Close", func() { socket.Close() })
	if gate.Open() != 0 {
		t.Errorf("%d are open in the end", gate.Open())
	}
}

// A client that takes nothing of what is sent does not hold its connection for ever.
func TestGateEndsSlowReaders(t *testing.T) {
	addr, gate := gated(t, proxy.GateConfig{Connections: 10}, proxy.SocketConfig{WriteUntil: func() time.Time { return time.Now().Add(20 * time.Millisecond) }})
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
	poll(t, "the connection has ended", func() bool { return gate.Open() == 0 })
}
