package squidconf

import (
	"net/netip"
	"slices"
	"strings"
)

// The conditions of a rule.
const (
	ofClients = iota
	ofUsers
	ofGroups
	ofMethods
	ofSchemes
	ofHosts
	ofPorts
	ofPaths
	ofTimes
	ofDestinations
	conditions // number of conditions
)

// conditionNames returns the names of the conditions in proxy.rules. Files of values are in the setting with
// this name and "_from".
func conditionNames() [conditions]string {
	return [...]string{
		"clients", "users", "groups", "methods", "schemes", "hosts", "ports", "paths", "times",
		"destinations",
	}
}

// values are the values of a condition, one of which must match.
type values struct {
	set    ranges   // of clients, destinations, ports and times
	texts  []string // of the other conditions
	files  []string // files of further values; for clients and destinations, set includes them
	own    ranges   // the part of set that is not from files
	copied []string // files whose values are in set, to which the rule cannot refer
}

func textValues(texts ...string) *values { return &values{texts: texts} }

// cube is the conjunction of conditions that one rule can express. A nil condition matches everything.
type cube [conditions]*values

// one returns a cube with one condition.
func one(kind int, v *values) (c cube) {
	c[kind] = v
	return c
}

func (c cube) always() bool { return c == cube{} }

// only reports whether the cube has exactly this condition.
func (c cube) only(kind int) bool { return c[kind] != nil && c == one(kind, c[kind]) }

// empty reports whether the cube matches nothing.
func (c cube) empty() bool {
	return slices.ContainsFunc(c[:],
		func(v *values) bool { return v != nil && len(v.set)+len(v.texts)+len(v.files) == 0 })
}

func (c cube) equal(other cube) bool { return slices.EqualFunc(c[:], other[:], (*values).equal) }

func (v *values) equal(other *values) bool {
	if v == nil || other == nil {
		return v == other
	}
	return slices.Equal(v.set, other.set) && slices.Equal(v.texts, other.texts) && slices.Equal(v.files, other.files) &&
		slices.Equal(v.own, other.own)
}

// and returns the intersection of two cubes; ok is false if no cube expresses it exactly.
func (c cube) and(other cube) (both cube, ok bool) {
	for kind := range both {
		if both[kind], ok = c[kind].and(other[kind], kind); !ok {
			return both, false
		}
	}
	return both, true
}

func (v *values) and(other *values, kind int) (*values, bool) {
	switch {
	case v == nil:
		return other, true
	case other == nil || v.equal(other):
		return v, true
	}
	switch kind {
	case ofClients, ofDestinations, ofPorts, ofTimes:
		return &values{set: v.set.and(other.set), copied: slices.Concat(v.files, v.copied, other.files, other.copied)},
			true
	case ofMethods, ofSchemes, ofUsers:
		common := slices.DeleteFunc(slices.Clone(v.texts),
			func(text string) bool { return !slices.Contains(other.texts, text) })
		return textValues(common...), true
	case ofHosts:
		return v.andHosts(other)
	}
	return nil, false // the intersection of paths or groups is not expressible
}

func (v *values) andHosts(other *values) (*values, bool) {
	if len(v.files)+len(other.files) > 0 {
		return nil, false
	}
	common := new(values)
	for _, a := range v.texts {
		for _, b := range other.texts {
			_, aErr := netip.ParsePrefix(a)
			_, bErr := netip.ParsePrefix(b)
			switch {
			case a == b || hasHost(b, a):
				common.texts = append(common.texts, a)
			case hasHost(a, b):
				common.texts = append(common.texts, b)
			case aErr == nil || bErr == nil:
				return nil, false
			}
		}
	}
	return common, true
}

// hasHost reports whether a host, or a domain with all its subdomains (.example.org), includes another one.
func hasHost(wide, narrow string) bool {
	return strings.HasPrefix(wide, ".") && (narrow == wide[1:] || strings.HasSuffix(narrow, wide))
}

// whole returns the set of all values of a condition, nil if its values are not ranges.
func whole(kind int) ranges {
	return map[int]ranges{
		ofClients: everyAddress(), ofDestinations: everyAddress(), ofPorts: everyPort(),
		ofTimes: everyTime(),
	}[kind]
}

// oneSet returns a cube with a condition on a set, without condition if the set is complete.
func oneSet(kind int, v *values) cube {
	if slices.Equal(v.set, whole(kind)) {
		return cube{}
	}
	return one(kind, v)
}

// not returns the complement of a cube with only a condition on clients, destinations, ports or times; the
// result is false for other cubes.
func (c cube) not() (cube, bool) {
	for kind, v := range c {
		if every := whole(kind); every != nil && c.only(kind) {
			return one(kind, &values{set: v.set.not().and(every), copied: slices.Concat(v.files, v.copied)}), true
		}
	}
	return c, false
}

// product returns the intersections of all combinations of cubes, one from each list; ok is false if one of
// them cannot be expressed, or there are too many.
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
