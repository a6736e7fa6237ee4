package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Rule allows or denies the requests for which all of its conditions hold. The values of one condition are
// alternatives; a condition without values holds for every request.
type Rule struct {
	// ID names the rule in logs and in Proxy-Status (RFC 9209): at most 64 letters, digits, "-", "_" and ".".
	// It is unique in its policy.
	ID      string
	Deny    bool // false allows
	Clients []netip.Prefix
	Users   []string // user names of logins
	// Methods are case-sensitive (RFC 9110 section 9.1). A denying rule also matches other cases of a method,
	// which many servers treat as the same; an allowing rule does not.
	Methods []string
	Schemes []string // of URIs; "connect" stands for CONNECT, which has none
	// Hosts are names ("www.example.org"), names with all names below them (".example.org"), patterns
	// ("*.cdn-?.example.org"), addresses and address ranges. In a pattern "*" stands for any characters of
	// one label, or none, and "?" for one character, as in file names; the number of labels must be equal.
	// Addresses are those in the URI: a name that resolves to one is a different host.
	Hosts []string
	Ports []PortRange
	// Paths are patterns of the whole path of a URI in normal form, in which "*" stands for any characters,
	// such as "/private/*" and "*.exe". A denying rule holds if one pattern matches the path as some server
	// may read it, an allowing rule only if each reading matches (uri.PathReadings). No pattern matches a
	// CONNECT, whose path is unknown.
	Paths []string
	// Groups are groups of users: see Request.Groups.
	Groups []string
	Times  []Window
	// Hellos are kinds of first bytes in a tunnel. Only a denying rule may have them: the tunnel is already
	// open by then.
	Hellos []Hello
	// Destinations are ranges of destination addresses.
	Destinations []netip.Prefix
	// The lists have further values of Clients, Destinations and Hosts. URLLists are a condition on host,
	// path and query.
	ClientLists, DestinationLists []AddressList
	HostLists                     []HostList
	URLLists                      []URLList
	Reason                        string // the explanation for readers whose request is denied, "" for none
}

// PortRange is a range of ports, both ends included.
type PortRange struct {
	First, Last uint16
}

