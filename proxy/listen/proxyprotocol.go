package proxy

import (
	"net"
	"net/netip"
	"time"

	"github.com/pires/go-proxyproto"
)

// preceded is a listener for connections of which some begin with the address of the
// client that a load balancer speaks for.
type preceded struct {
	net.Listener
	senders []netip.Prefix
	timeout time.Duration
}

// Accept implements net.Listener. The header is read when something is first read, or
// asked of the connection, and must be there.
func (l preceded) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil || !contains(l.senders, addrOf(conn.RemoteAddr().String())) {
		return conn, err
	}
	return precededConn{proxyproto.NewConn(conn, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(l.timeout)), conn}, nil
}

// precededConn lets net/http close one direction of what it stands on.
type precededConn struct {
	*proxyproto.Conn
	below net.Conn
}

// RemoteAddr returns the address of the client, and one that is nobody's where the
// sender does not say: it must not lend its own.
func (c precededConn) RemoteAddr() net.Addr {
	addr := c.Conn.RemoteAddr()
	if header := c.ProxyHeader(); header == nil || header.Command.IsLocal() || !header.TransportProtocol.IsStream() || header.TransportProtocol.IsUnix() {
		return &net.TCPAddr{IP: net.IPv4zero}
	}
	return addr
}

// CloseWrite closes what is written.
func (c precededConn) CloseWrite() error {
	if half, ok := c.below.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
