package squidconf

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// peer is a server of cache_peer.
type peer struct {
	Directive
	name, server string // server includes the scheme
	options      map[string]string
	weight       uint64
	hosts        []string // hosts whose requests it gets; nil means all
	other        bool     // its cache_peer_access cannot be expressed
	denies       bool     // its cache_peer_access ends with deny
}

// directRule is a line of always_direct.
type directRule struct {
	Directive
	hosts []string
}

// cachePeer parses a server. Its hosts are known after the last line.
func (c *conversion) cachePeer(d Directive) {
	host, port := strings.ToLower(strings.Trim(d.argument(0), "[]")), d.argument(2)
	options := d.options(4)
	_, isAddress := parseAddress(host)
	_, isOrigin := options["originserver"]
	switch n, err := strconv.ParseUint(port, 10, 16); {
	case len(d.Words) < 4 || err != nil || n == 0 || !isAddress && !isName(host):
		c.addUnconverted(d, "the host, type or one of two ports is missing", "proxy.upstreams")
		return
	case d.argument(1) != "parent":
		c.addUnconverted(d, Plain(d.argument(1))+": missing", "cache.shared, for several urnds")
		return
	case isOrigin:
		c.addUnconverted(d, "the server of a site (originserver): missing",
			"proxy.sites, with its hosts and this server")
		return
	}
	options["host"] = host
	p := &peer{
		Directive: d, name: firstOf(options, "name", "host"), options: options,
		weight: max(numberOf(options["weight"], 1000), 1),
	}
	scheme := "http"
	if p.has("tls") || p.has("ssl") {
		scheme = "https"
	}
	p.server = scheme + "://" + net.JoinHostPort(host, port)
	c.peerOptions(p)
	c.addPrivate(host)
	c.peers = append(c.peers, p)
}

// peerOptions reports unsupported options of a parent.
func (c *conversion) peerOptions(p *peer) {
	if !p.has("no-query") && p.argument(3) != "0" {
		c.addUnconverted(p.Directive, "ICP: missing", "nothing: the parent is used without it")
	}
	for _, option := range []string{
		"sourcehash", "userhash", "weighted-round-robin", "closest-only",
		"multicast-responder",
	} {
		if p.has(option) {
			c.addUnconverted(p.Directive, option+": missing", "balance of proxy.upstreams")
		}
	}
	for _, option := range slices.Sorted(maps.Keys(p.options)) {
		if suffix, ok := strings.CutPrefix(option, "ssl"); (ok || strings.HasPrefix(option, "tls-")) && suffix != "" {
			c.addUnconverted(p.Directive, option+": missing",
				"tls of proxy.upstreams, with ca, server_name, certificate and key")
		}
	}
}

func (p *peer) has(option string) bool {
	_, ok := p.options[option]
	return ok
}

// peerAccess adds the hosts of a server: from allow lines with dstdomain, up to deny all.
func (c *conversion) peerAccess(d Directive) {
	words := d.Arguments()
	at := slices.IndexFunc(c.peers, func(p *peer) bool { return len(words) > 2 && strings.EqualFold(p.name, words[0]) })
	if at < 0 {
		c.addUnconverted(d, "no parent defined before it has this name", "hosts of proxy.upstreams")
		return
	}
	p := c.peers[at]
	hosts, ok := c.hostsOf(d, words[2:])
	switch all, allows := ok && hosts == nil, words[1] == "allow"; {
	case p.denies, all && allows && p.hosts == nil:
	case all && !allows:
		p.denies = true
	case ok && !all && allows:
		p.hosts = append(p.hosts, hosts...)
	default:
		p.other = true
		c.addUnconverted(d, "which requests a parent gets, by more than hosts: missing; the parent is left out",
			"hosts of proxy.upstreams")
	}
}

// hostsOf returns the hosts of acls, nil for all. Hosts in files are copied, because upstreams cannot refer
// to files.
func (c *conversion) hostsOf(d Directive, words []string) (hosts []string, ok bool) {
	if len(words) != 1 {
		return nil, false
	}
	means := c.literal(words[0], d.Position, 0)
	switch {
	case len(means.missing)+len(means.except) > 0 || len(means.cubes) != 1:
		return nil, false
	case means.cubes[0].always():
		return nil, true
	case !means.cubes[0].only(ofHosts):
		return nil, false
	}
	hosts = means.cubes[0][ofHosts].texts
	if a := c.acls.Named(words[0]); a != nil && a.Type == "dstdomain" {
		for _, item := range a.Items {
			if host := strings.ToLower(item.Value); item.List != "" && isName(host) {
				hosts = append(hosts, host)
			}
		}
	} else if len(means.cubes[0][ofHosts].files) > 0 {
		return nil, false
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), len(hosts) > 0
}

