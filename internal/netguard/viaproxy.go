package netguard

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// errSpelling is the error for a host that is neither a name nor an address according to RFC 3986 section
// 3.2.2, but an address for inet_aton.
var errSpelling = fmt.Errorf("%w: a number that programs interpret as an address", ErrForbidden)

// CheckViaProxy reports whether an upstream proxy may connect to address, "host:port", by returning nil or an
// error that wraps ErrForbidden. It does not look up names: restricting the addresses of names is up to the
// proxy. Loopback and link-local addresses are never allowed, since for the proxy they are the proxy itself and
// its neighbors, such as the metadata service of a cloud. Other addresses are checked as for direct
// connections.
func (g *Guard) CheckViaProxy(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if err := checkLabels(name); err != nil {
		return err
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761 section 6.3
		return fmt.Errorf("%w: %s is loopback", ErrForbidden, host)
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return checkSpelling(name)
	}
	addr = addr.Unmap().WithZone("")
	if isHostLocal(addr) || isHostLocal(embedded(addr)) {
		return newDenial(addr, "destination_not_public", specialKind(addr))
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	var refused *denial
	switch err := g.allows(netip.AddrPortFrom(addr, uint16(number))); {
	case errors.Is(err, ErrOwn), errors.As(err, &refused) && !refused.isPort:
		return err
	default: // The port rule is not applied: the rules for tunnels restrict the ports that clients may use.
		return nil
	}
}

// isHostLocal reports whether an address is loopback, unspecified or link-local.
func isHostLocal(addr netip.Addr) bool {
	return addr.IsLoopback() || addr.IsUnspecified() || addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast() ||
		thisNetwork.Contains(addr)
}

// embedded returns the IPv4 address embedded in an IPv6 address of a translator or a tunnel: RFC 6052 section
// 2.1, RFC 8215, RFC 3056 section 2, RFC 2765 section 2.1 and RFC 4291 section 2.5.5.1. It returns the zero
// value for other addresses.
func embedded(addr netip.Addr) netip.Addr {
	byteCount := addr.As16()
	for _, e := range [...]struct {
		prefix string
		at     int
	}{{"64:ff9b::/96", 12}, {"64:ff9b:1::/96", 12}, {"::ffff:0:0:0/96", 12}, {"::/96", 12}, {"2002::/16", 2}} {
		if addr.Is6() && netip.MustParsePrefix(e.prefix).Contains(addr) {
			return netip.AddrFrom4([4]byte(byteCount[e.at:]))
		}
	}
	return netip.Addr{}
}

// errLabels is the error for a name that programs map to another one: RFC 1035 section 2.3.1, UTS 46 section 4.
var errLabels = fmt.Errorf("%w: not an ASCII host name of the DNS", ErrForbidden)

// checkLabels returns an error for a host with an empty label or a non-ASCII character: some programs treat a
// circled digit as a digit, and an ideographic full stop as a dot.
func checkLabels(name string) error {
	isOther := func(c rune) bool { return c <= ' ' || c >= 0x7f }
	if slices.Contains(strings.Split(name, "."), "") || strings.ContainsFunc(name, isOther) {
		return errLabels
	}
	return nil
}

// thisNetwork contains addresses that refer to this host: RFC 1122 section 3.2.1.3.
var thisNetwork = netip.MustParsePrefix("0.0.0.0/8")

// checkSpelling returns an error for a host whose last label is a number: proxies interpret 127.1, 0177.0.0.1,
// 0x7f000001 and 2130706433 as 127.0.0.1. No public name ends in a number: RFC 3696 section 2.
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
