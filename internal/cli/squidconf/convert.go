package squidconf

import (
	"cmp"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Unconverted is a line that was not converted, completely or partly.
type Unconverted struct {
	At          Position
	Directive   string
	Reason      string
	Alternative string // the alternative
}

// Result is a converted configuration.
type Result struct {
	// YAML is a complete and valid configuration of urnd, with comments.
	YAML string
	// Unconverted are the losses in the order of lines. They never contain passwords.
	Unconverted []Unconverted
	// Unneeded are the lines for which urnd needs no setting.
	Unneeded []Unconverted
}

type conversion struct {
	files      Files
	directives []Directive
	acls       ACLSet
	nested     int               // acls that any-of and all-of have named so far
	rows       map[string]row    // the table by directive
	usersFile  string            // with bcrypt hashes
	foldsUsers bool              // user names are in lower case
	passwords  *yaml.Node        // of access.helpers; nil for none
	negotiate  *yaml.Node        // of access.helpers; nil for none
	groups     *yaml.Node        // of access.helpers; nil for none
	groupType  string            // the name of the group type in acls
	formats    map[string]string // log formats by name
	logs       []*yaml.Node      // log.access
	document   document
	result     Result
	seen       map[string][]string // values of settings that several lines set
	peers      []*peer
	direct     []directRule
	noDirect   bool
	disk       int64
	private    []string // private addresses of peers, for access.allow_destinations
}

// Convert converts a configuration of Squid to an equivalent one of urnd, as far as possible. name is an
// absolute path, because the result refers to lists by their paths. The error is a *ParseError for a line
// that Squid would reject, and for a reverse proxy (accel).
func Convert(files Files, name string) (Result, error) {
	directives, err := Parse(files, name)
	if err != nil {
		return Result{}, err
	}
	c := &conversion{
		files: files, directives: directives, seen: make(map[string][]string),
		formats: make(map[string]string), rows: rows(), document: document{newTable()},
	}
	if c.acls, err = ACLs(files, directives); err != nil {
		return Result{}, err
	}
	if err := c.refuseAccelerator(); err != nil {
		return Result{}, err
	}
	// Logins first, since rules depend on them, and formats, since logs name them.
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
	for _, d := range directives {
		if d.Name == "never_direct" { // after all parents are known
			c.neverDirect(d)
		}
	}
	if err := c.access(); err != nil {
		return Result{}, err
	}
	c.upstreams()
	c.destinations()
	return c.finish(filepath.Base(name))
}

// refuseAccelerator rejects a reverse proxy: its rules for all clients would make urnd an open proxy.
func (c *conversion) refuseAccelerator() error {
	for _, d := range c.directives {
		if d.Name != "http_port" && d.Name != "https_port" {
			continue
		}
		for option := range d.options(1) {
			if slices.Contains([]string{"accel", "vhost", "vport", "defaultsite"}, option) {
				return &ParseError{
					d.Position, d.Text,
					"a reverse proxy is not converted, because its rules would open the proxy to all clients: write " +
						"proxy.sites, with hosts and servers (docs/recipes.md, A gateway of a site); without this " +
						"line the rest is converted", nil,
				}
			}
		}
	}
	return nil
}

// convert converts one line.
func (c *conversion) convert(d Directive) {
	row, ok := c.rows[d.Name]
	switch {
	case !ok:
		c.addUnconverted(d, "Squid 5 does not support this directive", "nothing, where Squid warned of it")
	case row.convert != nil:
		row.convert(c, d)
	case row.kind == unneeded:
		c.unneeded(d, c.insteadOf(d.Name, ""))
	case row.kind == missing:
		c.addUnconverted(d, "missing", c.insteadOf(d.Name, ""))
	}
}

// insteadOf returns the replacement in the table for a directive or a type of acls.
func (c *conversion) insteadOf(name, byDefault string) string {
	return cmp.Or(strings.ReplaceAll(c.rows[name].instead, "`", ""), byDefault)
}

func (c *conversion) addUnconverted(d Directive, why, instead string) {
	c.result.Unconverted = append(c.result.Unconverted, Unconverted{d.Position, d.Name, why, instead})
}

func (c *conversion) unneeded(d Directive, why string) {
	c.result.Unneeded = append(c.result.Unneeded, Unconverted{d.Position, d.Name, why, ""})
}

// set converts a line to one setting.
func (c *conversion) set(d Directive, path string, value any) { c.document.set(path, value, from(d)) }

// from returns the comment of a setting: its source line, without parameters of programs and options of
// peers, which may be secret.
func from(d Directive) string {
	shown, ok := map[string]int{
		"http_port": 99, "https_port": 99, "always_direct": 99, "cache_peer": 4,
		"auth_param": 3,
	}[d.Name]
	if !ok {
		shown = 2
	}
	words := d.Arguments()
	return Plain(d.String() + ": " + strings.Join(append([]string{d.Name}, words[:min(shown, len(words))]...), " "))
}

// access converts http_access to proxy.rules and access.proxy_clients.
func (c *conversion) access() error {
	rules, err := c.rules()
	if err != nil {
		return err
	}
	var all []addressRange
	why := "those that http_access allows"
	for _, r := range rules {
		if clients := r.cube[ofClients]; !r.deny && (clients == nil || len(clients.files) > 0) {
			all, why = everyAddress(), "http_access decides which: proxy.rules"
			break
		} else if !r.deny {
			all = append(all, clients.set...)
		}
	}
	c.document.set("access.proxy_clients", newRanges(all).networks(), why)
	if open := tunnelPorts(rules); len(open) > 0 {
		c.document.set("proxy.connect_ports", open.ports(), "those that http_access does not deny")
	}
	c.document.set("proxy.rules", tables(rules))
	return nil
}

// tunnelPorts returns the ports that rules do not deny to CONNECT before one allows it.
func tunnelPorts(rules []rule) ranges {
	open := ranges{numbers(1, 65535)}
	for _, r := range rules {
		methods := r.cube[ofMethods]
		if methods != nil && !slices.Contains(methods.texts, "CONNECT") || r.cube[ofSchemes] != nil ||
			r.cube[ofPaths] != nil {
			continue
		}
		if !r.deny {
			break
		}
		if r.cube[ofMethods] = nil; r.only(ofPorts) {
			open = open.and(r.cube[ofPorts].set.not())
		}
	}
	return open
}

// destinations writes access.allow_destinations.
func (c *conversion) destinations() {
	notes := []string{"Squid connects to private networks and this machine; urnd does so only if they are listed " +
		"here, such as 10.0.0.0/8."}
	slices.Sort(c.private)
	c.private = slices.Compact(c.private)
	if len(c.private) > 0 {
		notes = append(notes, "Servers of cache_peer.")
	}
	c.document.set("access.allow_destinations", c.private, notes...)
}

// addPrivate records the address of a server that is not public.
func (c *conversion) addPrivate(host string) {
	if address, ok := parseAddress(host); ok &&
		(address.IsPrivate() || address.IsLoopback() || address.IsLinkLocalUnicast()) {
		c.private = append(c.private, netip.PrefixFrom(address, address.BitLen()).String())
	}
}

// finish returns the text with the losses at its end.
func (c *conversion) finish(name string) (Result, error) {
	at := make(map[Position]int)
	for i, d := range c.directives {
		at[d.Position] = i
	}
	slices.SortStableFunc(c.result.Unconverted, func(a, b Unconverted) int { return at[a.At] - at[b.At] })
	reported := make(map[Unconverted]bool) // several lines may use the same acl
	c.result.Unconverted = slices.DeleteFunc(c.result.Unconverted, func(l Unconverted) bool {
		before := reported[l]
		reported[l] = true
		return before
	})
	var all strings.Builder
	fmt.Fprintf(&all, "# From %s, by urnd config import. Settings that are not listed have the defaults of urnd.\n",
		Plain(name))
	text, err := c.document.text()
	if err != nil {
		return Result{}, fmt.Errorf("writing YAML: %w", err)
	}
	all.WriteString(text)
	write := func(title string, lines []Unconverted) {
		for i, l := range lines {
			if i == 0 {
				all.WriteString("\n# " + title + ":\n")
			}
			text := fmt.Sprintf("%s: %s: %s", l.At, l.Directive, l.Reason)
			if l.Alternative != "" {
				text += "; instead: " + l.Alternative
			}
			all.WriteString("#   " + Plain(text) + "\n")
		}
	}
	write("Not converted", c.result.Unconverted)
	write("Not required", c.result.Unneeded)
	c.result.YAML = all.String()
	return c.result, nil
}
