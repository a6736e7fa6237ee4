package squidconf

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// peer is a server of cache_peer.
type peer struct {
	Directive
	name, server string // server has a scheme
	options      map[string]string
	weight       int
	hosts        []string // for which it is asked; nil: all
	other        bool     // its cache_peer_access cannot be said
	denies       bool     // cache_peer_access ends by denying
}

// directRule is a line of always_direct.
type directRule struct {
	Directive
	hosts []string
}

// cachePeer reads a server. Where it is asked is known after the last line.
func (c *conversion) cachePeer(d Directive) {
	words := d.Arguments()
	if len(words) < 4 {
		c.lose(d, "it has no host, type and two ports", "proxy.upstreams")
		return
	}
	port, err := strconv.ParseUint(words[2], 10, 16)
	host := strings.ToLower(strings.Trim(words[0], "[]"))
	if _, notAddress := parseAddresses(host); err != nil || port == 0 || notAddress != nil && !isName(host) || strings.ContainsAny(host, "/") {
		c.lose(d, "its host or port is none", "proxy.upstreams")
		return
	}
	if words[1] != "parent" {
		c.lose(d, Plain(words[1])+": missing", "cache.shared, for several urnds")
		return
	}
	p := &peer{Directive: d, name: host, options: d.options(4), weight: 1}
	if name := p.options["name"]; name != "" {
		p.name = name
	}
	if weight := p.options["weight"]; isInteger(weight) {
		p.weight = min(max(atoi(weight), 1), 1000)
	}
	scheme := "http"
	if p.has("tls") || p.has("ssl") {
		scheme = "https"
	}
	p.server = scheme + "://" + net.JoinHostPort(host, words[2])
	c.peerOptions(p)
	c.addPrivate(host)
	c.peers = append(c.peers, p)
}

// peerOptions reports the options of a parent that urnd has not.
func (c *conversion) peerOptions(p *peer) {
	d := p.Directive
	if !p.has("no-query") && d.Words[3].Text != "0" && !p.has("originserver") {
		c.lose(d, "ICP: missing", "nothing: the parent is asked without it")
	}
	for _, option := range []string{"sourcehash", "userhash", "weighted-round-robin", "closest-only", "basetime", "ttl", "multicast-responder"} {
		if p.has(option) {
			c.lose(d, option+": missing", "balance of proxy.upstreams")
		}
	}
	if flags := p.options["sslflags"] + p.options["tls-flags"]; strings.Contains(flags, "DONT_VERIFY") {
		c.lose(d, "certificates that are not verified: missing", "tls.ca: a file with the authority of the server")
	}
}

func (p *peer) has(option string) bool {
	_, ok := p.options[option]
	return ok
}

// peerAccess reads for which hosts a server is asked: allow lines with dstdomain, and deny all.
func (c *conversion) peerAccess(d Directive) {
	words := d.Arguments()
	at := slices.IndexFunc(c.peers, func(p *peer) bool { return len(words) > 2 && strings.EqualFold(p.name, words[0]) })
	if at < 0 {
		c.lose(d, "no parent before it has this name", "hosts of proxy.upstreams")
		return
	}
	p := c.peers[at]
	hosts, all, ok := c.hostsOf(d, words[2:])
	allows := words[1] == "allow"
	switch {
	case p.denies, ok && all && allows && p.hosts == nil:
	case ok && all && !allows:
		p.denies = true
	case ok && !all && allows:
		p.hosts = append(p.hosts, hosts...)
	default:
		p.other = true
		c.lose(d, "which requests a parent gets, by more than hosts: missing; the parent is left out", "hosts of proxy.upstreams")
	}
}

