package squidconf

import (
	"net/netip"
	"slices"
	"strings"
)

// The conditions of a rule whose values are texts.
const (
	methods = iota
	schemes
	users
	groups // equal or not comparable: a user may be in several
	paths  // equal or not comparable
	times  // equal or not comparable
	textConditions
)

// cube is what one rule of urnd can say: all conditions hold, and the values of each are alternatives. What is nil always holds.
type cube struct {
	clients, destinations addresses
	ports                 ports
	hosts, hostsFrom      []string // alternatives, together
	texts                 [textConditions][]string
}

func (c cube) anyHost() bool { return c.hosts == nil && c.hostsFrom == nil }

// always reports whether the cube has no condition.
func (c cube) always() bool {
	return c.clients == nil && c.destinations == nil && c.ports == nil && c.anyHost() &&
		!slices.ContainsFunc(c.texts[:], func(values []string) bool { return values != nil })
}

// empty reports whether the cube can never hold.
func (c cube) empty() bool {
	none := func(isSet bool, n int) bool { return isSet && n == 0 }
	return none(c.clients != nil, len(c.clients)) || none(c.destinations != nil, len(c.destinations)) || none(c.ports != nil, len(c.ports)) ||
		none(!c.anyHost(), len(c.hosts)+len(c.hostsFrom)) ||
		slices.ContainsFunc(c.texts[:], func(values []string) bool { return none(values != nil, len(values)) })
}

// and returns the cube that holds where both do, and false where no cube is exactly that.
func (c cube) and(other cube) (both cube, ok bool) {
	both = cube{clients: c.clients.and(other.clients), destinations: c.destinations.and(other.destinations), ports: c.ports.and(other.ports)}
	if both.hosts, both.hostsFrom, ok = c.andHosts(other); !ok {
		return both, false
	}
	for i := range both.texts {
		switch a, b := c.texts[i], other.texts[i]; {
		case a == nil:
			both.texts[i] = b
		case b == nil, slices.Equal(a, b):
			both.texts[i] = a
		case i == groups || i == paths || i == times:
			return both, false
		default:
			both.texts[i] = slices.DeleteFunc(slices.Clone(a), func(value string) bool { return !slices.Contains(b, value) })
		}
	}
	return both, true
}

func (c cube) andHosts(other cube) (hosts, from []string, ok bool) {
	switch {
	case c.anyHost():
		return other.hosts, other.hostsFrom, true
	case other.anyHost(), slices.Equal(c.hosts, other.hosts) && slices.Equal(c.hostsFrom, other.hostsFrom):
		return c.hosts, c.hostsFrom, true
	case len(c.hostsFrom) > 0 || len(other.hostsFrom) > 0:
		return nil, nil, false
	}
	hosts = []string{}
	for _, a := range c.hosts {
		for _, b := range other.hosts {
			_, aErr := netip.ParsePrefix(a)
			_, bErr := netip.ParsePrefix(b)
			switch {
			case a == b || hasHost(b, a):
				hosts = append(hosts, a)
			case hasHost(a, b):
				hosts = append(hosts, b)
			case aErr == nil || bErr == nil:
				return nil, nil, false
			}
		}
	}
	return hosts, nil, true
}

// hasHost reports whether a host or a name with all below it (.example.org) has all that another one has.
func hasHost(wide, narrow string) bool {
	return strings.HasPrefix(wide, ".") && (narrow == wide[1:] || strings.HasSuffix(narrow, wide))
}

// product returns the cubes that hold where one of each list does, and false where that cannot be written, or are too many.
func product(lists ...[]cube) (all []cube, ok bool) {
	all = []cube{{}}
	for _, list := range lists {
		var next []cube
		for _, a := range all {
			for _, b := range list {
				both, ok := a.and(b)
				if !ok || len(next) >= maxRules {
					return nil, false
				}
				if !both.empty() {
					next = append(next, both)
				}
			}
		}
		all = next
	}
	return all, true
}
