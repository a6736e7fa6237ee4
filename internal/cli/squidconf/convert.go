package squidconf

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Loss is a line that was not carried over, wholly or in part.
type Loss struct {
	At        Position
	Directive string
	Why       string
	Instead   string // what to write instead
}

// Result is a converted configuration.
type Result struct {
	// YAML is a complete and valid configuration of urnd, with comments.
	YAML string
	// Lost is what was not carried over, in the order of lines. It never has passwords.
	Lost []Loss
	// Unneeded are the lines that urnd needs no setting for.
	Unneeded []Loss
}

type conversion struct {
	files       Files
	rows        map[string]row // of the table, by directive
	directives  []Directive
	acls        map[string]*ACL
	lines       []accessLine
	nested      int               // acls that any-of and all-of have named so far
	usersFile   string            // with hashes of bcrypt
	passwords   *helper           // nil for none
	negotiate   *helper           // likewise
	groupHelper *helper           // nil for none
	groupType   string            // its name for acls
	formats     map[string]string // of logs
	logs        string            // log.access
	document    document
	result      Result
	seen        map[string][]string // values of settings that several lines have
	peers       []*peer
	direct      []directRule
	noDirect    bool
	sites       []string // hosts of http_port accel defaultsite=
	disk        int64
	private     []string // addresses of peers that access.allow_destinations must have
}

// Convert reads a configuration of Squid, and returns the one of urnd that does the same, as far as it can. The name is an absolute path:
// the result has those of lists.
func Convert(files Files, name string) (Result, error) {
	directives, err := Parse(files, name)
	if err != nil {
		return Result{}, err
	}
	c := &conversion{files: files, rows: rows(), directives: directives, seen: make(map[string][]string), formats: make(map[string]string)}
	if c.acls, err = ACLs(files, directives); err != nil {
		return Result{}, err
	}
	// Users first, since rules depend on who can log in, and formats, since logs name them.
	for _, d := range directives {
		switch d.Name {
		case "auth_param":
			c.login(d)
		case "external_acl_type":
			c.externalType(d)
		case "logformat":
			c.logFormat(d)
		}
	}
	c.helpers()
	if !slices.ContainsFunc(directives, func(d Directive) bool { return d.Name == "forwarded_for" }) {
		c.document.set("proxy.forwarded", "x-forwarded-for", "forwarded_for on, the default of Squid")
	}
	for _, d := range directives {
		c.convert(d)
	}
	if err := c.access(); err != nil {
		return Result{}, err
	}
	c.upstreams()
	c.destinations()
	return c.finish(filepath.Base(name)), nil
}

// convert carries one line over.
func (c *conversion) convert(d Directive) {
	row, ok := c.rows[d.Name]
	row.instead = strings.ReplaceAll(row.instead, "`", "")
	switch {
	case !ok:
		c.lose(d, "Squid 5 does not know this directive", "nothing, where Squid warned of it")
	case d.Conditional && row.convert != nil:
		c.lose(d, "it depends on the process of Squid (if)", row.instead)
	case row.convert != nil:
		row.convert(c, d)
	case row.kind == unneeded:
		c.result.Unneeded = append(c.result.Unneeded, Loss{d.Position, d.Name, row.instead, ""})
	case row.kind == missing:
		c.lose(d, "missing", row.instead)
	}
}

func (c *conversion) lose(d Directive, why, instead string) {
	c.result.Lost = append(c.result.Lost, Loss{d.Position, d.Name, why, instead})
}

// set carries a line over to one setting.
func (c *conversion) set(d Directive, path, value string) { c.document.set(path, value, from(d)) }

// from returns the comment of a setting: the line that it comes from, without what may be secret.
func from(d Directive) string { return Plain(d.String() + ": " + show(d)) }

// show returns a line without what may be secret: parameters of programs, and options of peers.
func show(d Directive) string {
	words := d.Arguments()
	switch d.Name {
	case "http_access", "acl", "always_direct", "never_direct", "cache_peer_access", "http_port", "https_port":
		return d.Text
	case "cache_peer":
		words = words[:min(4, len(words))]
	case "auth_param":
		words = words[:min(3, len(words))]
	default:
		words = words[:min(2, len(words))]
	}
	return strings.Join(append([]string{d.Name}, words...), " ")
}

