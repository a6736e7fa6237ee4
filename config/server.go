package config

import (
	"fmt"
	"net/netip"
)

// Server is the address of a DNS server, "192.0.2.1" or "[2001:db8::1]:5353".
// The port is 53 where none is given. Names are not allowed: it takes a DNS
// server to resolve one.
type Server struct {
	netip.AddrPort
}

// UnmarshalText reads an address with or without port.
func (s *Server) UnmarshalText(text []byte) error {
	if addr, err := netip.ParseAddr(string(text)); err == nil {
		s.AddrPort = netip.AddrPortFrom(addr, 53)
		return nil
	}
	addrPort, err := netip.ParseAddrPort(string(text))
	if err != nil {
		return fmt.Errorf("%q is not an IP address, with or without port", text)
	}
	s.AddrPort = addrPort
	return nil
}
