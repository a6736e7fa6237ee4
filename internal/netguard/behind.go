package netguard

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// errSpelling is for a host that is no name, and no address as RFC 3986 section 3.2.2 has it, but one to inet_aton.
var errSpelling = fmt.Errorf("%w: it is a number that programs take for an address", ErrForbidden)

// CheckBehind reports whether an upstream proxy may be asked for "host:port", without a look-up: what a name leads to is for the
// proxy to restrict. Addresses of loopback and link-local are those of the proxy itself and of what is beside it, such as the
// metadata of a cloud, and never allowed; other addresses are as for connections. The error wraps ErrForbidden.
func (g *Guard) CheckBehind(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761 section 6.3
		return fmt.Errorf("%w: %s is loopback", ErrForbidden, host)
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return checkSpelling(name)
	}
	addr = addr.Unmap().WithZone("")
	if addr.IsLoopback() || addr.IsUnspecified() || addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast() || thisNetwork.Contains(addr) {
		return &refusal{addr, special(addr)}
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	switch err := g.allows(netip.AddrPortFrom(addr, uint16(number))); {
	case errors.Is(err, ErrOwn), errors.As(err, new(*refusal)):
		return err
	default: // a port of another service: who may ask the proxy for one is in the rules for tunnels
		return nil
	}
}

// thisNetwork are addresses that lead to this machine: RFC 1122 section 3.2.1.3.
var thisNetwork = netip.MustParsePrefix("0.0.0.0/8")

// checkSpelling refuses a host whose last label is a number: proxies read 127.1, 0177.0.0.1, 0x7f000001 and 2130706433 as
// 127.0.0.1. No public name ends so: RFC 3696 section 2.
func checkSpelling(name string) error {
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits := "0123456789"
	if rest, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = "0"+rest, "0123456789abcdef"
	}
	if last != "" && strings.Trim(last, digits) == "" || strings.ContainsAny(name, "%:") {
		return errSpelling
	}
	return nil
}
