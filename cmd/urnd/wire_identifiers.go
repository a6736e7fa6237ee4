package main

import (
	"cmp"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/answer/gs1"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns/digitallink"
)

// identifierSites describes the resolvers of identifiers in web addresses. Those of another scheme than GS1's have no description file.
func identifierSites(c config.Registry, roots digitallink.Roots) (sites []gs1.Site) {
	for i := range roots {
		d := c.DigitalLink[i]
		if cmp.Or(d.Scheme, config.SchemeGS1) != config.SchemeGS1 {
			continue
		}
		sites = append(sites, gs1.Site{
			Host: roots[i].Host(), Root: roots[i].URL(), Keys: roots[i].Scheme.Codes(), Name: d.Name, Contact: d.Contact, Terms: d.Terms, Contexts: d.Contexts,
		})
	}
	return sites
}

// handlesOf returns which names of the registry are handles.
func handlesOf(c config.Config, names resolver.Names) (handles route.Handles) {
	for _, h := range c.Registry.Handles {
		beginning := h.Beginning()
		if canonical, err := names.CanonicalPrefix(beginning); err == nil {
			beginning = canonical
		}
		handles = append(handles, route.HandlePrefix{Prefix: h.Prefix, Names: beginning})
	}
	return handles
}