// hostsOf returns the hosts that acls stand for, or that they are all.
func (c *conversion) hostsOf(d Directive, words []string) (hosts []string, all, ok bool) {
	if len(words) != 1 {
		return nil, false, false
	}
	means := c.literal(words[0], d.Position, 0)
	if len(means.missing) > 0 || len(means.except) > 0 || len(means.cubes) != 1 {
		return nil, false, false
	}
	one := means.cubes[0]
	if one.always() {
		return nil, true, true
	}
	// A list of hosts is written out: upstreams have none in files.
	if a := c.acls[words[0]]; a != nil && a.Type == "dstdomain" && len(one.hostsFrom) > 0 {
		one.hostsFrom = nil
		for _, item := range a.Items {
			if host := strings.ToLower(item.Value); isName(host) {
				one.hosts = append(one.hosts, host)
			}
		}
	}
	slices.Sort(one.hosts)
	one.hosts = slices.Compact(one.hosts)
	return one.hosts, false, len(one.hosts) > 0 && equal(one, cube{hosts: one.hosts})
}

func (c *conversion) alwaysDirect(d Directive) {
	words := d.Arguments()
	if len(words) < 2 {
		c.lose(d, "it has no action and acl", "proxies: [direct] of proxy.upstreams")
		return
	}
	hosts, all, ok := c.hostsOf(d, words[1:])
	switch {
	case words[0] == "deny" && ok && all:
	case words[0] == "allow" && ok:
		c.direct = append(c.direct, directRule{d, hosts})
	default:
		c.lose(d, "ways by more than hosts: missing", "proxies: [direct] of proxy.upstreams")
	}
}

func (c *conversion) neverDirect(d Directive) {
	words := d.Arguments()
	if slices.Equal(words, []string{"allow", "all"}) {
		c.noDirect = true
	} else if !slices.Equal(words, []string{"deny", "all"}) {
		c.noDirect = true // as none is to go without a parent that went by one
		c.lose(d, "ways by acls: missing; all requests go by parents", "direct, at the end of proxies")
	}
}

// upstreams writes proxy.upstreams and proxy.sites.
func (c *conversion) upstreams() {
	var sites, ways strings.Builder
	for _, rule := range c.direct {
		ways.WriteString("\n    # " + from(rule.Directive))
		if len(rule.hosts) > 0 {
			ways.WriteString("\n    - hosts: " + list(rule.hosts, "      ") + "\n      proxies: [direct]")
		} else {
			ways.WriteString("\n    - proxies: [direct]")
		}
	}
	groups, everywhere := c.groups(&sites)
	for _, group := range append(groups, everywhere) {
		if len(group) > 0 {
			c.way(&ways, group)
		}
	}
	if at := slices.IndexFunc(c.directives, func(d Directive) bool { return d.Name == "never_direct" }); c.noDirect && len(everywhere) == 0 && at >= 0 {
		c.lose(c.directives[at], "no parent is for all hosts: others go direct", "a parent without hosts in proxy.upstreams, or a rule that denies other hosts")
	}
	if ways.Len() > 0 {
		c.document.set("proxy.upstreams", ways.String())
	}
	if sites.Len() > 0 {
		c.document.set("proxy.sites", sites.String())
	}
}

// groups returns the parents that are asked for the same hosts, and those for all hosts. It writes the sites.
func (c *conversion) groups(sites *strings.Builder) (groups [][]*peer, everywhere []*peer) {
	for _, p := range c.peers {
		switch {
		case p.other || p.denies && p.hosts == nil:
		case p.has("originserver"):
			c.site(sites, p)
		case p.hosts == nil:
			everywhere = append(everywhere, p)
		default:
			at := slices.IndexFunc(groups, func(g []*peer) bool { return slices.Equal(g[0].hosts, p.hosts) })
			if at < 0 {
				groups = append(groups, nil)
				at = len(groups) - 1
			}
			groups[at] = append(groups[at], p)
		}
	}
	return groups, everywhere
}

