package config

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// warnOfHiddenRule warns of a rule to which no request comes.
func warnOfHiddenRule(f *Faults, path string, r ProxyRule, before []ProxyRule, index hiders) {
	first := index.first(r, before)
	switch {
	case first < 0:
	case before[first].hasNoCondition():
		f.Add(path, "%q never decides: %q before it has no condition, and decides all requests", r.ID, before[first].ID)
	default:
		f.Add(path, "%q never decides: %q before it decides all its requests: write it before that one", r.ID, before[first].ID)
	}
}

// hides reports whether a rule holds for all requests for which a later one does.
func (r ProxyRule) hides(later ProxyRule) bool {
	has := func(p, q PortRange) bool { return p.First <= q.First && q.Last <= p.Last }
	hasAll := func(p, q netip.Prefix) bool { return p.Bits() <= q.Bits() && p.Overlaps(q) }
	is := func(a, b string) bool { return a == b }
	if r.Action == "allow" && len(r.Destinations) > 0 {
		return false // behind an upstream proxy it does not hold
	}
	return covers(r.Clients, later.Clients, hasAll) && covers(r.Users, later.Users, is) && covers(r.Methods, later.Methods, is) &&
		covers(r.Schemes, later.Schemes, strings.EqualFold) && covers(r.Hosts, later.Hosts, coversHost) &&
		covers(r.Ports, later.Ports, has) && covers(r.Destinations, later.Destinations, hasAll)
}

// maxPairs bounds how many pairs of values are compared: two long lists are not.
const maxPairs = 1 << 16

// covers reports whether a condition holds wherever a later one does; without values it always holds.
func covers[T any](values, later []T, has func(T, T) bool) bool {
	if len(values) == 0 || len(values)*len(later) > maxPairs {
		return len(values) == 0
	}
	missing := func(l T) bool { return !slices.ContainsFunc(values, func(v T) bool { return has(v, l) }) }
	return len(later) > 0 && !slices.ContainsFunc(later, missing)
}

// coversHost reports whether a host of a rule stands for all hosts for which a later one does.
func coversHost(host, later string) bool {
	host, later = uri.CanonicalHost(host), uri.CanonicalHost(later)
	if network, ok := networkOf(host); ok {
		other, isAddress := networkOf(later)
		return isAddress && network.Bits() <= other.Bits() && network.Overlaps(other)
	}
	if _, isAddress := networkOf(later); isAddress {
		return false
	}
	if strings.HasPrefix(host, ".") {
		return strings.HasSuffix("."+strings.TrimPrefix(later, "."), host)
	}
	return host == later || !strings.HasPrefix(later, ".") && !strings.ContainsAny(later, "*?") && matchesHost(host, later)
}

// hiders finds the rules that may hide a later one without a comparison with each, which with thousands of rules takes minutes.
// A rule is in it by the values of one condition, that which it shares with the fewest: what it hides has a value below each.
type hiders map[hiderKey][]int

// hiderKey is a value of a condition. The zero value stands for no condition.
type hiderKey struct {
	condition conditionKind
	text      string
	network   netip.Prefix
}

type conditionKind uint8

const (
	anyRequest conditionKind = iota
	oneHost
	allBelow
	hostPattern // by what is behind its last wildcard
	hostNetwork
	clientNetwork
	destinationNetwork
	oneUser
)

// add adds a rule by its number. Rules are added in order.
func (h hiders) add(r ProxyRule, number int) {
	if len(r.Hosts) > maxPairs {
		return // it is compared with none
	}
	var hosts, clients, destinations, users []hiderKey
	for _, host := range r.Hosts {
		hosts = append(hosts, keyOfHost(uri.CanonicalHost(host)))
	}
	for _, network := range r.Clients {
		clients = append(clients, hiderKey{condition: clientNetwork, network: network.Masked()})
	}
	for _, network := range r.Destinations {
		destinations = append(destinations, hiderKey{condition: destinationNetwork, network: network.Masked()})
	}
	for _, user := range r.Users {
		users = append(users, hiderKey{condition: oneUser, text: user})
	}
	var best []hiderKey
	for _, keys := range [...][]hiderKey{hosts, clients, destinations, users} {
		if len(keys) > 0 && (best == nil || h.most(keys) < h.most(best)) {
			best = keys
		}
	}
	if best == nil {
		best = []hiderKey{{}}
	}
	alone := []int{number} // keys of no other rule share it: to append makes a copy
	for _, key := range best {
		switch all := h[key]; {
		case len(all) == 0:
			h[key] = alone[:1:1]
		case all[len(all)-1] != number:
			h[key] = append(all, number)
		}
	}
}

// most returns how many rules share the key that most share.
func (h hiders) most(keys []hiderKey) int {
	most := 0
	for _, key := range keys {
		most = max(most, len(h[key]))
	}
	return most
}

func keyOfHost(host string) hiderKey {
	if network, ok := networkOf(host); ok {
		return hiderKey{condition: hostNetwork, network: network}
	}
	if wild := strings.LastIndexAny(host, "*?"); wild >= 0 {
		_, end, _ := strings.Cut(host[wild:], ".")
		return hiderKey{condition: hostPattern, text: end}
	}
	if name, below := strings.CutPrefix(host, "."); below {
		return hiderKey{condition: allBelow, text: name}
	}
	return hiderKey{condition: oneHost, text: host}
}

// first returns the number of the first rule that hides a later one, of those that were added; -1 for none.
func (h hiders) first(later ProxyRule, before []ProxyRule) int {
	first := len(before)
	try := func(key hiderKey) {
		for _, number := range h[key] {
			if number >= first {
				return
			}
			if before[number].hides(later) {
				first = number
				return
			}
		}
	}
	networks := func(condition conditionKind, network netip.Prefix) {
		for bits := range network.Bits() + 1 {
			around, _ := network.Addr().Prefix(bits)
			try(hiderKey{condition: condition, network: around})
		}
	}
	try(hiderKey{})
	if len(later.Hosts) > 0 {
		if key := keyOfHost(uri.CanonicalHost(later.Hosts[0])); key.network.IsValid() {
			networks(hostNetwork, key.network)
		} else {
			tryHost(uri.CanonicalHost(later.Hosts[0]), try)
		}
	}
	if len(later.Clients) > 0 {
		networks(clientNetwork, later.Clients[0])
	}
	if len(later.Destinations) > 0 {
		networks(destinationNetwork, later.Destinations[0])
	}
	if len(later.Users) > 0 {
		try(hiderKey{condition: oneUser, text: later.Users[0]})
	}
	if first == len(before) {
		return -1
	}
	return first
}

// tryHost tries the keys of all hosts that may have a name or pattern.
func tryHost(host string, try func(hiderKey)) {
	try(hiderKey{condition: oneHost, text: host})
	try(hiderKey{condition: hostPattern})
	for rest, more := strings.TrimPrefix(host, "."), true; more; _, rest, more = strings.Cut(rest, ".") {
		try(hiderKey{condition: allBelow, text: rest})
		try(hiderKey{condition: hostPattern, text: rest})
	}
}