// access makes proxy.rules, proxy.connect_ports and access.proxy_clients of http_access.
func (c *conversion) access() error {
	rules, lost, err := c.rules(c.directives)
	if err != nil {
		return err
	}
	c.result.Lost = append(c.result.Lost, lost...)
	c.connectPorts()
	rules = slices.DeleteFunc(rules, c.byConnectPorts)
	c.loginOfAll()
	c.proxyClients(rules)
	c.document.set("proxy.rules", rulesText(rules))
	return nil
}

// loginOfAll reports lines that allow clients which have not logged in.
func (c *conversion) loginOfAll() {
	for _, line := range c.lines {
		if c.canLogIn() && !line.deny && !line.login && len(line.cubes) > 0 {
			c.lose(line.Directive, "who has not logged in is allowed", "access.proxy_users is for all clients of the proxy: run a second urnd without it")
		}
	}
}

// rulesText returns proxy.rules.
func rulesText(rules []rule) string {
	var text strings.Builder
	ids := make(map[string]int)
	said := ""
	for _, r := range rules {
		if !r.deny && (vanishes(r.clients) || vanishes(r.destinations)) {
			continue // without them it would allow all
		}
		id := "default"
		if r.at.Line > 0 {
			id = ruleID(r.at)
		}
		if ids[id]++; ids[id] > 1 {
			id += "-" + strconv.Itoa(ids[id])
		}
		note := Plain(r.comment)
		if r.at.Line > 0 {
			note = Plain(r.at.String() + ": " + r.comment)
		}
		if note != said {
			text.WriteString("\n    # " + note)
			said = note
		}
		if r.closed {
			text.WriteString("\n    # It denies more than Squid did, since that cannot be said in a rule: see the end. Replace it.")
		}
		text.WriteString("\n    - id: " + id + r.text())
	}
	return text.String()
}

func ruleID(at Position) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)) {
			return r
		}
		return '_'
	}, filepath.Base(at.File))
	return name[:min(40, len(name))] + "-" + strconv.Itoa(at.Line)
}

// text returns what is behind the name of a rule.
func (r rule) text() string {
	const indent = "\n      "
	action := "allow"
	if r.deny {
		action = "deny"
	}
	text := indent + "action: " + action
	add := func(key string, values []string) {
		if len(values) > 0 {
			text += indent + key + ": " + list(values, indent[1:])
		}
	}
	add("clients", networks(r.clients))
	add("users", r.texts[users])
	add("groups", r.texts[groups])
	add("methods", r.texts[methods])
	add("schemes", r.texts[schemes])
	add("hosts", r.hosts)
	add("hosts_from", r.hostsFrom)
	add("ports", r.ports.texts())
	add("paths", r.texts[paths])
	add("times", r.texts[times])
	add("destinations", networks(r.destinations))
	return text
}

// vanishes reports whether a set has no networks that settings could have.
func vanishes(set addresses) bool { return set != nil && len(networks(set)) == 0 }

// networks returns a set as settings have it, without what no client and no server has: 0.0.0.0/8 in part (RFC 1122 section 3.2.1.3), of
// which localnet of Debian has all but one address, and IPv4 in IPv6.
func networks(set addresses) (all []string) {
	this := netip.MustParsePrefix("0.0.0.0/8")
	for _, network := range set.prefixes() {
		if isPart := network.Bits() > 8 && this.Contains(network.Addr()); !network.Addr().Is4In6() && !isPart {
			all = append(all, network.String())
		}
	}
	return all
}

// connectPorts sets proxy.connect_ports: to the ports of "deny CONNECT !SSL_ports" where nothing before it allows a tunnel, and else to
// all, as rules then decide.
func (c *conversion) connectPorts() {
	all, from := ports{{1, maxPort}}, "http_access decides which"
	for _, line := range c.lines {
		if !line.deny && slices.ContainsFunc(line.cubes, cube.tunnels) {
			break
		}
		if r, ok := line.connectPorts(); ok {
			all, from = r.not().and(ports{{1, maxPort}}), Plain(line.String()+": "+line.Text)
			break
		}
	}
	if len(all) > 0 {
		c.document.set("proxy.connect_ports", list(all.texts(), "  "), from)
	}
}

