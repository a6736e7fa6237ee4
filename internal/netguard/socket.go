package netguard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Socket returns a dial function that connects to a Unix socket, regardless of the requested address. Access to
// the socket is controlled by file permissions, and no name resolves to it.
func Socket(timeout time.Duration, path string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return socket("unix", timeout, path)
}

func socket(
	network string, timeout time.Duration, path string,
) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		dialer := net.Dialer{Timeout: timeout}
		conn, err := dialer.DialContext(ctx, network, path)
		if err != nil {
			return nil, fmt.Errorf("connecting to the socket %s: %w", path, err)
		}
		return conn, nil
	}
}

// DatagramSocket returns a dial function like that of Socket for a datagram socket, such as /dev/log.
func DatagramSocket(
	timeout time.Duration, path string,
) func(ctx context.Context, network, address string) (net.Conn, error) {
	return socket("unixgram", timeout, path)
}

// Listens reports whether a process listens on a Unix socket.
func Listens(ctx context.Context, path string) bool {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// Group returns a function that opens sockets restricted to sending to one address, that of a configured
// multicast group.
func Group(group netip.AddrPort) func(ctx context.Context) (net.PacketConn, net.Addr, error) {
	return func(ctx context.Context) (net.PacketConn, net.Addr, error) {
		network := "udp4"
		if group.Addr().Is6() {
			network = "udp6"
		}
		var listen net.ListenConfig
		conn, err := listen.ListenPacket(ctx, network, ":0")
		if err != nil {
			return nil, nil, fmt.Errorf("opening a socket for %s: %w", group, err)
		}
		return groupConn{conn, group}, net.UDPAddrFromAddrPort(group), nil
	}
}

// groupConn only sends to its group.
type groupConn struct {
	net.PacketConn
	group netip.AddrPort
}

// WriteTo implements net.PacketConn.
func (c groupConn) WriteTo(b []byte, to net.Addr) (int, error) {
	if to.String() != c.group.String() {
		return 0, fmt.Errorf("%w: %s is not the group %s", ErrForbidden, to, c.group)
	}
	return c.PacketConn.WriteTo(b, to)
}
