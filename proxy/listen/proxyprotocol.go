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

// RemoteAddr returns the address of the client, or 0.0.0.0 where the header has none: the
// address of the sender would give the client the sender's rights.
func (c proxyConn) RemoteAddr() net.Addr {
	addr := c.Conn.RemoteAddr()
	if header := c.ProxyHeader(); header == nil || header.Command.IsLocal() || !header.TransportProtocol.IsStream() || header.TransportProtocol.IsUnix() {
		return &net.TCPAddr{IP: net.IPv4zero}
	}
	return addr
}

// CloseWrite closes the write direction.
func (c proxyConn) CloseWrite() error {
	if half, ok := c.below.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