// String returns the range as "443" or "8000-8999".
func (p PortRange) String() string {
	if p.First == p.Last {
		return strconv.Itoa(int(p.First))
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

// rule is a Rule, prepared for comparisons.
type rule struct {
	Rule
	schemes               []string
	hosts                 *hosts // nil if it has none, or is indexed by them
	clients, destinations ranges
}

// maxID limits an identifier: it is in each line of the log.
const maxID = 64

const idBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// compile checks a rule, and returns it with its parsed hosts.
func compile(r Rule) (rule, []host, error) {
	if r.ID == "" || len(r.ID) > maxID || strings.Trim(r.ID, idBytes) != "" {
		return rule{}, nil, fmt.Errorf("an id must have 1 to %d letters, digits, %q, %q and %q", maxID, "-", "_", ".")
	}
	for _, prefix := range slices.Concat(r.Clients, r.Destinations) {
		if err := checkRange(prefix); err != nil {
			return rule{}, nil, err
		}
	}
	for _, words := range [...][]string{r.Users, r.Methods, r.Schemes, r.Paths, r.Groups} {
		if slices.Contains(words, "") {
			return rule{}, nil, errors.New("a user, method, scheme, path or group is empty")
		}
	}
	for _, port := range r.Ports {
		if port.First > port.Last {
			return rule{}, nil, fmt.Errorf("%d-%d is not a range of ports: the first is greater than the last",
				port.First, port.Last)
		}
	}
	if len(r.Hellos) > 0 && !r.Deny {
		return rule{}, nil,
			errors.New("a condition on the content of a tunnel requires a rule that denies, because the tunnel is " +
				"already open")
	}
	compiled := rule{Rule: r, clients: newRanges(r.Clients), destinations: newRanges(r.Destinations)}
	for _, word := range r.Schemes {
		compiled.schemes = append(compiled.schemes, schemeOf(word))
	}
	all, err := parseHosts(r.Hosts)
	return compiled, all, err
}

// checkRange rejects IPv4-mapped ranges, which would match nothing: addresses are unmapped before they are compared.
func checkRange(prefix netip.Prefix) error {
	switch {
	case !prefix.IsValid():
		return errors.New("invalid address range")
	case prefix.Addr().Is4In6():
		return fmt.Errorf("%s is an IPv4 network in IPv6 form: write it as IPv4", prefix)
	}
	return nil
}

// holds reports whether all conditions hold, except the destinations and the condition by which the rule is
// indexed. literal is the address of the request's host if it is one.
func (r *rule) holds(request *Request, literal netip.Addr) bool {
	return r.holdsForTarget(request, literal) && r.holdsForClient(request)
}

// holdsForTarget reports whether the conditions on the target and the method hold.
func (r *rule) holdsForTarget(request *Request, literal netip.Addr) bool {
	return (len(r.Ports) == 0 || hasPort(r.Ports, request.Port)) &&
		(len(r.schemes) == 0 || slices.Contains(r.schemes, request.Scheme)) &&
		(len(r.Methods) == 0 || slices.ContainsFunc(r.Methods,
			func(method string) bool { return r.isMethod(method, request.Method) })) &&
		(len(r.HostLists) == 0 && r.hosts == nil || r.hasHost(request.Host, literal)) &&
		(len(r.Paths) == 0 || r.hasPath(request)) &&
		(len(r.URLLists) == 0 || r.hasURL(request, literal))
}

// holdsForClient reports whether the conditions on the client, the time and the first bytes of a tunnel hold.
func (r *rule) holdsForClient(request *Request) bool {
	return (len(r.Users) == 0 || slices.Contains(r.Users, request.User)) &&
		(len(r.Clients)+len(r.ClientLists) == 0 || r.hasClient(plain(request.Client))) &&
		(len(r.Groups) == 0 || slices.ContainsFunc(request.Groups,
			func(group string) bool { return slices.Contains(r.Groups, group) })) &&
		(len(r.Hellos) == 0 || slices.ContainsFunc(r.Hellos, request.Hello.is)) &&
		(len(r.Times) == 0 || slices.ContainsFunc(r.Times, func(w Window) bool { return w.Has(request.Time) }))
}

// isMethod reports whether a method matches that of the rule.
func (r *rule) isMethod(method, requested string) bool {
	return method == requested || r.Deny && strings.EqualFold(method, requested)
}

// matchesDestination reports whether the rule applies to connections to an address. An unknown address matches all
// denying rules: otherwise hiding it would circumvent the rule. Denying rules for 127.0.0.1 (::1) also match
// 0.0.0.0 (::), by which a system connects to itself.
func (r *rule) matchesDestination(destination netip.Addr) bool {
	switch {
	case !r.hasDestinations():
		return true
	case !destination.IsValid():
		return r.Deny
	}
	return r.hasDestination(destination) ||
		r.Deny && destination.IsUnspecified() && r.hasDestination(ownAddress(destination))
}

func (r *rule) hasDestination(address netip.Addr) bool {
	return r.destinations.has(address) || hasAddress(r.DestinationLists, address)
}

// ownAddress returns the loopback address of the same family.
func ownAddress(other netip.Addr) netip.Addr {
	if other.Is4() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.IPv6Loopback()
}

// hasDestinations reports whether the rule has a condition on the destination address.
func (r *rule) hasDestinations() bool { return len(r.Destinations)+len(r.DestinationLists) > 0 }

func hasPort(ranges []PortRange, port uint16) bool {
	for _, r := range ranges {
		if r.First <= port && port <= r.Last {
			return true
		}
	}
	return false
}

// plain returns an address unmapped and without a zone: no range contains other forms.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }
