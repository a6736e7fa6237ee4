package squidconf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// condition is what an acl means: one of the cubes holds. Where missing is not empty, it may hold for other requests, too.
type condition struct {
	cubes   []cube
	missing []Loss
	login   bool // it is about users, or that there is one
}

// lose says what of an acl cannot be said in a rule.
func (c *condition) lose(a *ACL, at Position, why, instead string) {
	c.missing = append(c.missing, Loss{at, "acl " + a.Name, why, instead})
}

// maxNesting and maxNested bound acls of acls (any-of, all-of): their depth, and how many are looked at for one configuration.
const (
	maxNesting = 16
	maxNested  = 20_000
)

// conditionOf returns what an acl means.
func (c *conversion) conditionOf(a *ACL, depth int) (means condition) {
	if a.Unread != nil {
		means.lose(a, a.Position, a.Unread.Error(), "run the command where the file is")
	}
	if a.Conditional {
		means.lose(a, a.Position, "it depends on the process of Squid (if)", "urnd is one process: remove the condition")
	}
	switch a.Type {
	case "src", "dst":
		a.addresses(&means)
	case "dstdomain":
		a.domains(&means)
	case "port":
		a.ports(&means)
	case "proto", "method":
		a.words(&means)
	case "time":
		a.times(&means)
	case "dstdom_regex", "url_regex", "urlpath_regex":
		a.expressions(&means)
	case "proxy_auth":
		c.users(a, &means)
	case "external":
		c.external(a, &means)
	case "any-of", "all-of":
		c.group(a, &means, depth)
	default:
		why, instead := unknownType(a.Type)
		means.lose(a, a.Position, why, instead)
	}
	if a.Conditional {
		means.cubes = nil
	}
	return means
}

func unknownType(kind string) (why, instead string) {
	switch kind {
	case "ext_user", "ext_user_regex", "note", "annotate_client", "annotate_transaction", "tag":
		return "acls of programs but those for groups: missing", "access.helpers"
	case "proxy_auth_regex":
		return "users by regular expressions", "groups (access.proxy_groups)"
	case "maxconn", "max_user_ip":
		return "rules by the number of connections", "limits.client_connections, for all clients"
	case "localport", "myport", "myportname", "localip", "myip":
		return "rules by the listener", "several urnds, each with a configuration"
	case "browser", "referer_regex", "req_header", "req_mime_type":
		return "rules by fields of requests", "clients, users or paths"
	case "rep_header", "rep_mime_type", "http_status", "hier_code":
		return "rules by responses", "cache of proxy.sites, for caching"
	case "arp", "eui64":
		return "rules by hardware addresses", "clients"
	case "srcdomain", "srcdom_regex":
		return "clients by the names of their addresses", "clients"
	case "ident", "ident_regex":
		return "ident (RFC 1413)", "users"
	}
	return "acls of type " + kind, "clients, users, hosts, paths or times"
}

func (a *ACL) addresses(means *condition) {
	var ranges []addressRange
	for _, item := range a.Items {
		found, err := parseAddresses(item.Value)
		if err != nil {
			means.lose(a, item.At, err.Error(), "the addresses of the host")
			continue
		}
		ranges = append(ranges, found...)
	}
	var holds cube
	set := newAddresses(ranges)
	switch {
	case slices.Equal(set, everyAddress()):
	case a.Type == "src":
		holds.clients = set
	default:
		holds.destinations = set
	}
	means.cubes = append(means.cubes, holds)
}

