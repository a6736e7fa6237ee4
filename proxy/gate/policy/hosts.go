package policy

import (
	"net/netip"
	"strings"
)

// hosts is an index of rules by the host of a request, with one look-up per label of the name, regardless of
// the number of hosts. Only patterns with the same labels after their last wildcard are compared one by one.
// The zero value is empty.
type hosts struct {
	exact    map[string][]int32
	below    map[string][]int32   // names that include all names below them
	patterns map[string][]pattern // by the labels after the last wildcard, "" for none
	networks networks
	longest  int // the longest key of below and patterns, in bytes: limits the look-ups of a long host
}

// pattern is a pattern with its rules.
type pattern struct {
	text  string
	rules []int32
}

// add adds a rule by its hosts. Rules are added in order.
func (h *hosts) add(all []host, number int32) {
	if h.exact == nil {
		h.exact, h.below, h.patterns = make(map[string][]int32, len(all)), make(map[string][]int32),
			make(map[string][]pattern)
	}
	alone := []int32{number} // shared by all hosts of this rule only: append makes a copy
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

// find calls try with lists of the rules that match the host, each list in order, until try returns false.
// literal is the host's address if it is one.
func (h *hosts) find(requested string, literal netip.Addr, try func([]int32) bool) {
	switch {
	case literal.IsValid():
		h.networks.find(literal, try)
	case len(h.exact) > 0 && !try(h.exact[requested]):
	case len(h.below)+len(h.patterns) == 0 || !try(h.below[requested]) || !h.findPatterns("", requested, try):
	default:
		h.findAbove(requested, try)
	}
}

// has reports whether a rule matches.
func (h *hosts) has(requested string, literal netip.Addr) bool {
	found := false
	h.find(requested, literal, func(rules []int32) bool {
		found = len(rules) > 0
		return !found
	})
	return found
}

// findAbove finds rules by the names above a host, starting at the last label.
func (h *hosts) findAbove(requested string, try func([]int32) bool) {
	for dot := strings.LastIndexByte(requested, '.'); dot >= 0; dot = strings.LastIndexByte(requested[:dot], '.') {
		name := requested[dot+1:]
		if len(name) > h.longest || !try(h.below[name]) || name != "" && !h.findPatterns(name, requested, try) {
			return
		}
	}
}

// findPatterns finds rules by patterns with a suffix.
func (h *hosts) findPatterns(end, requested string, try func([]int32) bool) bool {
	for _, p := range h.patterns[end] {
		if matches(p.text, requested) && !try(p.rules) {
			return false
		}
	}
	return true
}
