package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns"
	"github.com/urnd/urnd/urnns/digitallink"
)

// namesOf returns the rules for names of a configuration.
func namesOf(c config.Config) (resolver.Names, error) {
	set, err := urnns.NewSet(namespaces(c.Namespaces)...)
	if err != nil {
		return resolver.Names{}, err
	}
	var rows []urnns.Identifier
	for _, row := range c.Resolve.Identifiers {
		rows = append(rows, urnns.Identifier{Pattern: row.Pattern, Template: row.Template})
	}
	identifiers, err := urnns.NewIdentifiers(append(rows, urnns.BuiltinIdentifiers()...)...)
	if err != nil {
		return resolver.Names{}, err
	}
	roots, err := rootsOf(c.Registry)
	names := resolver.Names{Set: set, Accept: c.URN.Specs(), Identifiers: identifiers, Roots: roots}
	if len(c.Registry.Owned) == 0 && c.Registry.Store != "" {
		names.RegisteredPrefixes = new(resolver.PrefixSet)
	}
	return names.WithOwnedPrefixes(c.Registry.NamePrefixes()), err
}

// rootsOf returns the roots of identifiers in web addresses.
func rootsOf(c config.Registry) (roots digitallink.Roots, err error) {
	for _, d := range c.DigitalLink {
		root, err := digitallink.NewRoot(d.Root, digitallink.SchemeOf(cmp.Or(d.Scheme, config.SchemeGS1)))
		if err != nil {
			return nil, fmt.Errorf("registry.digital_link: %w", err)
		}
		roots = append(roots, root)
	}
	return roots, nil
}

// namespaces returns the built-in namespaces, merged with those of the configuration, which override only the
// fields that they set.
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
			ns.Lenient, ns.LenientDigits = c.Check == "warn", c.Check == "digits"
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
		return nil, nil //nolint:nilnil // no fallback is configured, which is no error
	}
	fallback, err := urnns.NewFallback(c.Resolve.Fallback)
	if err != nil {
		return nil, err
	}
	return resolver.NewFallback(fallback, c.Resolve.RuleTTL), nil
}

// ruled returns the NIDs of namespaces whose names are resolved by built-in rules.
func ruled() (nids []string) {
	for _, ns := range urnns.Builtin() {
		if len(ns.Targets) > 0 {
			nids = append(nids, ns.NID)
		}
	}
	return nids
}

// systemsOf returns the resolution systems of a namespace in order; orders has those of the namespaces with
// an order of their own.
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

// hasRegistry reports whether the registry resolves some of the names with a prefix.
func hasRegistry(r config.Registry, prefix string) bool {
	beginnings := r.NamePrefixes()
	return r.Store != "" && (len(beginnings) == 0 || slices.ContainsFunc(beginnings, func(beginning string) bool {
		beginning = strings.ToLower(beginning)
		return strings.HasPrefix(prefix, beginning) || strings.HasPrefix(beginning, prefix)
	}))
}
