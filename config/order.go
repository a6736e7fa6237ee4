package config

import (
	"slices"
	"strings"
)

// Order returns resolve.order, without SLP where it is turned off: it would only
// add to the reasons of every negative answer.
func (c Config) Order() []string {
	if c.SLP.Enabled() {
		return c.Resolve.Order
	}
	return slices.DeleteFunc(slices.Clone(c.Resolve.Order), func(name string) bool { return name == "slp" })
}

// Orders returns the resolution systems of a namespace in their order, where it differs
// from Order. What the administrator wrote for a namespace goes before the DNS, which
// need not know it; and so do the rules of built-in namespaces, which are ruled, and of which the public DNS has
// no records.
func (c Config) Orders(ruled []string) map[string][]string {
	order := make(map[string][]string)
	for _, nid := range ruled {
		order[nid] = moveToFront("namespace", c.Order())
	}
	for _, ns := range c.Namespaces {
		nid := strings.ToLower(ns.NID)
		own, ok := order[nid]
		if !ok {
			own = c.Order()
		}
		if len(ns.Targets) > 0 {
			own = toFront("namespace", own)
		}
		if len(ns.THTTP) > 0 {
			own = toFront("thttp", own)
		}
		if len(ns.Order) > 0 {
			own = ns.Order
		}
		order[nid] = own
	}
	return order
}

// moveToFront returns an order with one of its systems before the others, if it is there.
func moveToFront(name string, order []string) []string {
	if !slices.Contains(order, name) {
		return order
	}
	return toFront(name, order)
}

// toFront returns an order that begins with a system.
func toFront(name string, order []string) []string {
	return append([]string{name}, slices.DeleteFunc(slices.Clone(order), func(other string) bool { return other == name })...)
}

// LocationSchemes returns the schemes that locations from THTTP servers may have, beside http and https, by namespace.
func (c Config) LocationSchemes() map[string][]string {
	return c.byNID(func(ns Namespace) []string { return ns.Schemes })
}

// THTTPServers returns the THTTP servers of namespaces.
func (c Config) THTTPServers() map[string][]string {
	return c.byNID(func(ns Namespace) []string { return ns.THTTP })
}

func (c Config) byNID(of func(Namespace) []string) map[string][]string {
	all := make(map[string][]string)
	for _, ns := range c.Namespaces {
		all[strings.ToLower(ns.NID)] = of(ns)
	}
	return all
}
