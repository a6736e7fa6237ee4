package proxy

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// GateConfig bounds the connections of clients.
type GateConfig struct {
	Connections       int // at a time
	ClientConnections int // of one client at a time; 0 is no bound
	// Exempt are not counted by client: they speak for many.
	Exempt []netip.Prefix
}

// Gate counts connections. It is safe for concurrent use, and can be configured anew
// while it counts.
type Gate struct {
	mu      sync.Mutex
	config  GateConfig
	open    int
	clients map[netip.Addr]int
	changed chan struct{} // closed, and made anew, when there may be room again
}

// NewGate returns a Gate through which nobody has come.
func NewGate(config GateConfig) *Gate {
	return &Gate{config: config, clients: make(map[netip.Addr]int), changed: make(chan struct{})}
}

// Configure takes new bounds; connections that are open stay so.
func (g *Gate) Configure(config GateConfig) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.config = config
	g.tell()
}

// Open returns the number of connections.
func (g *Gate) Open() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

func (g *Gate) tell() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// wait returns when there is room, or when done is closed.
func (g *Gate) wait(done <-chan struct{}) {
	for {
		g.mu.Lock()
		room, changed := g.open < g.config.Connections, g.changed
		g.mu.Unlock()
		if room {
			return
		}
		select {
		case <-changed:
		case <-done:
			return
		}
	}
}

// one returns what counts as one client: of IPv6 a network, of which it has as many
// addresses as it likes.
func one(client netip.Addr) netip.Addr {
	if network, err := client.Prefix(64); err == nil && client.Is6() {
		return network.Addr()
	}
	return client
}

// enter counts a connection of a client, and reports whether it may stay. One without
// an address is of this machine.
func (g *Gate) enter(client netip.Addr) bool {
	client = one(client)
	g.mu.Lock()
	defer g.mu.Unlock()
	if most := g.config.ClientConnections; most > 0 && client.IsValid() && g.clients[client] >= most && !contains(g.config.Exempt, client) {
		return false
	}
	g.open++
	g.clients[client]++
	return true
}

func (g *Gate) leave(client netip.Addr) {
	client = one(client)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.clients[client]--; g.clients[client] <= 0 {
		delete(g.clients, client)
	}
	if g.open--; g.open == g.config.Connections-1 {
		g.tell()
	}
}

// gatedConn leaves the gate when it is closed, and ends where its client does not take
// what is sent. What was broken off ends by a reset: to a client of HTTP/1.0 any other
// end is that of a whole response.
type gatedConn struct {
	net.Conn
	leave  func()
	until  func() time.Time // nil: there is all the time
	own    atomic.Bool      // whoever writes has set a deadline
	broken atomic.Bool      // it ends before all was said
}

// piece is what a client must take in the time that it has.
const piece = 64 << 10

// Write implements net.Conn.
func (c *gatedConn) Write(p []byte) (written int, err error) {
	for {
		if c.broken.Load() { // not even the farewell of TLS is said then
			return written, os.ErrDeadlineExceeded
		}
		if c.until != nil && !c.own.Load() {
			if err := c.Conn.SetWriteDeadline(c.until()); err != nil {
				return written, err
			}
		}
		n, err := c.Conn.Write(p[:min(len(p), piece)])
		written += n
		if err != nil {
			c.broken.Store(true)
			return written, err
		}
		if p = p[n:]; len(p) == 0 {
			return written, nil
		}
	}
}

// SetWriteDeadline implements net.Conn. One that is long past breaks off.
func (c *gatedConn) SetWriteDeadline(t time.Time) error {
	c.own.Store(!t.IsZero())
	if !t.IsZero() && t.Before(longPast()) {
		c.broken.Store(true)
	}
	return c.Conn.SetWriteDeadline(t)
}

// longPast is before all deadlines that leave time.
func longPast() time.Time { return time.Unix(1<<20, 0) }

// SetDeadline implements net.Conn.
func (c *gatedConn) SetDeadline(t time.Time) error {
	c.own.Store(!t.IsZero())
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *gatedConn) Close() error {
	c.leave()
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.broken.Load() {
		_ = tcp.SetLinger(0)
	}
	return c.Conn.Close()
}

// CloseWrite lets net/http close one direction.
func (c *gatedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// contains reports whether one of prefixes has the address.
func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range prefixes {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// addrOf returns the IP address of a peer, in its own form; the zero value where it
// has none, as behind a socket in the file system.
func addrOf(peer string) netip.Addr {
	addrPort, err := netip.ParseAddrPort(peer)
	if err != nil {
		return netip.Addr{}
	}
	return addrPort.Addr().Unmap().WithZone("")
}
