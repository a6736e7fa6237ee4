package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
)

// hosts is the condition on hosts. Names are in a map: a look-up for each label of the host finds
// one of them, however many there are.
type hosts struct {
	names    map[string]bool // without a leading dot; the value is whether all names below belong to it
	patterns [][]string      // by label
	ranges   []netip.Prefix
}

const hostOctets = "abcdefghijklmnopqrstuvwxyz0123456789-_"

func parseHosts(texts []string) (hosts, error) {
	var h hosts
	for _, text := range texts {
		if err := h.add(text); err != nil {
			return hosts{}, fmt.Errorf("host %q: %w", text, err)
		}
	}
	return h, nil
}

// add adds a host of a Rule.
func (h *hosts) add(text string) error {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		addr = plain(addr)
		h.ranges = append(h.ranges, netip.PrefixFrom(addr, addr.BitLen()))
		return nil
	}
	if prefix, err := netip.ParsePrefix(text); err == nil {
		h.ranges = append(h.ranges, prefix)
		return checkRange(prefix)
	}
	name, below := strings.CutPrefix(strings.TrimSuffix(strings.ToLower(text), "."), ".")
	labels := strings.Split(name, ".")
	wild := strings.ContainsAny(name, "*?")
	switch {
	case slices.ContainsFunc(labels, func(label string) bool { return label == "" || strings.Trim(label, hostOctets+"*?") != "" }):
		return errors.New("it is neither a host name, a pattern nor an address; labels of other scripts are written as IDNA encodes them, xn--")
	case wild && below:
		return errors.New("a pattern does not begin with a dot")
	case wild && len(labels) == 1 && strings.Trim(name, "*") == "":
		return errors.New("this pattern stands for names without a dot; a rule for all hosts names none")
	case wild:
		h.patterns = append(h.patterns, labels)
	default:
		if h.names == nil {
			h.names = make(map[string]bool)
		}
		h.names[name] = h.names[name] || below
	}
	return nil
}

// has reports whether a host belongs to the condition; literal is the host where it is an address.
func (h *hosts) has(host string, literal netip.Addr) bool {
	if literal.IsValid() {
		return contains(h.ranges, literal)
	}
	if _, ok := h.names[host]; ok {
		return true
	}
	for rest, more := host, len(h.names) > 0; more; {
		if _, rest, more = strings.Cut(rest, "."); more && h.names[rest] {
			return true
		}
	}
	for _, pattern := range h.patterns {
		if matches(pattern, host) {
			return true
		}
	}
	return false
}

// matches reports whether each label of a host matches that of a pattern. Hosts are
// ASCII without slashes (RFC 3986 section 3.2.2), of which path.Match matches each octet alike.
func matches(pattern []string, host string) bool {
	for i, wanted := range pattern {
		label, rest, more := strings.Cut(host, ".")
		if ok, _ := path.Match(wanted, label); !ok || more != (i < len(pattern)-1) { // a pattern has no "[" that could be wrong
			return false
		}
		host = rest
	}
	return true
}
