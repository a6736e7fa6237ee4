package list

import (
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
)

// Networks is a set of IP addresses. It is immutable and safe for concurrent use; the zero value is empty.
type Networks struct {
	ranges []addressRange // sorted, without overlaps
}

// addressRange is a range of addresses of one family, both ends included.
type addressRange struct{ first, last netip.Addr }

// ParseNetworks parses a list of networks, one per line: a prefix ("192.0.2.0/24"), an address, or a range of
// addresses ("192.0.2.1-192.0.2.9"), as in the netsets of FireHOL; ";" begins a comment, too, as in the lists
// of Spamhaus. Bits of a prefix after its length are ignored. The error is that of r, or ErrTooLarge.
func ParseNetworks(r io.Reader) (*Networks, Report, error) {
	n := new(Networks)
	report, err := read(r, "#;", func(line string) (int, error) {
		added, err := parseRange(line)
		if err != nil {
			return 0, err
		}
		n.ranges = append(n.ranges, added)
		return 1, nil
	})
	if err != nil {
		return nil, report, err
	}
	n.merge()
	return n, report, nil
}

var (
	errAddress = errors.New("not an address, a network or a range of addresses: write 192.0.2.1, 192.0.2.0/24 or " +
		"192.0.2.1-192.0.2.9")
	errFamily = errors.New("the ends of a range must be addresses of one family, in ascending order")
	errAll    = errors.New("the network has all addresses; to match all, leave out the condition")
	errZone   = errors.New("an address in a list must not have a zone")
)

// parseRange returns the range of addresses of a line.
func parseRange(text string) (addressRange, error) {
	if first, last, isRange := strings.Cut(text, "-"); isRange {
		return parseEnds(strings.TrimSpace(first), strings.TrimSpace(last))
	}
	if !strings.Contains(text, "/") {
		return parseEnds(text, text)
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return addressRange{}, errAddress
	case prefix.Bits() == 0:
		return addressRange{}, errAll
	case prefix.Addr().Is4In6() && prefix.Bits() <= 96:
		return addressRange{}, errors.New("an IPv4 network in IPv6 form: write it as IPv4")
	case prefix.Addr().Is4In6():
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	return prefixRange(prefix), nil
}

// parseEnds returns the range between two addresses.
func parseEnds(first, last string) (addressRange, error) {
	from, errFirst := netip.ParseAddr(first)
	to, errLast := netip.ParseAddr(last)
	if errFirst != nil || errLast != nil {
		return addressRange{}, errAddress
	}
	from, to = from.Unmap(), to.Unmap()
	switch {
	case from.Zone() != "" || to.Zone() != "":
		return addressRange{}, errZone
	case from.Is4() != to.Is4() || to.Less(from):
		return addressRange{}, errFamily
	case !from.Prev().IsValid() && !to.Next().IsValid():
		return addressRange{}, errAll
	}
	return addressRange{from, to}, nil
}

// prefixRange returns the range of addresses of a prefix.
func prefixRange(prefix netip.Prefix) addressRange {
	first := prefix.Masked().Addr()
	last := first.AsSlice()
	for bit := prefix.Bits(); bit < 8*len(last); bit++ {
		last[bit/8] |= 0x80 >> (bit % 8)
	}
	end, _ := netip.AddrFromSlice(last) // cannot fail: the length is valid
	return addressRange{first, end}
}

// merge sorts the ranges and joins those that overlap or are adjacent.
func (n *Networks) merge() {
	slices.SortFunc(n.ranges, func(a, b addressRange) int { return a.first.Compare(b.first) })
	merged := n.ranges[:0]
	for _, next := range n.ranges {
		if len(merged) > 0 {
			before := &merged[len(merged)-1]
			if sameFamily := before.last.BitLen() == next.first.BitLen(); sameFamily &&
				(!before.last.Less(next.first) || before.last.Next() == next.first) {
				if before.last.Less(next.last) {
					before.last = next.last
				}
				continue
			}
		}
		merged = append(merged, next)
	}
	n.ranges = slices.Clone(merged) // releases unused capacity
}

// Has reports whether an address is in the set; an IPv4-mapped IPv6 address is the same as the IPv4 address,
// and zones are ignored. It does not allocate.
func (n *Networks) Has(addr netip.Addr) bool {
	if !addr.IsValid() || len(n.ranges) == 0 {
		return false
	}
	addr = addr.Unmap().WithZone("")
	i, found := slices.BinarySearchFunc(n.ranges, addr,
		func(r addressRange, addr netip.Addr) int { return r.first.Compare(addr) })
	return found || i > 0 && n.ranges[i-1].last.BitLen() == addr.BitLen() && !n.ranges[i-1].last.Less(addr)
}
