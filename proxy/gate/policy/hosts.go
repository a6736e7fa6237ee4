package policy

import (
	"net/netip"
	"strings"
)

// hosts finds rules by the host of a request: a look-up for each label of a name finds them, however many hosts there are.
// Only patterns with the same labels behind their last wildcard are compared one by one. The zero value is empty.
type hosts struct {
	exact    map[string][]int32
	below    map[string][]int32   // of names that stand for all below them, too
	patterns map[string][]pattern // by the labels behind the last wildcard, "" for none
	networks networks
	longest  int // key of below and patterns, in octets: it bounds what a long host costs
}

// pattern is one of a rule.
type pattern struct {
	text  string
	rules []int32
}

// add adds a rule by its hosts. Rules are added in order.
func (h *hosts) add(all []host, number int32) {
	if h.exact == nil {
		h.exact, h.below, h.patterns = make(map[string][]int32, len(all)), make(map[string][]int32), make(map[string][]pattern)
	}
	alone := []int32{number} // all hosts of which no other rule is share it: to append makes a copy
	for _, host := range all {
		switch {
		case host.network.IsValid():
			h.networks.add(host.network, alone)
		case host.wild:
			_, end, _ := strings.Cut(host.name[strings.LastIndexAny(host.name, "*?"):], ".")
			h.patterns[end] = append(h.patterns[end], pattern{host.name, alone})
			h.longest = max(h.longest, len(end))
		case host.below:
			addRule(h.below, host.name, alone)
			h.longest = max(h.longest, len(host.name))
		default:
			addRule(h.exact, host.name, alone)
		}
	}
}

// addRule adds a rule to those of a key, once.
func addRule[K comparable](rules map[K][]int32, key K, alone []int32) {
	switch known := rules[key]; {
	case len(known) == 0:
		rules[key] = alone[:1:1]
	case known[len(known)-1] != alone[0]:
		rules[key] = append(known, alone[0])
	}
}

// find calls try with lists of the rules one of whose hosts is that of the request, each in order, until it returns false.
// literal is the host where it is an address.
func (h *hosts) find(asked string, literal netip.Addr, try func([]int32) bool) {
	switch {
	case literal.IsValid():
		h.networks.find(literal, try)
	case len(h.exact) > 0 && !try(h.exact[asked]):
	case len(h.below)+len(h.patterns) == 0 || !try(h.below[asked]) || !h.findPatterns("", asked, try):
	default:
		h.findAbove(asked, try)
	}
}

// has reports whether a rule is found.
func (h *hosts) has(asked string, literal netip.Addr) bool {
	found := false
	h.find(asked, literal, func(rules []int32) bool {
		found = len(rules) > 0
		return !found
	})
	return found
}

// findAbove finds rules by the names above a host, from the last label on.
func (h *hosts) findAbove(asked string, try func([]int32) bool) {
	for dot := strings.LastIndexByte(asked, '.'); dot >= 0; dot = strings.LastIndexByte(asked[:dot], '.') {
		name := asked[dot+1:]
		if len(name) > h.longest || !try(h.below[name]) || name != "" && !h.findPatterns(name, asked, try) {
			return
		}
	}
}

// findPatterns finds rules by patterns that end in a name.
func (h *hosts) findPatterns(end, asked string, try func([]int32) bool) bool {
	for _, p := range h.patterns[end] {
		if matches(p.text, asked) && !try(p.rules) {
			return false
		}
	}
	return true
}
