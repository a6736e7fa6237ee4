package listen_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// While servers are replaced, no client is refused or cut off.
func TestSocketHandOver(t *testing.T) {
	limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 64}, time.Now)
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{Limit: limit})
	addr := socket.Addr().String()
	stop := serve(t, socket.Listener(), nil)
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
		next := serve(t, socket.Listener(), nil)
		stop()
		stop = next
	}
	close(done)
	clients.Wait()
	testserver.Within(t, "Drain", socket.Drain)
	stop()
	if err := socket.Close(); err != nil || limit.Connections() != 0 {
		t.Errorf("%d are open, %v", limit.Connections(), err)
	}
}

// A closed listener takes no connection, even if one waits for a server: it would be served by settings that have
// been replaced.
func TestSocketClosedListener(t *testing.T) {
	limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 64}, time.Now)
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{Limit: limit})
	before := socket.Listener()
	before.Close()
	conn, err := net.Dial("tcp", socket.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	testserver.Wait(t, "the connection is accepted", func() bool { return limit.Connections() == 1 })
	for range 1000 {
		if c, err := before.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("%v, %v", c, err)
		}
	}
	c, err := socket.Listener().Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := socket.Close(); err != nil {
		t.Error(err)
	}
}

// requestOnce sends a request on a new connection.
func requestOnce(addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "once\n"); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if errors.Is(err, io.EOF) && answer == "once close" {
		return nil
	}
	if err == nil && answer != "once\n" {
		err = errors.New("not served: " + answer)
	}
	return err
}

// When a socket is drained, connections in its backlog are left for the next process.
func TestSocketDrain(t *testing.T) {
	listener := localListener(t).(*net.TCPListener)
	file, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	socket := listen.NewSocket(listener, listen.SocketConfig{})
	addr := socket.Addr().String()
	stop := serve(t, socket.Listener(), nil)
	if err := requestOnce(addr); err != nil {
		t.Fatal(err)
	}
	testserver.Within(t, "Drain", socket.Drain)
	testserver.Within(t, "another Drain", socket.Drain)
	late := call(t, addr, "127.0.0.1")
	late.send(t, "late\n")
	stop()
	if err := errors.Join(socket.Close(), socket.Close()); err != nil {
		t.Fatal(err)
	}
	inherited, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	after := listen.NewSocket(inherited, listen.SocketConfig{})
	serve(t, after.Listener(), func(c *listen.ServerConfig) {
		c.Serve = lines(func(_ *listen.Conn, request string) string { return request + " after" })
	})
	late.expect(t, "late after")
	after.Drain()
	late.send(t, "later\n") // accepted connections are still served
	late.expect(t, "later after")
	if err := after.Close(); err != nil {
		t.Error(err)
	}
}

// Close also returns if no server takes accepted connections, or none may be accepted.
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
			c.expectEnd(t)
		}
		if config.Limit != nil && config.Limit.Connections() != 0 {
			t.Errorf("%s: %d are open", name, config.Limit.Connections())
		}
	}
}

// Closing the listener of one server closes neither the socket nor another listener.
func TestSocketShare(t *testing.T) {
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{})
	first, second := socket.Listener(), socket.Listener()
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

// failing is a listener that fails for a while.
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
	limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 1}, time.Now)
	socket := listen.NewSocket(listener, listen.SocketConfig{Limit: limit})
	stop := serve(t, socket.Listener(), nil)
	for range 3 {
		if err := requestOnce(socket.Addr().String()); err != nil {
			t.Error(err)
		}
	}
	listener.failures.Store(1 << 40) // a permanent failure must not block the end
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

// A probe is not reported as an unused connection.
func TestProbeIsUsed(t *testing.T) {
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{})
	unused := 0
	stop := serve(t, socket.Listener(), func(c *listen.ServerConfig) {
		c.Serve = func(c *listen.Conn) { c.AnswerProbe(func() {}) }
		c.Unused = func() { unused++ }
	})
	if err := socket.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	stop()
	if unused != 0 {
		t.Errorf("%d connections were not used", unused)
	}
	if err := socket.Close(); err != nil {
		t.Error(err)
	}
}

// A probe succeeds only if a server responds.
func TestSocketProbe(t *testing.T) {
	socket := listen.NewSocket(localListener(t), listen.SocketConfig{})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	want := "no server accepts connections of " + socket.Addr().String() + ": context canceled"
	if err := socket.Probe(canceled); !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("without a server: %v", err)
	}
	var probes atomic.Int32
	serve(t, socket.Listener(), func(c *listen.ServerConfig) {
		own, _ := certificates(t)
		c.TLS = own // a probe has no TLS
		c.Serve = func(c *listen.Conn) {
			if _, err := c.Handshake(); err != nil || !c.IsProbe() || c.Secure() {
				t.Errorf("%v, a probe: %t, with TLS: %t", err, c.IsProbe(), c.Secure())
			}
			_, _ = c.Read(make([]byte, 1<<10))
			response := "HTTP/1.1 204 No Content\r\n\r\n"
			if probes.Add(1) == 2 {
				response = "no response"
			}
			_, _ = io.WriteString(c, response)
		}
	})
	if err := socket.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	if err := socket.Probe(t.Context()); err == nil {
		t.Error("whatever is answered is taken for a response")
	}
	socket.Drain()
	if err := socket.Probe(t.Context()); err != nil {
		t.Errorf("at the end: %v", err)
	}
	if err := socket.Close(); err != nil {
		t.Error(err)
	}
}
