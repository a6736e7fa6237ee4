package main

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/config"
)

// systemsOf returns the systems that are asked for names of a namespace, in their order; orders are those of the namespaces that
// have one of their own.
func systemsOf(c config.Config, orders map[string][]string, nid string) []string {
	order, ok := orders[nid]
	if !ok {
		order = c.Order()
	}
	order = slices.DeleteFunc(slices.Clone(order), func(name string) bool {
		return name == "thttp" && !slices.ContainsFunc(c.Namespaces, func(ns config.Namespace) bool {
			return strings.EqualFold(ns.NID, nid) && len(ns.THTTP) > 0
		})
	})
	if hasRegistry(c.Registry, "urn:"+nid+":") {
		order = append([]string{"registry"}, order...)
	}
	return order
}

// hasRegistry reports whether the registry is asked for some of the names with a prefix.
func hasRegistry(r config.Registry, prefix string) bool {
	beginnings := r.Beginnings()
	return r.Store != "" && (len(beginnings) == 0 || slices.ContainsFunc(beginnings, func(beginning string) bool {
		beginning = strings.ToLower(beginning)
		return strings.HasPrefix(prefix, beginning) || strings.HasPrefix(beginning, prefix)
	}))
}
