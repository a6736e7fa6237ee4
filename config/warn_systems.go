package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// warnOfSystems warns of systems that are configured and never asked, or asked and not configured.
func warnOfSystems(f *Faults, c Config) {
	order := c.Resolve.Order
	hasServers := slices.ContainsFunc(c.Namespaces, func(ns Namespace) bool { return len(ns.THTTP) > 0 })
	if i := slices.Index(order, "thttp"); i >= 0 && !hasServers {
		f.Add(index("resolve.order", i), "thttp asks the servers of namespaces.thttp, and there are none")
	}
	if slices.Equal(order, []string{"ddds"}) && !c.DDDS.Enabled {
		f.Add("resolve.order", "names ddds alone, and ddds.enabled is false: only namespaces with targets are resolved")
	}
	if slices.Equal(order, []string{"slp"}) && !c.SLP.Enabled() {
		f.Add("resolve.order", "names slp alone, and slp.agents is empty: only namespaces with targets are resolved")
	}
	asksSLP := func(ns Namespace) bool { return slices.Contains(ns.Order, "slp") }
	if len(c.SLP.Agents) > 0 && !slices.Contains(order, "slp") && !slices.ContainsFunc(c.Namespaces, asksSLP) {
		f.Add("slp.agents", "are not asked: resolve.order does not name slp")
	}
	base, _, _ := strings.Cut(c.Resolve.Fallback, "{")
	if host, port := hostAndPort(base); c.isNamed(host) || c.isOwn(host, port) {
		f.Add("resolve.elsewhere", "leads back to this urnd, which does not know the names that are redirected there: write "+
			"another resolver, or leave it empty")
	}
	for i, g := range c.Gateways.Templates {
		if !hasVariables(g.Template) {
			f.Add(index("gateways.templates", i)+".template", "has no variable, so that all URLs lead to the same page: write "+
				"{uri} where the URL belongs")
		}
	}
	warnOfDiscovery(f, c)
	warnOfNamespaces(f, c.Namespaces)
}

// warnOfDiscovery warns of what finds no server.
func warnOfDiscovery(f *Faults, c Config) {
	if c.DDDS.Enabled && len(c.DDDS.Roots) == 0 {
		f.Add("ddds.roots", "names no domain, so that no namespace is looked up: delete the line, or write enabled: false")
	}
	for i, o := range c.DDDS.RootOptions {
		if len(o.Servers) == 0 && !o.RequireDNSSEC {
			f.Add(index("ddds.root_options", i), "changes nothing: write servers, or require_dnssec: true")
		}
	}
}

func warnOfNamespaces(f *Faults, namespaces []Namespace) {
	for i, ns := range namespaces {
		path := index("namespaces", i)
		switch {
		case reflect.DeepEqual(ns, Namespace{NID: ns.NID}):
			f.Add(path, "changes nothing: write targets, thttp, or what else is different")
		case len(ns.Targets) > 0 && len(ns.Order) > 0 && !slices.Contains(ns.Order, "namespace"):
			f.Add(path+".order", "does not name namespace, so that the targets are not used")
		case len(ns.Schemes) > 0 && len(ns.THTTP) == 0:
			f.Add(path+".schemes", "is not used: it is for locations that servers of thttp return, and there are none")
		}
		for j, target := range ns.Targets {
			warnOfTarget(f, index(path+".targets", j)+".template", target)
		}
	}
}

// anyServer matches a template whose server a name says: a variable that is not encoded is in it, or any one ends it.
var anyServer = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#{}]|\{\w[^{}]*\})*(?:\{[+]|\{\w[^{}]*\}(?:$|[?#]|\{[?#;&]))`)

// warnOfTarget warns of templates that lead elsewhere than they seem to.
func warnOfTarget(f *Faults, path string, target Target) {
	switch {
	case target.Gone || target.Template == "":
	case target.Pattern == "" && !hasVariables(target.Template):
		f.Add(path, "has no variable, so that all names lead to the same page: write {+nss} where the name belongs")
	case anyServer.MatchString(target.Template):
		f.Add(path, "a name can lead to any server, since the variable belongs to the host: write a slash before it, as in "+
			"https://example.org/{+nss}")
	}
}
