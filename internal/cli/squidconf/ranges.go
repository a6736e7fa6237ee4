package squidconf

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// addressRange is a range of addresses of one family, both ends included.
type addressRange struct{ first, last netip.Addr }

// ranges is a set of addresses: sorted ranges that neither overlap nor touch. Ports and minutes of a week are
// represented as the last two bytes of an address 0.0.x.y.
type ranges []addressRange

func numbers(first, last int) addressRange {
	address := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{2: byte(n >> 8 & 0xff), 3: byte(n & 0xff)}) }
	return addressRange{address(first), address(last)}
}

// bounds returns the ends of a range of numbers.
func (r addressRange) bounds() (first, last int) {
	from, to := r.first.As4(), r.last.As4()
	return int(from[2])<<8 | int(from[3]), int(to[2])<<8 | int(to[3])
}

func everyAddress() ranges {
	return ranges{rangeOf(netip.MustParsePrefix("0.0.0.0/0")), rangeOf(netip.MustParsePrefix("::/0"))}
}

func everyPort() ranges { return ranges{numbers(0, 65535)} }

// rangeOf returns the addresses of a network.
func rangeOf(network netip.Prefix) addressRange {
	network = network.Masked()
	last := network.Addr().AsSlice()
	for bit := network.Bits(); bit < 8*len(last); bit++ {
		last[bit/8] |= 1 << (7 - bit%8)
	}
	to, _ := netip.AddrFromSlice(last)
	return addressRange{network.Addr(), to}
}

// newRanges returns the union of ranges.
func newRanges(all []addressRange) ranges {
	slices.SortFunc(all, func(a, b addressRange) int { return a.first.Compare(b.first) })
	set := ranges{}
	for _, r := range all {
		if n := len(set) - 1; n >= 0 && set[n].last.BitLen() == r.first.BitLen() {
			if behind := set[n].last.Next(); !behind.IsValid() || r.first.Compare(behind) <= 0 {
				if r.last.Compare(set[n].last) > 0 {
					set[n].last = r.last
				}
				continue
			}
		}
		set = append(set, r)
	}
	return set
}

// and returns the intersection of two sets, by De Morgan's law.
func (s ranges) and(other ranges) ranges { return newRanges(append(s.not(), other.not()...)).not() }

// not returns the complement of the set.
func (s ranges) not() ranges {
	rest := ranges{}
	for _, all := range everyAddress() {
		first := all.first
		for _, r := range s {
			if r.first.BitLen() != all.first.BitLen() {
				continue
			}
			if first.IsValid() && first.Compare(r.first) < 0 {
				rest = append(rest, addressRange{first, r.first.Prev()})
			}
			first = r.last.Next() // invalid after the last address
		}
		if first.IsValid() {
			rest = append(rest, addressRange{first, all.last})
		}
	}
	return rest
}

// networks returns the set in the syntax of settings. It omits addresses that neither clients nor servers
// have: parts of 0.0.0.0/8 (RFC 1122 section 3.2.1.3), which localnet of Debian contains except for one
// address, and IPv4-mapped IPv6 addresses.
func (s ranges) networks() (all []string) {
	this := netip.MustParsePrefix("0.0.0.0/8")
	for _, r := range s {
		for first := r.first; first.IsValid() && first.Compare(r.last) <= 0; {
			bits := first.BitLen()
			for bits > 0 {
				wider := rangeOf(netip.PrefixFrom(first, bits-1))
				if wider.first != first || wider.last.Compare(r.last) > 0 {
					break
				}
				bits--
			}
			network := netip.PrefixFrom(first, bits)
			if isPart := bits > this.Bits() && this.Contains(first); !first.Is4In6() && !isPart {
				all = append(all, network.String())
			}
			first = rangeOf(network).last.Next()
		}
	}
	return all
}

// parseAddresses parses an address of an acl in the syntax of Squid: an address, a range or "all", with an
// optional mask or prefix length.
func parseAddresses(text string) ([]addressRange, error) {
	every := everyAddress()
	if known, ok := map[string][]addressRange{"all": every, "ipv4": every[:1], "ipv6": every[1:]}[text]; ok {
		return known, nil
	}
	wrong := fmt.Errorf("%q is not an address: host names are not looked up", text)
	address, mask, masked := strings.Cut(text, "/")
	from, to, isRange := strings.Cut(address, "-")
	if !isRange {
		to = from
	}
	first, ok := parseAddress(from)
	last, lastOK := parseAddress(to)
	if !ok || !lastOK || first.BitLen() != last.BitLen() || first.Compare(last) > 0 {
		return nil, wrong
	}
	if !masked {
		return []addressRange{{first, last}}, nil
	}
	bits, err := strconv.Atoi(mask)
	if m, ok := parseAddress(mask); ok && m.Is4() && first.Is4() {
		ones, all := net.IPMask(m.AsSlice()).Size() // 0 of 0 for a non-contiguous mask
		bits, err = ones, nil
		if all == 0 {
			return nil, wrong
		}
	}
	network, networkErr := first.Prefix(bits)
	upper, upperErr := last.Prefix(bits)
	if err != nil || networkErr != nil || upperErr != nil {
		return nil, wrong
	}
	return []addressRange{{rangeOf(network).first, rangeOf(upper).last}}, nil
}

// parseAddress parses an address without zone.
func parseAddress(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return address.Unmap(), err == nil && address.Zone() == ""
}

// isListed reports whether a line in a file means the same to urnd as to Squid: an address, a network or a
// range, but not all addresses.
func isListed(text string) bool {
	found, err := parseAddresses(text)
	if err != nil || strings.ContainsAny(text, "[]") || strings.HasPrefix(strings.ToLower(text), "::ffff:") {
		return false
	}
	_, prefixErr := netip.ParsePrefix(text)
	if strings.Contains(text, "/") && prefixErr != nil {
		return false
	}
	return !slices.ContainsFunc(everyAddress(), func(every addressRange) bool { return slices.Contains(found, every) })
}

// parsePorts parses a port, or a range of ports.
func parsePorts(text string) (addressRange, error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, err := strconv.ParseUint(from, 10, 16)
	last, lastErr := strconv.ParseUint(to, 10, 16)
	if err != nil || lastErr != nil || first > last {
		return addressRange{}, fmt.Errorf("%q is not a port, or two joined by a hyphen", text)
	}
	return numbers(int(first), int(last)), nil
}

// ports returns a set of ports in the syntax of settings.
func (s ranges) ports() (all []string) {
	for _, r := range s {
		first, last := r.bounds()
		text := strconv.Itoa(first)
		if first != last {
			text += "-" + strconv.Itoa(last)
		}
		all = append(all, text)
	}
	return all
}
