package squidconf

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// addressRange is addresses of one family, both included.
type addressRange struct{ first, last netip.Addr }

// addresses is a set of addresses: sorted ranges that neither overlap nor touch. Nil is all of them, an empty one none.
type addresses []addressRange

func everyAddress() addresses {
	return addresses{rangeOf(netip.MustParsePrefix("0.0.0.0/0")), rangeOf(netip.MustParsePrefix("::/0"))}
}

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

// newAddresses returns the set of all addresses in ranges.
func newAddresses(ranges []addressRange) addresses {
	slices.SortFunc(ranges, func(a, b addressRange) int { return a.first.Compare(b.first) })
	set := addresses{}
	for _, r := range ranges {
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

// and returns the addresses that are in both sets.
func (s addresses) and(other addresses) addresses {
	if s == nil {
		return other
	} else if other == nil {
		return s
	}
	both := addresses{}
	for i, j := 0, 0; i < len(s) && j < len(other); {
		r := s[i] // IPv4 is less than IPv6
		if other[j].first.Compare(r.first) > 0 {
			r.first = other[j].first
		}
		if other[j].last.Compare(r.last) < 0 {
			r.last = other[j].last
			j++
		} else {
			i++
		}
		if r.first.Compare(r.last) <= 0 {
			both = append(both, r)
		}
	}
	return both
}

// not returns the addresses that are not in the set.
func (s addresses) not() addresses {
	rest := addresses{}
	for _, all := range everyAddress() {
		first := all.first
		for _, r := range s {
			if r.first.BitLen() != all.first.BitLen() {
				continue
			}
			if first.IsValid() && first.Compare(r.first) < 0 {
				rest = append(rest, addressRange{first, r.first.Prev()})
			}
			first = r.last.Next() // not valid behind the last address
		}
		if first.IsValid() {
			rest = append(rest, addressRange{first, all.last})
		}
	}
	return rest
}

// prefixes returns the set as networks.
func (s addresses) prefixes() (all []netip.Prefix) {
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
			all, first = append(all, network), rangeOf(network).last.Next()
		}
	}
	return all
}

// parseAddresses reads an address of an acl as Squid writes them: an address, a range, or all, each with a mask or the length of one.
func parseAddresses(text string) ([]addressRange, error) {
	every := everyAddress()
	if known, ok := map[string][]addressRange{"all": every, "ipv4": every[:1], "ipv6": every[1:]}[text]; ok {
		return known, nil
	}
	wrong := fmt.Errorf("%q is no address: names of hosts are not looked up", text)
	address, mask, isMasked := strings.Cut(text, "/")
	from, to, isRange := strings.Cut(address, "-")
	if !isRange {
		to = from
	}
	first, ok := parseAddress(from)
	last, lastOK := parseAddress(to)
	if !ok || !lastOK || first.BitLen() != last.BitLen() || first.Compare(last) > 0 {
		return nil, wrong
	}
	if !isMasked {
		return []addressRange{{first, last}}, nil
	}
	bits, err := strconv.Atoi(mask)
	if err != nil && first.Is4() {
		bits, err = bitsOf(mask), nil
	}
	if err != nil {
		return nil, wrong
	}
	network, err := first.Prefix(bits)
	upper, lastErr := last.Prefix(bits)
	if err != nil || lastErr != nil {
		return nil, wrong
	}
	return []addressRange{{rangeOf(network).first, rangeOf(upper).last}}, nil
}

// parseAddress reads an address without a zone.
func parseAddress(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return address.Unmap(), err == nil && address.Zone() == ""
}

// bitsOf returns the length of a mask such as 255.255.0.0, -1 where it has holes or is none.
func bitsOf(mask string) int {
	address, err := netip.ParseAddr(mask)
	if err != nil || !address.Is4() {
		return -1
	}
	bits := 0
	octets := address.As4()
	value := uint32(octets[0])<<24 | uint32(octets[1])<<16 | uint32(octets[2])<<8 | uint32(octets[3])
	for ; value&(1<<31) != 0; value <<= 1 {
		bits++
	}
	if value != 0 {
		return -1
	}
	return bits
}

// portRange is ports, both included.
type portRange struct{ first, last int }

const maxPort = 65535

// ports is a set of ports: sorted ranges that neither overlap nor touch. Nil is all of them, an empty one none.
type ports []portRange

func newPorts(ranges []portRange) ports {
	slices.SortFunc(ranges, func(a, b portRange) int { return a.first - b.first })
	set := ports{}
	for _, r := range ranges {
		if n := len(set) - 1; n >= 0 && r.first <= set[n].last+1 {
			set[n].last = max(set[n].last, r.last)
			continue
		}
		set = append(set, r)
	}
	return set
}

func (s ports) and(other ports) ports {
	if s == nil {
		return other
	} else if other == nil {
		return s
	}
	var both []portRange
	for _, a := range s {
		for _, b := range other {
			if r := (portRange{max(a.first, b.first), min(a.last, b.last)}); r.first <= r.last {
				both = append(both, r)
			}
		}
	}
	return newPorts(both)
}

func (s ports) not() ports {
	rest, first := ports{}, 0
	for _, r := range s {
		if first < r.first {
			rest = append(rest, portRange{first, r.first - 1})
		}
		first = r.last + 1
	}
	if first <= maxPort {
		rest = append(rest, portRange{first, maxPort})
	}
	return rest
}

func (s ports) texts() (all []string) {
	for _, r := range s {
		text := strconv.Itoa(r.first)
		if r.last > r.first {
			text += "-" + strconv.Itoa(r.last)
		}
		all = append(all, text)
	}
	return all
}

func parsePorts(text string) (portRange, error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, err := strconv.ParseUint(from, 10, 16)
	last, lastErr := strconv.ParseUint(to, 10, 16)
	if err != nil || lastErr != nil || first > last {
		return portRange{}, fmt.Errorf("%q is not a port, or two joined by a hyphen", text)
	}
	return portRange{int(first), int(last)}, nil
}