// plainHost is a name as lists of hosts have it.
var plainHost = regexp.MustCompile(`^\.?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

func isName(host string) bool {
	return plainHost.MatchString(host) && strings.Trim(host[strings.LastIndexByte(host, '.')+1:], "0123456789") != ""
}

func (a *ACL) domains(means *condition) {
	lists := make(map[string]bool) // whether all lines of a file are names that mean the same to urnd
	for _, item := range a.Items {
		if plain, known := lists[item.List]; item.List != "" && (!known || plain) {
			lists[item.List] = isName(strings.ToLower(item.Value)) && !isSuffix(strings.ToLower(item.Value))
		}
	}
	holds := cube{hosts: []string{}}
	for _, item := range a.Items {
		host := strings.TrimSuffix(strings.ToLower(item.Value), ".")
		switch _, err := parseAddresses(host); {
		case lists[item.List]:
			if !slices.Contains(holds.hostsFrom, item.List) {
				holds.hostsFrom = append(holds.hostsFrom, item.List)
			}
		case isName(host), err == nil && !strings.ContainsAny(host, "-/l"):
			holds.hosts = append(holds.hosts, host)
		default:
			means.lose(a, item.At, fmt.Sprintf("%q is not a host", item.Value), "hosts, such as .example.org")
		}
	}
	means.cubes = append(means.cubes, holds)
}

// isSuffix reports whether an entry is about all names below a public suffix, which lists of urnd leave out.
func isSuffix(entry string) bool {
	name, ok := strings.CutPrefix(entry, ".")
	if !ok {
		return false
	}
	suffix, _ := publicsuffix.PublicSuffix(name)
	return suffix == name
}

func (a *ACL) ports(means *condition) {
	var ranges []portRange
	for _, item := range a.Items {
		r, err := parsePorts(item.Value)
		if err != nil {
			means.lose(a, item.At, err.Error(), "ports")
			continue
		}
		ranges = append(ranges, r)
	}
	means.cubes = append(means.cubes, cube{ports: newPorts(ranges)})
}

var plainMethod = regexp.MustCompile(`^[A-Z][A-Z-]*$`)

func (a *ACL) words(means *condition) {
	kind := schemes
	if a.Type == "method" {
		kind = methods
	}
	var holds cube
	holds.texts[kind] = []string{}
	for _, item := range a.Items {
		value := strings.ToLower(item.Value)
		if kind == methods {
			value = item.Value
		}
		switch {
		case kind == schemes && (value == "cache_object" || value == "urn"): // urnd has no such requests of proxy clients
		case kind == schemes && !slices.Contains([]string{"http", "https", "ftp", "gopher", "wais"}, value),
			kind == methods && !plainMethod.MatchString(value):
			means.lose(a, item.At, fmt.Sprintf("%q", item.Value), "schemes, methods")
		case !slices.Contains(holds.texts[kind], value):
			holds.texts[kind] = append(holds.texts[kind], value)
		}
	}
	means.cubes = append(means.cubes, holds)
}

func (c *conversion) users(a *ACL, means *condition) {
	means.login = true
	if !c.canLogIn() {
		means.lose(a, a.Position, "nobody can log in", "access.proxy_users or access.helpers")
		return
	}
	var holds cube
	holds.texts[users] = []string{}
	for _, item := range a.Items {
		switch {
		case item.Value == "REQUIRED" && item.List == "":
			means.cubes = append(means.cubes, cube{}) // who does not log in, comes to no rule
			return
		case item.AnyCase && c.passwords != nil && !c.passwords.hasCase && c.negotiate == nil: // whose names are in lower case
			holds.texts[users] = append(holds.texts[users], strings.ToLower(item.Value))
		case item.AnyCase && strings.ToLower(item.Value) != strings.ToUpper(item.Value):
			means.lose(a, item.At, "users without regard to capital letters", "users, as they log in")
		default:
			holds.texts[users] = append(holds.texts[users], item.Value)
		}
	}
	slices.Sort(holds.texts[users])
	holds.texts[users] = slices.Compact(holds.texts[users])
	means.cubes = append(means.cubes, holds)
}

// group adds what acls of acls mean: of any-of each one, of all-of all of a line together.
func (c *conversion) group(a *ACL, means *condition, depth int) {
	for _, line := range a.Lines {
		if len(line) == 0 {
			continue // nothing is in it, and not everything
		}
		var conjunction [][]cube
		for _, item := range line {
			if c.nested++; depth >= maxNesting || c.nested > maxNested {
				means.lose(a, item.At, "acls name each other, or too many", "rules")
				return
			}
			one := c.literal(item.Value, item.At, depth+1)
			means.login = means.login || one.login
			if len(one.missing) > 0 || len(one.except) > 0 {
				means.lose(a, item.At, fmt.Sprintf("%s in %s cannot be said in a rule", item.Value, a.Type), "rules")
			}
			if len(one.except) > 0 || len(one.missing) > 0 && strings.HasPrefix(item.Value, "!") {
				one.cubes = nil // they would be more than the acl
			}
			if a.Type == "any-of" {
				means.cubes = append(means.cubes, one.cubes...)
				continue
			}
			conjunction = append(conjunction, one.cubes)
		}
		if a.Type != "all-of" {
			continue
		}
		all, ok := product(conjunction...)
		if !ok {
			means.lose(a, a.Position, "what holds in all of its acls cannot be said in one rule", "rules")
		}
		means.cubes = append(means.cubes, all...)
	}
}
