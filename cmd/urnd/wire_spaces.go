package main

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/urnns"
)

// spaces returns what pages say of the namespaces, built-in and configured ones, in order.
func spaces(c config.Config) []pages.Namespace {
	set, err := urnns.NewSet(namespaces(c.Namespaces)...)
	if err != nil {
		return nil // namesOf has said so
	}
	builtin := make(map[string]urnns.Namespace)
	for _, ns := range urnns.Builtin() {
		builtin[ns.NID] = ns
	}
	orders := c.Orders(ruled())
	var all []pages.Namespace
	for _, nid := range set.NIDs() {
		ns, _ := set.Lookup(nid)
		shown := pages.Namespace{
			NID: nid, Title: ns.Title, Description: ns.Description, Source: ns.Source, Example: exampleOf(ns, c.Site.Examples), Pattern: ns.Pattern, Strip: ns.Strip, Fold: ns.Fold.String(), Check: ns.Check,
			Lenient: ns.Lenient, LenientDigits: ns.LenientDigits, HasRule: len(ns.Targets) > 0, Systems: systemsOf(c, orders, nid),
		}
		known, isBuiltin := builtin[nid]
		if !isBuiltin {
			shown.Source = ""
		}
		if isBuiltin && slices.Equal(ns.Targets, known.Targets) { // those of a configuration may be servers of an internal network
			shown.Hosts = hostsOf(ns.Targets)
		}
		all = append(all, shown)
	}
	return all
}

// exampleOf returns a name of a namespace: the first one that the site has as an example, else that of the namespace.
func exampleOf(ns urnns.Namespace, examples []string) string {
	prefix := "urn:" + ns.NID + ":"
	for _, example := range examples {
		if len(example) > len(prefix) && strings.EqualFold(example[:len(prefix)], prefix) {
			return example
		}
	}
	return ns.Example
}

// hostsOf returns the hosts that targets lead to, each once, without those that depend on the name.
func hostsOf(targets []urnns.Target) []string {
	var hosts []string
	for _, target := range targets {
		_, rest, _ := strings.Cut(target.Template, "://")
		host, _, _ := strings.Cut(rest, "/")
		if host != "" && !strings.Contains(host, "{") && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
