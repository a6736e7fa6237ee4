package config

import (
	"net/netip"
	urlpath "path"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// hasNoCondition reports whether a rule decides every request that it sees.
func (r ProxyRule) hasNoCondition() bool {
	return !r.hasLists() && len(r.Clients)+len(r.Users)+len(r.Groups)+len(r.Methods)+len(r.Schemes)+len(r.Hosts)+
		len(r.Ports)+len(r.Paths)+len(r.Times)+
		len(r.Hellos)+len(r.Destinations) == 0
}

// proxyWarnings are warnings about the rules of the proxy.
func proxyWarnings() []warning {
	return []warning{
		warnOfProxyRules,
		one("proxy.policy", "is open: rules are ignored, and no request is refused by them: write enforce",
			func(c checked) bool { return len(c.Proxy.Rules) > 0 && c.Proxy.Policy == "open" }),
		one("proxy.rules",
			"no rule denies, and requests that match no rule are allowed: end the list with - {id: default, action: "+
				"deny}",
			func(c checked) bool {
				denies := func(r ProxyRule) bool { return r.Action == "deny" }
				return len(c.Proxy.Rules) > 0 && c.Proxy.Policy != "open" && !slices.ContainsFunc(c.Proxy.Rules, denies)
			}),
	}
}

// warnOfProxyRules warns of rules that are valid, but probably not intended.
func warnOfProxyRules(f *Diagnostics, c checked) {
	rules := c.Proxy.Rules
	before := make(hiders)
	for i, r := range rules {
		path := index("proxy.rules", i)
		warnOfHiddenRule(f, path, r, rules[:i], before)
		before.add(r, i)
		warnOfHostBits(f, path+".clients", r.Clients)
		warnOfHostBits(f, path+".destinations", r.Destinations)
		warnOfRuleHosts(f, path+".hosts", r.Hosts)
		warnOfNever(f, path, r, c.Config)
		warnOfAlmostAll(f, path, r)
		warnOfTunnels(f, path, r, c.Proxy.ConnectPorts)
	}
}

// warnOfNever warns of conditions that no request meets, or whose requests are denied elsewhere.
func warnOfNever(f *Diagnostics, path string, r ProxyRule, c Config) {
	if len(r.Users) > 0 && !c.Access.HasLogin() {
		f.Add(path+".users",
			"never match: access.proxy_users is empty, so no client has a user: set it to a file of users")
	}
	if _, helper := c.Access.Helper(HelperGroups); len(r.Groups) > 0 &&
		(!c.Access.HasLogin() || c.Access.ProxyGroups == "" && helper < 0) {
		f.Add(path+".groups",
			"never match: access.proxy_groups is empty: set it to a file of groups, and access.proxy_users to a file "+
				"of users")
	}
	if len(r.Paths) > 0 && slices.Equal(r.Schemes, []string{"connect"}) {
		f.Add(path+".paths", "never match: the path of a tunnel is unknown")
	}
	for i, clients := range r.Clients {
		if len(c.Access.ProxyClients) > 0 && !slices.ContainsFunc(c.Access.ProxyClients, clients.Overlaps) {
			f.Add(index(path+".clients", i), "none of %s may use the proxy: add it to access.proxy_clients", clients)
		}
	}
	for i, destinations := range r.Destinations {
		if closed := closedNetwork(c.Access.AllowDestinations, destinations); r.Action == "allow" && closed.IsValid() {
			f.Add(index(path+".destinations", i),
				"a rule does not open networks: add %s to access.allow_destinations", closed)
		}
	}
}

// warnOfAlmostAll warns of values that seem to match everything, but do not.
func warnOfAlmostAll(f *Diagnostics, path string, r ProxyRule) {
	warnOfOneFamily(f, path+".clients", r.Clients, ", or omit clients")
	warnOfOneFamily(f, path+".destinations", r.Destinations, ", or omit destinations")
	for _, list := range []struct {
		name  string
		words []string
	}{{"methods", r.Methods}, {"users", r.Users}} {
		if i := slices.Index(list.words, "*"); i >= 0 {
			f.Add(index(path+"."+list.name, i), "%q matches only itself: omit %s to match all", "*", list.name)
		}
	}
	isSocket := func(scheme string) bool { return strings.EqualFold(scheme, "ws") || strings.EqualFold(scheme, "wss") }
	if i := slices.IndexFunc(r.Schemes, isSocket); i >= 0 {
		f.Add(index(path+".schemes", i), "no request has the scheme %s: WebSockets use connect, or http", r.Schemes[i])
	}
}

// warnOfOneFamily warns of a list with all addresses of one IP version, and none of the other.
func warnOfOneFamily(f *Diagnostics, path string, ranges []netip.Prefix, otherwise string) {
	for family, other := range map[netip.Prefix]string{
		netip.MustParsePrefix("0.0.0.0/0"): "IPv6: add ::/0", netip.MustParsePrefix("::/0"): "IPv4: add 0.0.0.0/0",
	} {
		isOther := func(p netip.Prefix) bool { return p.Addr().Is4() != family.Addr().Is4() }
		if i := slices.Index(ranges, family); i >= 0 && !slices.ContainsFunc(ranges, isOther) {
			f.Add(index(path, i), "%s has none of %s%s", family, other, otherwise)
		}
	}
}

// warnOfTunnels warns of rules that miss the CONNECT requests by which clients use https.
func warnOfTunnels(f *Diagnostics, path string, r ProxyRule, open []PortRange) {
	isTunnel := slices.Equal(r.Schemes, []string{"connect"}) || slices.Equal(r.Methods, []string{"CONNECT"})
	for i, ports := range r.Ports {
		opens := func(p PortRange) bool { return p.First <= ports.Last && ports.First <= p.Last }
		if isTunnel && r.Action == "allow" && !slices.ContainsFunc(open, opens) {
			f.Add(index(path+".ports", i),
				"a rule does not open ports for CONNECT: add %s to proxy.connect_ports", ports)
		}
	}
	if slices.Contains(r.Schemes, "https") && !slices.Contains(r.Schemes, "connect") {
		f.Add(path+".schemes",
			"has https without connect: clients use CONNECT for https, which this rule does not match")
	}
}

// warnOfRuleHosts warns of patterns that match other names than they seem to.
func warnOfRuleHosts(f *Diagnostics, path string, hosts []string) {
	for i, host := range hosts {
		if !strings.ContainsAny(host, "*/") {
			continue
		}
		labels := strings.Split(uri.CanonicalHost(host), ".")
		last := len(labels) - 1
		rest := strings.TrimPrefix(host, "*.")
		example := strings.NewReplacer("*", "x", "?", "x").Replace(host)
		inner := func(label string) bool { return strings.Contains(label, "*") }
		prefix, err := netip.ParsePrefix(host)
		switch at := index(path, i); {
		case err == nil && prefix != prefix.Masked():
			f.Add(at, "%s is interpreted as %s: the address has bits after the prefix length", prefix, prefix.Masked())
		case rest != host && !strings.ContainsAny(rest, "*?"):
			f.Add(at,
				"%s matches only names with one label more than %s: %q matches all subdomains, and the name itself",
				host, rest, "."+rest)
		case inner(labels[last]):
			f.Add(at, "%q matches names of others, such as %s: list the names", host, example)
		case last == 1 && strings.HasPrefix(host, "*"):
			f.Add(at, "%q matches names of others, such as %s: write %q", host, example,
				"."+strings.TrimLeft(host, "*"))
		case slices.ContainsFunc(labels[1:], inner):
			f.Add(at, "%q matches names such as %s, but none with more labels: * does not match a dot", host, example)
		}
	}
}

// opensAll reports whether the policy allows requests that no rule decides.
func opensAll(p Proxy) bool {
	deniesRest := func(r ProxyRule) bool { return r.Action == "deny" && r.hasNoCondition() }
	return p.Policy != "enforce" || !slices.ContainsFunc(p.Rules, deniesRest)
}

// matchesHost reports whether the labels of a name match those of a pattern.
func matchesHost(pattern, name string) bool {
	matched, err := urlpath.Match(strings.ReplaceAll(pattern, ".", "/"), strings.ReplaceAll(name, ".", "/"))
	return matched && err == nil
}

// warnOfHiddenRule warns of a rule that never decides, because an earlier rule hides it.
func warnOfHiddenRule(f *Diagnostics, path string, r ProxyRule, before []ProxyRule, index hiders) {
	first := index.first(r, before)
	switch {
	case first < 0:
	case before[first].hasNoCondition():
		f.Add(path, "%q never decides: %q before it has no condition, and matches all requests", r.ID, before[first].ID)
	default:
		f.Add(path, "%q never decides: %q before it matches all its requests: write it before that one", r.ID,
			before[first].ID)
	}
}

// hides reports whether a rule matches all requests that a later rule matches.
func (r ProxyRule) hides(later ProxyRule) bool {
	has := func(p, q PortRange) bool { return p.First <= q.First && q.Last <= p.Last }
	hasAll := func(p, q netip.Prefix) bool { return p.Bits() <= q.Bits() && p.Overlaps(q) }
	is := func(a, b string) bool { return a == b }
	return r.isKnown() && !r.missesListsOf(later) && covers(r.Clients, later.Clients, hasAll) &&
		covers(r.Users, later.Users, is) &&
		covers(r.Methods, later.Methods, is) && covers(r.Schemes, later.Schemes, strings.EqualFold) &&
		covers(r.Hosts, later.Hosts, coversHost) &&
		covers(r.Groups, later.Groups, is) && covers(r.Paths, later.Paths, is) &&
		covers(r.Times, later.Times, func(a, b Window) bool { return a == b }) &&
		covers(r.Ports, later.Ports, has) && covers(r.Destinations, later.Destinations, hasAll)
}

// isKnown reports whether the requests that a rule matches are known here. They are not if the address is
// unknown (behind an upstream proxy), before a tunnel has started, and with list files.
func (r ProxyRule) isKnown() bool {
	return (r.Action != "allow" || len(r.Destinations) == 0) && len(r.Hellos) == 0 && !r.hasLists()
}

// missesListsOf reports whether a later rule has a list file for a condition that this rule has with values
// only.
func (r ProxyRule) missesListsOf(later ProxyRule) bool {
	return len(r.Clients) > 0 && len(later.ClientsFrom) > 0 || len(r.Hosts) > 0 && len(later.HostsFrom) > 0 ||
		len(r.Destinations) > 0 && len(later.DestinationsFrom) > 0
}

// maxPairs is the maximum number of pairs of values that are compared; longer lists are not compared.
const maxPairs = 1 << 16

// covers reports whether a condition matches everything that a later one matches. Without values it always
// matches.
func covers[T any](values, later []T, has func(T, T) bool) bool {
	if len(values) == 0 || len(values)*len(later) > maxPairs {
		return len(values) == 0
	}
	missing := func(l T) bool { return !slices.ContainsFunc(values, func(v T) bool { return has(v, l) }) }
	return len(later) > 0 && !slices.ContainsFunc(later, missing)
}

// coversHost reports whether a host of a rule matches all hosts that a later one matches.
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
	return host == later || !strings.HasPrefix(later, ".") && !strings.ContainsAny(later, "*?") &&
		matchesHost(host, later)
}

