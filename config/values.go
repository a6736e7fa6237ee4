package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/urnd/urnd/config/source"
)

// Server is a DNS server: "192.0.2.1", "[2001:db8::1]:5353", or over TLS
// "tls://192.0.2.1:853#dns.example", with the name of its certificate. The default
// port is 53, over TLS 853. Host names are not allowed: resolving one would need a DNS
// server.
type Server struct {
	netip.AddrPort
	TLS  bool
	Name string // of the certificate; empty: the certificate is for the address
}

const tlsPrefix = "tls://"

// UnmarshalText reads a server.
func (s *Server) UnmarshalText(text []byte) error {
	address, overTLS := strings.CutPrefix(string(text), tlsPrefix)
	port := uint16(53)
	read := Server{TLS: overTLS}
	if overTLS {
		port = 853
		address, read.Name, _ = strings.Cut(address, "#")
	}
	if addr, err := netip.ParseAddr(address); err == nil {
		read.AddrPort = netip.AddrPortFrom(addr, port)
	} else if read.AddrPort, err = netip.ParseAddrPort(address); err != nil {
		return fmt.Errorf("%q is not an IP address, with or without port, or tls:// and one%s", text, ofServer(string(text)))
	}
	*s = read
	return nil
}

// ofServer returns the end of a message about what is no address of a server.
func ofServer(text string) string {
	host, _, hasName := strings.Cut(text, "#")
	_, err := netip.ParseAddr(host)
	switch {
	case hasName && err == nil:
		return ": write tls://" + text
	case hostIn(text) != "":
		return ": a host name would have to be looked up first"
	}
	return ""
}

// String returns the server as UnmarshalText reads it.
func (s Server) String() string {
	switch {
	case !s.TLS:
		return s.AddrPort.String()
	case s.Name == "":
		return tlsPrefix + s.AddrPort.String()
	default:
		return tlsPrefix + s.AddrPort.String() + "#" + s.Name
	}
}

// MarshalText returns String.
func (s Server) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Agent is the address of an SLP directory agent. The default port is 427.
type Agent struct {
	netip.AddrPort
}

// UnmarshalText reads an address with or without port.
func (a *Agent) UnmarshalText(text []byte) error {
	if addr, err := netip.ParseAddr(string(text)); err == nil {
		a.AddrPort = netip.AddrPortFrom(addr, 427)
		return nil
	}
	addrPort, err := netip.ParseAddrPort(string(text))
	if err != nil {
		return fmt.Errorf("%q is not an IP address, with or without port%s", text, ofServer(string(text)))
	}
	a.AddrPort = addrPort
	return nil
}

// PortRange is a port, "443", or a range of ports, "8000-8999", both ends included.
type PortRange struct {
	First, Last uint16
}

// UnmarshalText reads a port or a range.
func (p *PortRange) UnmarshalText(text []byte) error {
	first, last, isRange := strings.Cut(string(text), "-")
	if !isRange {
		last = first
	}
	for _, port := range []string{first, last} {
		if message := source.NotDecimal(port); message != "" {
			return errors.New(message)
		}
	}
	from, err := strconv.ParseUint(first, 10, 16)
	to, lastErr := strconv.ParseUint(last, 10, 16)
	if err != nil || lastErr != nil || from > to {
		help := ""
		if strings.Contains(string(text), ",") {
			all := strings.FieldsFunc(string(text), func(c rune) bool { return c == ',' || c == ' ' })
			help = fmt.Sprintf(": write [%s]", strings.Join(all, ", "))
		}
		return fmt.Errorf("%q is not a port, such as 443, or a range of ports, such as 8000-8999%s", text, help)
	}
	*p = PortRange{uint16(from), uint16(to)}
	return nil
}

// String returns the range as UnmarshalText reads it.
func (p PortRange) String() string {
	if p.First == p.Last {
		return strconv.Itoa(int(p.First))
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

// MarshalText returns String.
func (p PortRange) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Size is a number of bytes, written "64MiB" or as plain digits.
type Size int64

// UnmarshalText reads what humanize.ParseBytes reads.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if strings.HasPrefix(string(text), "/") {
		return fmt.Errorf("%q is not a size such as 64MiB: a path is written in cache.disk_directory", text)
	}
	if err != nil || n > 1<<62 {
		return fmt.Errorf("%q is not a size such as 64MiB", text)
	}
	*s = Size(n)
	return nil
}

// MarshalText prints a size so that it reads back as the same number.
func (s Size) MarshalText() ([]byte, error) {
	for _, unit := range []struct {
		name  string
		bytes Size
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s != 0 && s%unit.bytes == 0 {
			return fmt.Appendf(nil, "%d%s", s/unit.bytes, unit.name), nil
		}
	}
	return fmt.Appendf(nil, "%dB", int64(s)), nil
}

// InRanges returns what reports whether a port is in one of the ranges.
func InRanges(ranges []PortRange) func(port uint16) bool {
	return func(port uint16) bool {
		return slices.ContainsFunc(ranges, func(r PortRange) bool { return r.First <= port && port <= r.Last })
	}
}
