package listen

import (
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pires/go-proxyproto"
)

// proxyListener accepts connections, of which those from senders begin with a header of the
// PROXY protocol: the address of the client of a load balancer.
type proxyListener struct {
	net.Listener
	senders []netip.Prefix
	timeout time.Duration
}

// Accept implements net.Listener. The header is required, and read with the first
// call of Read or RemoteAddr.
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

// proxyConn is a connection after its header. CloseWrite needs the connection below.
type proxyConn struct {
	*proxyproto.Conn
	below net.Conn
}

// RemoteAddr returns the address of the client: that of the header, or of the connection where the header says that the sender speaks
// for itself or knows no client (UNKNOWN and LOCAL: sections 2.1 and 2.2), as health checks do. It is 0.0.0.0 for clients
// without an address, such as those on a socket in the file system: that of the sender would give them its rights.
func (c proxyConn) RemoteAddr() net.Addr {
	addr := c.Conn.RemoteAddr()
	header := c.ProxyHeader()
	switch {
	case header == nil:
		return &net.TCPAddr{IP: net.IPv4zero}
	case header.Command.IsLocal():
		return c.below.RemoteAddr()
	case !header.TransportProtocol.IsStream() || header.TransportProtocol.IsUnix():
		return &net.TCPAddr{IP: net.IPv4zero}
	default:
		return addr
	}
}

// CloseWrite closes the write direction.
func (c proxyConn) CloseWrite() error {
	if half, ok := c.below.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