// hiders is an index of rules that may hide a later one. Comparing each pair of thousands of rules would take
// minutes. A rule is indexed by the values of one condition, the one with the least shared values: a rule that
// it hides has a value covered by one of these.
type hiders map[hiderKey][]int

// hiderKey is a value of a condition. The zero value means no condition.
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
	hostPattern // by the text after its last wildcard
	hostNetwork
	clientNetwork
	destinationNetwork
	oneUser
)

// add adds a rule by its index. Rules must be added in order.
func (h hiders) add(r ProxyRule, number int) {
	if len(r.Hosts) > maxPairs {
		return // it is never compared
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
	alone := []int{number} // shared by the keys of this rule only; append makes a copy
	for _, key := range best {
		switch all := h[key]; {
		case len(all) == 0:
			h[key] = alone[:1:1]
		case all[len(all)-1] != number:
			h[key] = append(all, number)
		}
	}
}

// most returns the number of rules that share the most frequent key.
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

// first returns the index of the first added rule that hides a later one; -1 for none.
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

// tryHost tries the keys of all hosts that may match a name or pattern.
func tryHost(host string, try func(hiderKey)) {
	try(hiderKey{condition: oneHost, text: host})
	try(hiderKey{condition: hostPattern})
	for rest, more := strings.TrimPrefix(host, "."), true; more; _, rest, more = strings.Cut(rest, ".") {
		try(hiderKey{condition: allBelow, text: rest})
		try(hiderKey{condition: hostPattern, text: rest})
	}
}