// way writes an entry of proxy.upstreams for parents that are asked for the same hosts. Those by default come last.
func (c *conversion) way(text *strings.Builder, group []*peer) {
	slices.SortStableFunc(group, func(a, b *peer) int { return number(a.has("default")) - number(b.has("default")) })
	first := group[0]
	var proxies, weights []string
	weighted := false
	for _, p := range group {
		text.WriteString("\n    # " + from(p.Directive))
		if slices.Contains(proxies, p.server) {
			c.lose(p.Directive, "a parent that is there twice", "nothing")
			continue
		}
		if p.options["login"] != first.options["login"] || !equalTLS(p, first) {
			c.lose(p.Directive, "parents with other logins or certificates in one entry: missing", "an entry of proxy.upstreams of its own")
			continue
		}
		proxies = append(proxies, p.server)
		weights = append(weights, strconv.Itoa(p.weight))
		weighted = weighted || p.weight != 1
	}
	if !c.noDirect {
		proxies = append(proxies, "direct")
	}
	text.WriteString("\n    - proxies: " + list(proxies, "      "))
	if first.hosts != nil {
		text.WriteString("\n      hosts: " + list(first.hosts, "      "))
	}
	balance := ""
	if first.has("round-robin") {
		balance = "round_robin"
	} else if first.has("carp") {
		balance = "hash_url"
	}
	if balance != "" {
		text.WriteString("\n      balance: " + balance)
		if weighted {
			text.WriteString("\n      weights: [" + strings.Join(weights, ", ") + "]")
		}
	}
	c.peerLogin(text, first)
	text.WriteString(tlsOf(first))
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// peerLogin writes the user of a parent. The password is never shown: it goes to a file.
func (c *conversion) peerLogin(text *strings.Builder, p *peer) {
	user, password, ok := strings.Cut(p.options["login"], ":")
	switch {
	case p.options["login"] == "":
	case !ok || user == "" || user == "*" || password == "" || strings.ContainsAny(user, "%"):
		c.lose(p.Directive, "this kind of login: missing", "user and password of proxy.upstreams")
	default:
		const file = "/etc/urnd/upstream-password"
		text.WriteString("\n      user: " + quote(Plain(user)) + "\n      password: " + file)
		c.lose(p.Directive, "the password of login= is not shown", fmt.Sprintf("write it to %s, which only urnd can read", file))
	}
}

func equalTLS(a, b *peer) bool { return tlsOf(a) == tlsOf(b) }

// tlsOf returns the settings of TLS with a parent.
func tlsOf(p *peer) string {
	if !strings.HasPrefix(p.server, "https://") {
		return ""
	}
	text := ""
	add := func(key string, names ...string) {
		if value := firstOf(p.options, names...); value != "" {
			text += "\n        " + key + ": " + quote(value)
		}
	}
	add("ca", "tls-cafile", "sslcafile")
	add("server_name", "tls-domain", "ssldomain")
	if certificate := firstOf(p.options, "tls-cert", "sslcert"); certificate != "" {
		add("certificate", "tls-cert", "sslcert")
		add("key", "tls-key", "sslkey", "tls-cert", "sslcert")
	}
	if text == "" {
		return ""
	}
	return "\n      tls:" + text
}

// site writes a web site whose server is a peer.
func (c *conversion) site(text *strings.Builder, p *peer) {
	var hosts []string
	for _, host := range p.hosts {
		if name, ok := strings.CutPrefix(host, "."); ok {
			hosts = append(hosts, name, "*."+name) // one label more
			continue
		}
		hosts = append(hosts, host)
	}
	if hosts == nil {
		hosts = c.sites
	}
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(host string) bool {
		return !isName(strings.TrimPrefix(host, "*.")) || slices.Contains(c.seen["proxy.sites"], host)
	})
	slices.Sort(hosts)
	if hosts = slices.Compact(hosts); len(hosts) == 0 {
		c.lose(p.Directive, "the hosts of the site are not known, or have a server already", "proxy.sites with hosts and servers")
		return
	}
	c.seen["proxy.sites"] = append(c.seen["proxy.sites"], hosts...)
	text.WriteString("\n    # " + from(p.Directive) + "\n    - hosts: " + list(hosts, "      ") + "\n      servers: " + list([]string{p.server}, "      "))
	text.WriteString(tlsOf(p))
}
