package listen_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// While servers are replaced no client is refused or cut off.
func TestSocketHandOver(t *testing.T) {
	limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 64}, time.Now)
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{Limit: limit})
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
				if err := requestOnce(addr); err != nil {
					t.Error(err)
					return
				}
				served.Add(1)
			}
		})
	}
	for range 20 {
		before := served.Load()
		testserver.Wait(t, "clients are served", func() bool { return t.Failed() || served.Load() > before+8 })
		next := serve(t, socket.Listen(), nil)
		stop()
		stop = next
	}
	close(done)
	clients.Wait()
	testserver.Within(t, "Drain", socket.Drain)
	stop()
	if err := socket.Close(); err != nil || limit.Open() != 0 {
		t.Errorf("%d are open, %v", limit.Open(), err)
	}
}

// requestOnce sends a request on a connection of its own.
func requestOnce(addr string) error {
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

// Connections in the backlog when a socket is drained are left for the next process.
func TestSocketDrain(t *testing.T) {
	listener := localListener(t).(*net.TCPListener)
	file, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	socket := listen.NewSocket(listener, listen.SocketConfig{})
	addr := socket.Addr().String()
	stop := serve(t, socket.Listen(), nil)
	if err := requestOnce(addr); err != nil {
		t.Fatal(err)
	}
	testserver.Within(t, "Drain", socket.Drain)
	testserver.Within(t, "another Drain", socket.Drain)
	late := call(t, addr, "127.0.0.1")
	late.send(t, request)
	stop()
	if err := errors.Join(socket.Close(), socket.Close()); err != nil {
		t.Fatal(err)
	}
	inherited, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	after := listen.NewSocket(inherited, listen.SocketConfig{})
	serve(t, after.Listen(), func(c *listen.ServerConfig) {
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "after") })
	})
	if status, body, err := late.status(); status != 200 || body != "after" || err != nil {
		t.Errorf("the connection in the queue: %d %q, %v", status, body, err)
	}
	if err := requestOnce(addr); err != nil {
		t.Error(err)
	}
	after.Drain()
	late.send(t, request) // what came in is served on
	late.served(t, 200)
	if err := after.Close(); err != nil {
		t.Error(err)
	}
}

// Close returns also where no server takes accepted connections, or none may be accepted.
func TestSocketCloseWithoutServer(t *testing.T) {
	for name, config := range map[string]listen.SocketConfig{
		"all": {}, "some": {Limit: listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 1}, time.Now)},
		"none": {Limit: listen.NewConnectionLimit(listen.ConnectionLimits{}, time.Now)},
	} {
		socket := listen.NewSocket(localListener(t), config)
		var callers []*caller
		for range 3 {
			callers = append(callers, call(t, socket.Addr().String(), "127.0.0.1"))
		}
		testserver.Within(t, name+": Close", func() {
			if err := socket.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		for _, c := range callers {
			if _, _, err := c.status(); err == nil {
				t.Errorf("%s: a connection is served", name)
			}
		}
		if config.Limit != nil && config.Limit.Open() != 0 {
			t.Errorf("%s: %d are open", name, config.Limit.Open())
		}
	}
}

// Closing the listener of one server closes neither the socket nor another listener.
func TestSocketShare(t *testing.T) {
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{})
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
	if err := requestOnce(socket.Addr().String()); err != nil {
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

// Accept is retried after temporary errors.
func TestSocketAcceptErrors(t *testing.T) {
	listener := &failing{Listener: localListener(t)}
	listener.failures.Store(4)
	socket := listen.NewSocket(listener, listen.SocketConfig{Limit: listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 1}, time.Now)})
	stop := serve(t, socket.Listen(), nil)
	for range 3 {
		if err := requestOnce(socket.Addr().String()); err != nil {
			t.Error(err)
		}
	}
	listener.failures.Store(1 << 40) // it does not pass, and must not be in the way of the end
	testserver.Within(t, "Drain", socket.Drain)
	stop()
	if err := socket.Close(); err != nil {
		t.Error(err)
	}
	gone := listen.NewSocket(localListener(t), listen.SocketConfig{})
	closed := localListener(t)
	closed.Close()
	for _, s := range []*listen.Socket{gone, listen.NewSocket(closed, listen.SocketConfig{})} {
		testserver.Within(t, "Close of what is closed", func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A probe succeeds only where a server answers.
func TestSocketProbe(t *testing.T) {
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	want := "no server accepts connections of " + socket.Addr().String() + ": context canceled"
	if err := socket.Probe(canceled); !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("where there is no server: %v", err)
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
