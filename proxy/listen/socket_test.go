package proxy_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
)

// Servers come and go, and no client is turned away or cut off.
func TestSocketHandOver(t *testing.T) {
	gate := proxy.NewGate(proxy.GateConfig{Connections: 64})
	socket := proxy.NewSocket(listen(t), proxy.SocketConfig{Gate: gate})
	addr := socket.Addr().String()
	stop := serve(t, socket.Listen(), nil)
	var served atomic.Int64
	var clients sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := one(addr); err != nil {
					t.Error(err)
					return
				}
				served.Add(1)
			}
		})
	}
	for range 20 {
		before := served.Load()
		poll(t, "clients are served", func() bool { return t.Failed() || served.Load() > before+8 })
		next := serve(t, socket.Listen(), nil)
		stop()
		stop = next
	}
	close(done)
	clients.Wait()
	within(t, "Drain", socket.Drain)
	stop()
	if err := socket.Close(); err != nil || gate.Open() != 0 {
		t.Errorf("%d are open, %v", gate.Open(), err)
	}
}

// one sends a request on a connection of its own.
func one(addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn)
	if err == nil && !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
		err = errors.New("not served: " + string(answer))
	}
	return err
}

// What waits in the queue of the system when a socket is drained is for who listens on.
func TestSocketDrain(t *testing.T) {
	listener := listen(t).(*net.TCPListener)
	file, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	socket := proxy.NewSocket(listener, proxy.SocketConfig{})
	addr := socket.Addr().String()
	stop := serve(t, socket.Listen(), nil)
	if err := one(addr); err != nil {
		t.Fatal(err)
	}
	within(t, "Drain", socket.Drain)
	within(t, "another Drain", socket.Drain)
	late := call(t, addr, "127.0.0.1")
	late.send(t, request)
	late.waits(t)
	stop()
	if err := errors.Join(socket.Close(), socket.Close()); err != nil {
		t.Fatal(err)
	}
	late.waits(t)
	inherited, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	after := proxy.NewSocket(inherited, proxy.SocketConfig{})
	serve(t, after.Listen(), nil)
	late.served(t, 200)
	if err := one(addr); err != nil {
		t.Error(err)
	}
	after.Drain()
	late.send(t, request) // what came in is served on
	late.served(t, 200)
	if err := after.Close(); err != nil {
		t.Error(err)
	}
}

// Close ends also where nobody takes the connections that came, or none may come.
func TestSocketCloseWithoutServer(t *testing.T) {
	for name, config := range map[string]proxy.SocketConfig{
		"all": {}, "some": {Gate: proxy.NewGate(proxy.GateConfig{Connections: 1})}, "none": {Gate: proxy.NewGate(proxy.GateConfig{})},
	} {
		socket := proxy.NewSocket(listen(t), config)
		var callers []*caller
		for range 3 {
			callers = append(callers, call(t, socket.Addr().String(), "127.0.0.1"))
		}
		within(t, name+": Close", func() {
			if err := socket.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		for _, c := range callers {
			if _, _, err := c.status(); err == nil {
				t.Errorf("%s: a connection is served", name)
			}
		}
		if config.Gate != nil && config.Gate.Open() != 0 {
			t.Errorf("%s: %d are open", name, config.Gate.Open())
		}
	}
}

// The end of a server is not the end of the socket, nor of another server.
func TestSocketShare(t *testing.T) {
	socket := proxy.NewSocket(listen(t), proxy.SocketConfig{})
	first, second := socket.Listen(), socket.Listen()
	if first.Addr() != socket.Addr() {
		t.Errorf("%v", first.Addr())
	}
	ended := make(chan error, 1)
	go func() { _, err := first.Accept(); ended <- err }()
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
	serve(t, second, nil)
	if err := one(socket.Addr().String()); err != nil {
		t.Error(err)
	}
	if err := socket.Close(); err != nil {
		t.Error(err)
	}
}

// failing is a listener that accepts nothing for a while.
type failing struct {
	net.Listener
	failures atomic.Int64
}

func (l *failing) Accept() (net.Conn, error) {
	if l.failures.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// A failure of Accept passes, and is not the end.
func TestSocketAcceptErrors(t *testing.T) {
	listener := &failing{Listener: listen(t)}
	listener.failures.Store(4)
	socket := proxy.NewSocket(listener, proxy.SocketConfig{Gate: proxy.NewGate(proxy.GateConfig{Connections: 1})})
	stop := serve(t, socket.Listen(), nil)
	for range 3 {
		if err := one(socket.Addr().String()); err != nil {
			t.Error(err)
		}
	}
	listener.failures.Store(1 << 40) // it does not pass, and must not be in the way of the end
	within(t, "Drain", socket.Drain)
	stop()
	if err := socket.Close(); err != nil {
		t.Error(err)
	}
	gone := proxy.NewSocket(listen(t), proxy.SocketConfig{})
	closed := listen(t)
	closed.Close()
	for _, s := range []*proxy.Socket{gone, proxy.NewSocket(closed, proxy.SocketConfig{})} {
		within(t, "Close of what is closed", func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The probe goes where a client goes, and tells whether anybody is there.
func TestSocketProbe(t *testing.T) {
	socket := proxy.NewSocket(listen(t), proxy.SocketConfig{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := socket.Probe(ctx); err == nil {
		t.Error("it finds a server where there is none")
	}
	serve(t, socket.Listen(), nil)
	if err := socket.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	socket.Drain()
	if err := socket.Probe(t.Context()); err != nil {
		t.Errorf("at the end: %v", err)
	}
	if err := socket.Close(); err != nil {
		t.Error(err)
	}
}