// tunnels reports whether a cube may hold for CONNECT.
func (c cube) tunnels() bool {
	return (c.texts[methods] == nil || slices.Contains(c.texts[methods], "CONNECT")) && c.texts[schemes] == nil && c.texts[paths] == nil
}

// connectPorts returns the ports that a line denies to tunnels, and nothing else.
func (l *accessLine) connectPorts() (ports, bool) {
	if !l.deny || len(l.cubes) != 1 || len(l.except) > 0 || !isConnectPorts(l.cubes[0]) {
		return nil, false
	}
	return l.cubes[0].ports, len(l.cubes[0].ports.not()) > 0
}

func isConnectPorts(one cube) bool {
	only := cube{ports: one.ports}
	only.texts[methods] = []string{"CONNECT"}
	return one.ports != nil && equal(one, only)
}

// byConnectPorts reports whether proxy.connect_ports say what a rule does.
func (c *conversion) byConnectPorts(r rule) bool {
	if !r.deny || r.closed || !isConnectPorts(r.cube) {
		return false
	}
	for _, line := range c.lines {
		if !line.deny && slices.ContainsFunc(line.cubes, cube.tunnels) {
			return false
		}
		if _, ok := line.connectPorts(); ok {
			return line.Position == r.at
		}
	}
	return false
}

// proxyClients sets access.proxy_clients to the clients of rules that allow: to all, where one has no clients.
func (c *conversion) proxyClients(rules []rule) {
	var all []addressRange
	for _, r := range rules {
		if !r.deny && r.clients == nil {
			c.document.set("access.proxy_clients", list([]string{"0.0.0.0/0", "::/0"}, "  "), "http_access decides which: proxy.rules")
			return
		}
		if !r.deny {
			all = append(all, r.clients...)
		}
	}
	c.document.set("access.proxy_clients", list(networks(newAddresses(all)), "  "), "those that http_access allows")
}

// destinations says what urnd reaches.
func (c *conversion) destinations() {
	notes := []string{"Squid reaches private networks and this machine, and urnd does not, unless they are here: 10.0.0.0/8, for example."}
	slices.Sort(c.private)
	c.private = slices.Compact(c.private)
	if len(c.private) > 0 {
		notes = append(notes, "These are servers of cache_peer.")
	}
	c.document.set("access.allow_destinations", list(c.private, "  "), notes...)
}

// addPrivate notes the address of a server that is not public.
func (c *conversion) addPrivate(host string) {
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err == nil && (address.IsPrivate() || address.IsLoopback() || address.IsLinkLocalUnicast()) {
		c.private = append(c.private, netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()).String())
	}
}

// finish returns the text with what was not carried over at its end.
func (c *conversion) finish(name string) Result {
	at := make(map[Position]int)
	for i, d := range c.directives {
		at[d.Position] = i
	}
	slices.SortStableFunc(c.result.Lost, func(a, b Loss) int { return at[a.At] - at[b.At] })
	said := make(map[Loss]bool) // an acl may be in several lines
	c.result.Lost = slices.DeleteFunc(c.result.Lost, func(l Loss) bool {
		before := said[l]
		said[l] = true
		return before
	})
	var all strings.Builder
	fmt.Fprintf(&all, "# From %s, by urnd config import. What is not set has the defaults of urnd.\n", Plain(name))
	all.WriteString(c.document.text())
	if len(c.result.Lost) > 0 {
		all.WriteString("\n# Not carried over:\n")
		for _, l := range c.result.Lost {
			all.WriteString("#   " + Plain(fmt.Sprintf("%s: %s: %s; instead: %s", l.At, l.Directive, l.Why, l.Instead)) + "\n")
		}
	}
	if len(c.result.Unneeded) > 0 {
		all.WriteString("\n# Not needed:\n")
		for _, l := range c.result.Unneeded {
			all.WriteString("#   " + Plain(fmt.Sprintf("%s: %s: %s", l.At, l.Directive, l.Why)) + "\n")
		}
	}
	c.result.YAML = all.String()
	return c.result
}
