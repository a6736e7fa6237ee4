package testserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// errPortTaken is the error if another process took a free port before the peer did.
var errPortTaken = errors.New("port taken")

// freePort returns a loopback address whose port is free on UDP and on TCP. It
// is only a proposal: another process can take the port until the peer listens.
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

func proposePort() (netip.AddrPort, error) {
	udp, err := listenLoopback()
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer udp.Close()
	addr := udp.LocalAddr().(*net.UDPAddr).AddrPort()
	tcp, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(addr))
	if err != nil {
		return netip.AddrPort{}, err
	}
	return addr, tcp.Close()
}

// isTaken reports whether a process listens on TCP at addr: why a server that has ended could not.
func isTaken(addr netip.AddrPort) bool {
	listener, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(addr))
	if err == nil {
		_ = listener.Close() // it has no connection
	}
	return err != nil
}

func listenLoopback() (*net.UDPConn, error) {
	return net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
}
