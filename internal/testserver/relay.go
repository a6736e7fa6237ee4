package testserver

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Relay forwards TCP connections to a server until it is cut or frozen. It is safe for concurrent use.
type Relay struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	cut   bool
	late  time.Duration
	conns map[net.Conn]bool
	dials int
	sent  int64         // bytes sent by clients
	held  chan struct{} // closed when forwarding resumes; nil while not frozen
	done  sync.WaitGroup
}

// StartRelay starts a Relay to an address or a Unix socket. For a server that is restarted a Unix socket is
// preferred, because dialing a free loopback port may connect to itself. It ends with the test.
func StartRelay(t testing.TB, to string) *Relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{listener: listener, to: to, conns: make(map[net.Conn]bool)}
	r.done.Go(r.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		r.Cut()
		r.Thaw()
		r.done.Wait()
	})
	return r
}

// Addr returns the listening address as "127.0.0.1:port".
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Cut closes all connections, and new ones immediately.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
	for conn := range r.conns {
		_ = conn.Close()
	}
}

// Freeze keeps all connections and accepts new ones, but forwards no data until Thaw, like a server that hangs.
func (r *Relay) Freeze() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == nil {
		r.held = make(chan struct{})
	}
}

// Thaw resumes forwarding, including data received meanwhile.
func (r *Relay) Thaw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held != nil {
		close(r.held)
		r.held = nil
	}
}

// Delay delays all data from the server.
func (r *Relay) Delay(late time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = late
}

// Dials returns the number of connections, including those closed immediately.
func (r *Relay) Dials() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dials
}

// Sent returns the number of bytes sent by clients.
func (r *Relay) Sent() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent
}

// Restore forwards new connections again after Cut.
func (r *Relay) Restore() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = false
}

func (r *Relay) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		r.dials++
		r.mu.Unlock()
		r.done.Go(func() { r.pass(conn) })
	}
}

// pass forwards one connection.
func (r *Relay) pass(client net.Conn) {
	defer client.Close()
	if !r.add(client) {
		return
	}
	defer r.remove(client)
	network := "tcp"
	if strings.HasPrefix(r.to, "/") {
		network = "unix"
	}
	server, err := net.Dial(network, r.to)
	if err != nil {
		return
	}
	defer server.Close()
	if !r.add(server) {
		return
	}
	defer r.remove(server)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			r.copy(way[0], way[1], way[0] == client) // either end may have closed
			_ = client.Close()
			_ = server.Close()
		})
	}
	both.Wait()
}

// copy forwards data until either end closes. Data from the server may be delayed.
func (r *Relay) copy(to, from net.Conn, isServer bool) {
	data := make([]byte, 32<<10)
	for {
		n, err := from.Read(data)
		r.mu.Lock()
		held, late := r.held, r.late
		if !isServer {
			r.sent += int64(n)
		}
		r.mu.Unlock()
		if held != nil {
			<-held
		}
		if isServer && late > 0 {
			<-time.After(late)
		}
		if n > 0 {
			if _, err := to.Write(data[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// add reports whether a connection may be forwarded.
func (r *Relay) add(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.cut {
		r.conns[conn] = true
	}
	return !r.cut
}

func (r *Relay) remove(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
}
