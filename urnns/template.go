package urnns

import (
	"fmt"
	"maps"
	"regexp"

	"github.com/urnd/urnd/uri"
)

// matcher is a compiled pattern; the zero matcher matches everything.
type matcher struct {
	re *regexp.Regexp
}

func newMatcher(pattern string) (matcher, error) {
	if pattern == "" {
		return matcher{}, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return matcher{}, fmt.Errorf("pattern: %w", err)
	}
	return matcher{re: re}, nil
}

func (m matcher) matches(nss string) bool { return m.re == nil || m.re.MatchString(nss) }

// capture reports whether nss matches, and adds the named groups to vars.
func (m matcher) capture(nss string, vars uri.Variables) bool {
	if m.re == nil {
		return true
	}
	groups := m.re.FindStringSubmatch(nss)
	if groups == nil {
		return false
	}
	for i, name := range m.re.SubexpNames() {
		if name != "" {
			vars[name] = groups[i]
		}
	}
	return true
}

// target is a compiled Target.
type target struct {
	match    matcher
	template string
	gone     bool
}

func compile(ns Namespace) (*row, error) {
	if err := uri.CheckNID(ns.NID); err != nil {
		return nil, fmt.Errorf("nid: %w", err)
	}
	rules, ok := lookupCheck(ns.Check)
	if !ok {
		return nil, fmt.Errorf("unknown check %q", ns.Check)
	}
	r := &row{ns: ns, check: rules, folding: newFolding(ns.Fold, ns.Strip), first: newFolding(FoldFirst, ns.Strip), lower: newFolding(FoldLower, ns.Strip)}
	var err error
	if r.pattern, err = newMatcher(ns.Pattern); err != nil {
		return nil, err
	}
	for i, t := range ns.Targets {
		var c target
		if c.match, err = newMatcher(t.Pattern); err != nil {
			return nil, fmt.Errorf("target %d: %w", i, err)
		}
		c.template, c.gone = t.Template, t.Gone
		if _, err = uri.ExpandTemplate(c.template, nil); err != nil {
			return nil, fmt.Errorf("target %d: template: %w", i, err)
		}
		r.targets = append(r.targets, c)
	}
	return r, nil
}

// variables returns the variables of a canonical name that every template has.
func variables(v uri.URN) uri.Variables {
	return uri.Variables{
		"urn": v.Name().URI().String(),
		"nid": v.NID(),
		"nss": v.NSS(),
	}
}

// expand returns the location of a canonical NSS, and false if the target does not
// match it. Groups of the target's pattern are added to a copy of vars.
func (t *target) expand(nss string, vars uri.Variables) (string, bool, error) {
	all := maps.Clone(vars)
	if !t.match.capture(nss, all) {
		return "", false, nil
	}
	location, err := uri.ExpandTemplate(t.template, all)
	if err != nil {
		return "", false, fmt.Errorf("expanding template %q: %w", t.template, err)
	}
	if _, err := uri.Parse(location); err != nil {
		return "", false, fmt.Errorf("the template %q gives no URI for this name: %s", t.template, err.Error()) // not the fault of the client
	}
	return location, true, nil
}

// Fallback is the target of names whose namespace has no rules. It is safe for
// concurrent use.
type Fallback struct {
	row *row
}

// NewFallback returns the Fallback of a URI template (RFC 6570) with the variables
// urn, nid and nss.
func NewFallback(template string) (*Fallback, error) {
	r, err := compile(Namespace{NID: "any", Targets: []Target{{Template: template}}})
	if err != nil {
		return nil, fmt.Errorf("fallback: %w", err)
	}
	return &Fallback{row: r}, nil
}

// Lead returns the location of the canonical name v.
func (f *Fallback) Lead(v uri.URN) (string, error) {
	location, _, err := f.row.targets[0].expand(v.NSS(), variables(v))
	return location, err
}
