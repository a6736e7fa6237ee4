package config

import (
	"net/netip"
	urlpath "path"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// hasNoCondition reports whether a rule decides every request that comes to it.
func (r ProxyRule) hasNoCondition() bool {
	return len(r.Clients)+len(r.Users)+len(r.Methods)+len(r.Schemes)+len(r.Hosts)+len(r.Ports)+len(r.Destinations) == 0
}

// proxyWarnings are about the rules of the proxy.
func proxyWarnings() []warning {
	return []warning{
		warnOfProxyRules,
		one("proxy.policy", "is open: the rules are not looked at, and nothing is refused by them: write enforce",
			func(c checked) bool { return len(c.Proxy.Rules) > 0 && c.Proxy.Policy == "open" }),
		one("proxy.rules", "no rule denies, and what no rule decides is allowed: end the list with - {id: default, action: deny}",
			func(c checked) bool {
				denies := func(r ProxyRule) bool { return r.Action == "deny" }
				return len(c.Proxy.Rules) > 0 && c.Proxy.Policy != "open" && !slices.ContainsFunc(c.Proxy.Rules, denies)
			}),
	}
}

// warnOfProxyRules adds what is valid in rules, and probably not meant.
func warnOfProxyRules(f *Faults, c checked) {
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

// warnOfNever warns of conditions for which no request comes, or none gets through.
func warnOfNever(f *Faults, path string, r ProxyRule, c Config) {
	if len(r.Users) > 0 && c.Access.ProxyUsers == "" {
		f.Add(path+".users", "never hold: access.proxy_users is empty, so that nobody logs in: name a file of users there")
	}
	for i, clients := range r.Clients {
		if len(c.Access.ProxyClients) > 0 && !slices.ContainsFunc(c.Access.ProxyClients, clients.Overlaps) {
			f.Add(index(path+".clients", i), "none of %s may use the proxy: list it in access.proxy_clients", clients)
		}
	}
	for i, destinations := range r.Destinations {
		if closed := closedNetwork(c.Access.AllowDestinations, destinations); r.Action == "allow" && closed.IsValid() {
			f.Add(index(path+".destinations", i), "a rule opens no network: list %s in access.allow_destinations", closed)
		}
	}
}

// warnOfAlmostAll warns of values that look as if they stood for all, and do not.
func warnOfAlmostAll(f *Faults, path string, r ProxyRule) {
	warnOfOneFamily(f, path+".clients", r.Clients, ", or leave clients out")
	warnOfOneFamily(f, path+".destinations", r.Destinations, ", or leave destinations out")
	for _, list := range []struct {
		name  string
		words []string
	}{{"methods", r.Methods}, {"users", r.Users}} {
		if i := slices.Index(list.words, "*"); i >= 0 {
			f.Add(index(path+"."+list.name, i), "%q stands for itself alone: leave %s out for a rule about all of them", "*", list.name)
		}
	}
	isSocket := func(scheme string) bool { return strings.EqualFold(scheme, "ws") || strings.EqualFold(scheme, "wss") }
	if i := slices.IndexFunc(r.Schemes, isSocket); i >= 0 {
		f.Add(index(path+".schemes", i), "no request has the scheme %s: WebSockets are asked for by connect, or as http", r.Schemes[i])
	}
}

// warnOfOneFamily warns of all addresses of one version of IP beside none of the other.
func warnOfOneFamily(f *Faults, path string, ranges []netip.Prefix, otherwise string) {
	for family, other := range map[netip.Prefix]string{
		netip.MustParsePrefix("0.0.0.0/0"): "IPv6: add ::/0", netip.MustParsePrefix("::/0"): "IPv4: add 0.0.0.0/0",
	} {
		isOther := func(p netip.Prefix) bool { return p.Addr().Is4() != family.Addr().Is4() }
		if i := slices.Index(ranges, family); i >= 0 && !slices.ContainsFunc(ranges, isOther) {
			f.Add(index(path, i), "%s has none of %s%s", family, other, otherwise)
		}
	}
}

// warnOfTunnels warns of rules that miss the requests by which clients ask for https.
func warnOfTunnels(f *Faults, path string, r ProxyRule, open []PortRange) {
	isTunnel := slices.Equal(r.Schemes, []string{"connect"}) || slices.Equal(r.Methods, []string{"CONNECT"})
	for i, ports := range r.Ports {
		opens := func(p PortRange) bool { return p.First <= ports.Last && ports.First <= p.Last }
		if isTunnel && r.Action == "allow" && !slices.ContainsFunc(open, opens) {
			f.Add(index(path+".ports", i), "a rule opens no port for CONNECT: list %s in proxy.connect_ports", ports)
		}
	}
	if slices.Contains(r.Schemes, "https") && !slices.Contains(r.Schemes, "connect") {
		f.Add(path+".schemes", "has https without connect: clients ask for https by CONNECT, for which this rule does not hold")
	}
}

// warnOfRuleHosts warns of patterns that stand for other names than they seem to.
func warnOfRuleHosts(f *Faults, path string, hosts []string) {
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
			f.Add(at, "%s is taken as %s: the address has bits behind the length of the prefix", prefix, prefix.Masked())
		case rest != host && !strings.ContainsAny(rest, "*?"):
			f.Add(at, "%s has only names of one label more than %s: %q has all below it, and itself", host, rest, "."+rest)
		case inner(labels[last]):
			f.Add(at, "%q has names of others, such as %s: list the names", host, example)
		case last == 1 && strings.HasPrefix(host, "*"):
			f.Add(at, "%q has names of others, such as %s: write %q", host, example, "."+strings.TrimLeft(host, "*"))
		case slices.ContainsFunc(labels[1:], inner):
			f.Add(at, "%q has names such as %s, and none with more labels: * stands for any characters but a dot", host, example)
		}
	}
}

// opensAll reports whether the rules let everybody's requests pass that no other rule decides.
func opensAll(p Proxy) bool {
	deniesRest := func(r ProxyRule) bool { return r.Action == "deny" && r.hasNoCondition() }
	return p.Policy != "enforce" || !slices.ContainsFunc(p.Rules, deniesRest)
}

// matchesHost reports whether a name has the labels of a pattern.
func matchesHost(pattern, name string) bool {
	matched, err := urlpath.Match(strings.ReplaceAll(pattern, ".", "/"), strings.ReplaceAll(name, ".", "/"))
	return matched && err == nil
}
