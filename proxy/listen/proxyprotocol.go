package listen

import (
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pires/go-proxyproto"
)

// proxyListener is a listener for connections of which some begin with a header of the
// PROXY protocol: the address of the client of a load balancer.
type proxyListener struct {
	net.Listener
	senders []netip.Prefix
	timeout time.Duration
}

// Accept implements net.Listener. The header is read when something is first read, or
// asked of the connection, and must be there.
func (l proxyListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil || !l.isSender(addrOf(conn)) {
		return conn, err
	}
	return proxyConn{proxyproto.NewConn(conn, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(l.timeout)), conn}, nil
}

func (l proxyListener) isSender(addr netip.Addr) bool {
	return slices.ContainsFunc(l.senders, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// proxyConn is a connection behind its header. CloseWrite is that of the one below.
type proxyConn struct {
	*proxyproto.Conn
	below net.Conn
}

// RemoteAddr returns the address of the client, and one that nobody has where the sender
// does not say: its own would give the client its rights.
func (c proxyConn) RemoteAddr() net.Addr {
	addr := c.Conn.RemoteAddr()
	if header := c.ProxyHeader(); header == nil || header.Command.IsLocal() || !header.TransportProtocol.IsStream() || header.TransportProtocol.IsUnix() {
		return &net.TCPAddr{IP: net.IPv4zero}
	}
	return addr
}

// CloseWrite closes what is written.
func (c proxyConn) CloseWrite() error {
	if half, ok := c.below.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
