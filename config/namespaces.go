package config

import (
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/urnd/urnd/uri"
)

func checkNamespaces(f *Faults, namespaces []Namespace) {
	seen := make(map[string]bool)
	for i, ns := range namespaces {
		path := index("namespaces", i)
		nid := strings.ToLower(ns.NID)
		switch err := uri.CheckNID(ns.NID); {
		case ns.NID == "":
			f.Add(path+".nid", "is missing")
		case err != nil && strings.HasPrefix(nid, "urn:"):
			f.Add(path+".nid", "%q is not a NID: write %s", ns.NID, strings.Trim(ns.NID[len("urn:"):], ":"))
		case err != nil:
			f.Add(path+".nid", "%q: %v", ns.NID, err)
		case seen[nid]:
			f.Add(path+".nid", "%q is configured twice", ns.NID)
		}
		seen[nid] = true
		checkPattern(f, path+".pattern", ns.Pattern)
		if len(ns.THTTP) > 0 && len(ns.Order) > 0 && !slices.Contains(ns.Order, "thttp") {
			f.Add(path+".order", "does not name thttp, so the servers of %s.thttp would never be queried", path)
		}
		for j, server := range ns.THTTP {
			checkServer(f, index(path+".thttp", j), server)
		}
		for j, target := range ns.Targets {
			at := index(path+".targets", j)
			checkPattern(f, at+".pattern", target.Pattern)
			checkTarget(f, at, target, ns.Pattern)
		}
	}
}

// checkTarget checks the template of a target, and what is said of it.
func checkTarget(f *Faults, path string, target Target, pattern string) {
	switch {
	case !target.Gone:
		checkTemplate(f, path+".template", target.Template, slices.Concat(ofNames(), groupsOf(pattern), groupsOf(target.Pattern)))
	case target.Template != "":
		f.Add(path+".template", "is set together with gone: names that are gone have no location")
	}
	if _, _, err := mime.ParseMediaType(target.Type); target.Type != "" && (err != nil || !strings.Contains(target.Type, "/")) {
		f.Add(path+".type", "%q is not a media type such as application/pdf", target.Type)
	}
	if _, err := language.Parse(target.Language); target.Language != "" && err != nil {
		f.Add(path+".language", "%q is not a language tag such as en or pt-BR", target.Language)
	}
	if err := uri.CheckRelation(target.Rel); err != nil {
		f.Add(path+".rel", "%q: %v", target.Rel, err)
	}
	checkLine(f, path+".title", target.Title)
	checkLine(f, path+".context", target.Context)
}

// maxLine bounds a text of one line, in octets.
const maxLine = 4 << 10

// checkLine checks a text that answers show in one line.
func checkLine(f *Faults, path, text string) {
	if len(text) > maxLine || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\n") {
		f.Add(path, "must be one line of UTF-8 text with at most %d octets", maxLine)
	}
}

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