func (c *conversion) alwaysDirect(d Directive) {
	hosts, ok := c.hostsOf(d, d.Arguments()[min(1, len(d.Words)):])
	switch action := d.argument(0); {
	case action == "deny" && ok && hosts == nil:
	case action == "allow" && ok:
		c.direct = append(c.direct, directRule{d, hosts})
	default:
		c.addUnconverted(d, "ways by more than hosts: missing", "proxies: [direct] of proxy.upstreams")
	}
}

func (c *conversion) neverDirect(d Directive) {
	switch strings.Join(d.Arguments(), " ") {
	case "allow all":
		c.noDirect = true
		if !slices.ContainsFunc(c.peers, func(p *peer) bool { return p.queried() && p.hosts == nil }) {
			c.addUnconverted(d, "no parent is for all hosts: other hosts go direct",
				"a parent without hosts in proxy.upstreams, or a rule that denies other hosts")
		}
	case "deny all":
	default:
		c.noDirect = true // conservative: a request that had to use a parent must not go direct
		c.addUnconverted(d, "ways by acls: missing; all requests go by parents", "direct, at the end of proxies")
	}
}

// queried reports whether a parent gets any requests.
func (p *peer) queried() bool { return !p.other && (!p.denies || p.hosts != nil) }

// upstreams writes proxy.upstreams: direct hosts first, then parents grouped by their hosts, those for all
// hosts last.
func (c *conversion) upstreams() {
	var ways []*yaml.Node
	for _, rule := range c.direct {
		way := newTable(from(rule.Directive))
		put(way, "proxies", []string{"direct"})
		put(way, "hosts", rule.hosts)
		ways = append(ways, way)
	}
	var groups [][]*peer
	for _, p := range c.peers {
		at := slices.IndexFunc(groups, func(g []*peer) bool { return slices.Equal(g[0].hosts, p.hosts) })
		switch {
		case !p.queried():
		case at < 0:
			groups = append(groups, []*peer{p})
		default:
			groups[at] = append(groups[at], p)
		}
	}
	for _, forAll := range []bool{false, true} {
		for _, group := range groups {
			if forAll == (group[0].hosts == nil) {
				ways = append(ways, c.upstreamRoute(group))
			}
		}
	}
	if len(ways) > 0 {
		c.document.set("proxy.upstreams", ways)
	}
}

// upstreamRoute returns an entry of proxy.upstreams for parents with the same hosts.
func (c *conversion) upstreamRoute(group []*peer) *yaml.Node {
	first := group[0]
	var comments, proxies []string
	var weights []uint64
	for _, p := range group {
		comments = append(comments, from(p.Directive))
		switch {
		case slices.Contains(proxies, p.server):
			c.addUnconverted(p.Directive, "a parent that is listed twice", "nothing")
		case p.options["login"] != first.options["login"]:
			c.addUnconverted(p.Directive, "parents with other logins in one entry: missing",
				"an entry of proxy.upstreams of its own")
		default:
			proxies, weights = append(proxies, p.server), append(weights, p.weight)
		}
	}
	if !c.noDirect {
		proxies = append(proxies, "direct")
	}
	way := newTable(comments...)
	put(way, "proxies", proxies)
	put(way, "hosts", first.hosts)
	if first.has("round-robin") || first.has("carp") {
		balance := "round_robin"
		if first.has("carp") {
			balance = "hash_url"
		}
		put(way, "balance", balance)
		if slices.ContainsFunc(weights, func(weight uint64) bool { return weight != 1 }) {
			put(way, "weights", sequence(weights))
		}
	}
	c.peerLogin(way, first)
	return way
}

// peerLogin writes the user of a parent. The password is never printed: it belongs in a file.
func (c *conversion) peerLogin(way *yaml.Node, p *peer) {
	const file = "/etc/urnd/upstream-password"
	user, password, ok := strings.Cut(p.options["login"], ":")
	switch {
	case p.options["login"] == "":
	case !ok || user == "" || user == "*" || password == "" || strings.Contains(user, "%"):
		c.addUnconverted(p.Directive, "this kind of login: missing", "user and password of proxy.upstreams")
	default:
		put(way, "user", Plain(user))
		put(way, "password", file)
		c.addUnconverted(p.Directive, "the password of login= is not shown",
			"write it to "+file+", which only urnd can read")
	}
}
