package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns"
)

// namesOf returns the rules for names of a configuration.
func namesOf(c config.Config) (resolver.Names, error) {
	set, err := urnns.NewSet(namespaces(c.Namespaces)...)
	if err != nil {
		return resolver.Names{}, err
	}
	var rows []urnns.Identifier
	for _, row := range c.Resolve.Identifiers {
		rows = append(rows, urnns.Identifier(row))
	}
	identifiers, err := urnns.NewIdentifiers(append(rows, urnns.BuiltinIdentifiers()...)...)
	return resolver.Names{Set: set, Accept: c.URN.Specs(), Identifiers: identifiers, Own: c.Registry.Only}, err
}

// namespaces returns the built-in namespaces with those of the configuration, which
// override only the fields that they set.
func namespaces(configured []config.Namespace) []urnns.Namespace {
	all := urnns.Builtin()
	builtin := make(map[string]urnns.Namespace, len(all))
	for _, ns := range all {
		builtin[ns.NID] = ns
	}
	for _, c := range configured {
		ns, ok := builtin[strings.ToLower(c.NID)]
		if !ok {
			ns = urnns.Namespace{NID: strings.ToLower(c.NID), Source: "configuration"}
		}
		if c.Fold != "" {
			ns.Fold, _ = urnns.ParseFold(c.Fold) // Validate has checked it
		}
		if c.Strip != "" {
			ns.Strip = c.Strip
		}
		if c.Check != "" {
			ns.Lenient = c.Check == "warn"
		}
		if c.Pattern != "" {
			ns.Pattern = c.Pattern
		}
		if len(c.Targets) > 0 {
			ns.Targets = nil
		}
		for _, target := range c.Targets {
			ns.Targets = append(ns.Targets, urnns.Target(target))
		}
		all = append(all, ns)
	}
	return all
}

// orders returns the resolution systems of a namespace in their order, where it differs
// from resolve.order. What the administrator wrote for a namespace goes before the DNS, which
// need not know it; and so do the rules of built-in namespaces, of which the public DNS has
// no records.
func orders(c config.Config) map[string][]string {
	order := make(map[string][]string)
	for _, ns := range urnns.Builtin() {
		if len(ns.Targets) > 0 {
			order[ns.NID] = moveToFront("namespace", defaultOrder(c))
		}
	}
	for _, ns := range c.Namespaces {
		nid := strings.ToLower(ns.NID)
		own, ok := order[nid]
		if !ok {
			own = defaultOrder(c)
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

// defaultOrder returns resolve.order, without SLP where it is turned off: it would only
// add to the reasons of every negative answer.
func defaultOrder(c config.Config) []string {
	if slpEnabled(c.SLP) {
		return c.Resolve.Order
	}
	return slices.DeleteFunc(slices.Clone(c.Resolve.Order), func(name string) bool { return name == "slp" })
}

// unknown returns the error kind of names that no system resolves.
func unknown(c config.Config) error {
	switch c.Resolve.UnknownStatus {
	case http.StatusNotImplemented:
		return resolver.ErrService
	case http.StatusBadGateway:
		return resolver.ErrUnreachable
	default:
		return resolver.ErrNotFound
	}
}

// fallbackOf returns the resolver that is tried last, nil for none.
func fallbackOf(c config.Config) (resolver.Resolver, error) {
	if c.Resolve.Fallback == "" {
		return nil, nil //nolint:nilnil // there is no fallback, and no error
	}
	fallback, err := urnns.NewFallback(c.Resolve.Fallback)
	if err != nil {
		return nil, err
	}
	return resolver.NewFallback(fallback, c.Resolve.RuleTTL), nil
}

// schemes returns the schemes that locations from THTTP servers may have, beside http and https.
func schemes(c config.Config) map[string][]string {
	all := make(map[string][]string)
	for _, ns := range c.Namespaces {
		all[strings.ToLower(ns.NID)] = ns.Schemes
	}
	return all
}

// servers returns the THTTP servers of namespaces.
func servers(c config.Config) map[string][]string {
	all := make(map[string][]string)
	for _, ns := range c.Namespaces {
		all[strings.ToLower(ns.NID)] = ns.THTTP
	}
	return all
}
