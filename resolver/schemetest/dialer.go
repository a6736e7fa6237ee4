package schemetest

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/netguard"
)

// dialer dials for a handler through a guard, as the daemon does, and records connections and bytes.
type dialer struct {
	guard   *netguard.Guard
	idle    time.Duration
	oneByte bool                            // reads return one byte at a time
	before  func(ctx context.Context) error // called before each connection; nil for none

	mu     sync.Mutex
	open   map[*clientConn]bool
	dialed []netip.AddrPort
	read   int64 // bytes read
}

func newDialer(idle time.Duration) *dialer {
	return &dialer{
		guard: netguard.New(hangTimeout, netip.MustParsePrefix("127.0.0.0/8")), idle: idle,
		open: make(map[*clientConn]bool),
	}
}

// dial implements scheme.Dial.
func (d *dialer) dial(
	ctx context.Context, network, address string, check func(netip.AddrPort) error,
) (net.Conn, error) {
	if d.before != nil {
		if err := d.before(ctx); err != nil {
			return nil, err
		}
	}
	conn, err := d.guard.WithCheck(check).WithIdleTimeout(d.idle)(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &clientConn{Conn: conn, dialer: d}
	d.open[c] = true
	if to, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		d.dialed = append(d.dialed, to.AddrPort())
	}
	return c, nil
}

// addresses returns the dialed addresses.
func (d *dialer) addresses() []netip.AddrPort {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]netip.AddrPort(nil), d.dialed...)
}

// bytesRead returns the number of bytes read from all connections.
func (d *dialer) bytesRead() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.read
}

// left returns the number of open connections.
func (d *dialer) left() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}

// closeAll closes the open connections.
func (d *dialer) closeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.open {
		_ = c.Conn.Close()
	}
	clear(d.open)
}

// clientConn is a connection of a dialer.
type clientConn struct {
	net.Conn
	dialer *dialer
}

// Read implements net.Conn.
func (c *clientConn) Read(p []byte) (int, error) {
	if c.dialer.oneByte && len(p) > 1 {
		p = p[:1]
	}
	n, err := c.Conn.Read(p)
	c.dialer.mu.Lock()
	c.dialer.read += int64(n)
	c.dialer.mu.Unlock()
	return n, err
}

// Close implements net.Conn.
func (c *clientConn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.open, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}

// NetConn returns the wrapped connection, as those of the guard do.
func (c *clientConn) NetConn() net.Conn { return c.Conn }
