package netguard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// Group returns a function that opens sockets which can send to one address only, that of
// a configured multicast group.
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

// groupConn sends to its group only.
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
