package testserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

// errPortTaken is the error if another process has taken a free port before the server.
var errPortTaken = errors.New("port taken")

// freePort returns a loopback address whose port is free on UDP and TCP. Another process may take the port
// before the server listens.
func freePort() (netip.AddrPort, error) {
	const attempts = 16
	var last error
	for range attempts {
		addr, err := proposePort()
		if err == nil {
			return addr, nil
		}
		last = err
	}
	return netip.AddrPort{}, fmt.Errorf("finding a free port: %w", last)
}

// The proposed ports are below those that systems assign to connections and to listeners of port 0 (32768 and
// above on Linux), which would occasionally be taken before the server listens. They exclude
// gateways.deny_ports, to which urnd does not connect by default.
const (
	firstPort = 17_006
	lastPort  = 24_006
)

func proposePort() (netip.AddrPort, error) {
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(firstPort+rand.IntN(lastPort-firstPort)))
	udp, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(addr))
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer udp.Close()
	tcp, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(addr))
	if err != nil {
		return netip.AddrPort{}, err
	}
	return addr, tcp.Close()
}

// isTaken reports whether a process listens on TCP at addr, which explains why a server could not.
func isTaken(addr netip.AddrPort) bool {
	listener, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(addr))
	if err == nil {
		_ = listener.Close() // it has no connections
	}
	return err != nil
}

func listenLoopback() (*net.UDPConn, error) {
	return net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
}
