package testserver

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Relay passes TCP connections on to a server, until it is cut. It is safe for concurrent use.
type Relay struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
	done  sync.WaitGroup
}

// StartRelay starts a Relay to an address, or to a Unix socket: a server that is restarted is better reached by
// that, as dialling a free port of loopback may connect to itself. It ends with the test.
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
		r.done.Wait()
	})
	return r
}

// Addr returns where it listens, as "127.0.0.1:port".
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Cut ends all connections, and those that are made from now on at once.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
	for conn := range r.conns {
		_ = conn.Close()
	}
}

// Restore passes new connections on again.
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
		r.done.Go(func() { r.pass(conn) })
	}
}

// pass passes on one connection.
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
			_, _ = io.Copy(way[0], way[1]) // either end may have gone
			_ = client.Close()
			_ = server.Close()
		})
	}
	both.Wait()
}

// add reports whether a connection may be passed on.
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
