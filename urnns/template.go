package urnns

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/urnd/urnd/uri"
)

// matcher is a compiled pattern; the zero matcher matches everything.
type matcher struct {
	re    *regexp.Regexp
	names []string // names of its groups; nil if no group has a name
}

func newMatcher(pattern string) (matcher, error) {
	if pattern == "" {
		return matcher{}, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return matcher{}, fmt.Errorf("pattern: %w", err)
	}
	m := matcher{re: re}
	if names := re.SubexpNames(); slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
		m.names = names
	}
	return m, nil
}

func (m matcher) matches(nss string) bool { return m.re == nil || m.re.MatchString(nss) }

// capture reports whether nss matches, and appends the named groups to values.
func (m matcher) capture(nss string, values []uri.TemplateValue) ([]uri.TemplateValue, bool) {
	if m.names == nil {
		return values, m.matches(nss)
	}
	groups := m.re.FindStringSubmatchIndex(nss)
	if groups == nil {
		return values, false
	}
	for i, name := range m.names {
		if name == "" {
			continue
		}
		value := uri.TemplateValue{Name: name}
		if from, to := groups[2*i], groups[2*i+1]; from >= 0 {
			value.Text = nss[from:to]
		}
		values = append(values, value)
	}
	return values, true
}

// target is a compiled Target.
type target struct {
	match    matcher
	template uri.Template
	text     string // source of the template
	gone     bool
	resolves bool // names resolve to it: see uri.RelationResolves
}

func compile(ns Namespace) (*row, error) {
	if err := uri.CheckNID(ns.NID); err != nil {
		return nil, fmt.Errorf("nid: %w", err)
	}
	rules, ok := lookupCheck(ns.Check)
	if !ok {
		return nil, fmt.Errorf("unknown check %q", ns.Check)
	}
	r := &row{
		ns: ns, check: rules, folding: newFolding(ns.Fold, ns.Strip), first: newFolding(FoldFirst, ns.Strip),
		lower: newFolding(FoldLower, ns.Strip),
	}
	var err error
	if r.pattern, err = newMatcher(ns.Pattern); err != nil {
		return nil, err
	}
	for i, t := range ns.Targets {
		var c target
		if c.match, err = newMatcher(t.Pattern); err != nil {
			return nil, fmt.Errorf("target %d: %w", i, err)
		}
		c.text, c.gone, c.resolves = t.Template, t.Gone, uri.RelationResolves(t.Rel)
		if c.template, err = uri.ParseTemplate(t.Template); err != nil {
			return nil, fmt.Errorf("target %d: template: %w", i, err)
		}
		r.targets = append(r.targets, c)
	}
	return r, nil
}

// appendVariables appends the variables that every template has for a canonical name.
func appendVariables(values []uri.TemplateValue, v uri.URN) []uri.TemplateValue {
	return append(values, uri.TemplateValue{Name: "urn", Text: v.Name().URI().String()},
		uri.TemplateValue{Name: "nid", Text: v.NID()},
		uri.TemplateValue{Name: "nss", Text: v.NSS()})
}

// expand returns the location of a canonical NSS, and false if the target does not match it. Groups of the
// target's pattern override values with the same names.
func (t *target) expand(nss string, values []uri.TemplateValue) (string, bool, error) {
	all, ok := t.match.capture(nss, values)
	if !ok {
		return "", false, nil
	}
	location := t.template.Expand(all)
	if _, err := uri.Parse(location); err != nil {
		// A server error, not one of the client.
		return "", false, fmt.Errorf("the template %q gives no URI for this name: %s", t.text, err.Error())
	}
	return location, true, nil
}

// Fallback is the target of names whose namespace has no rules. It is safe for concurrent use.
type Fallback struct {
	row *row
}

// NewFallback returns the Fallback with a URI template (RFC 6570) of the variables urn, nid and nss.
func NewFallback(template string) (*Fallback, error) {
	r, err := compile(Namespace{NID: "any", Targets: []Target{{Template: template}}})
	if err != nil {
		return nil, fmt.Errorf("fallback: %w", err)
	}
	return &Fallback{row: r}, nil
}

// Location returns the location of the canonical name v.
func (f *Fallback) Location(v uri.URN) (string, error) {
	var room [4]uri.TemplateValue
	location, _, err := f.row.targets[0].expand(v.NSS(), appendVariables(room[:0], v))
	return location, err
}
