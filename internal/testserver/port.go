package testserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
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

// The ports that are proposed are below those that systems give to connections and to listeners of port 0 (32768 and up on Linux): one of
// those would be taken between the proposal and the peer's start now and then. Among them is none of gateways.deny_ports, to which urnd
// sends nothing by default.
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
