package policy

import (
	"net/netip"
	"slices"
)

// networks is an index of rules by an address, with one look-up per prefix length in use, regardless of the
// number of networks. The zero value is empty.
type networks struct {
	rules              map[netip.Prefix][]int32
	lengths4, lengths6 []int
}

// add adds the rule in alone by a network. Rules are added in order.
func (n *networks) add(network netip.Prefix, alone []int32) {
	if n.rules == nil {
		n.rules = make(map[netip.Prefix][]int32)
	}
	addRule(n.rules, network.Masked(), alone)
	lengths := &n.lengths4
	if network.Addr().Is6() {
		lengths = &n.lengths6
	}
	if !slices.Contains(*lengths, network.Bits()) {
		*lengths = append(*lengths, network.Bits())
	}
}

// find calls try with lists of the rules of the networks that contain an address, each list in order, until
// try returns false.
func (n *networks) find(addr netip.Addr, try func([]int32) bool) {
	lengths := n.lengths4
	if addr.Is6() {
		lengths = n.lengths6
	}
	for _, length := range lengths {
		if network, err := addr.Prefix(length); err != nil || !try(n.rules[network]) {
			return
		}
	}
}

// ranges is a condition on an address.
type ranges struct {
	few  []netip.Prefix
	many networks // instead of few
}

func newRanges(all []netip.Prefix) ranges {
	const most = 8 // comparing so many takes about as long as a look-up
	if len(all) <= most {
		return ranges{few: all}
	}
	var r ranges
	alone := []int32{0}
	for _, network := range all {
		r.many.add(network, alone)
	}
	return r
}

// has reports whether an address is in one of the ranges.
func (r *ranges) has(addr netip.Addr) bool {
	for _, network := range r.few {
		if network.Contains(addr) {
			return true
		}
	}
	found := false
	r.many.find(addr, func(rules []int32) bool {
		found = len(rules) > 0
		return !found
	})
	return found
}
