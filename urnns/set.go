package urnns

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/urnd/urnd/uri"
)

// Set is an immutable, compiled collection of namespaces. It is safe for concurrent use.
type Set struct {
	rows map[string]*row // by NID in lower case
}

type row struct {
	ns      Namespace
	check   check
	folding uri.Folding
	first   uri.Folding // folds up to the first colon
	lower   uri.Folding // folds the whole NSS
	pattern matcher
	targets []target
}

// NewSet compiles namespaces. A row replaces an earlier one with the same NID, so that a site can override
// built-in namespaces. The error names every row that does not compile.
func NewSet(namespaces ...Namespace) (*Set, error) {
	s := &Set{rows: make(map[string]*row)}
	var failures []error
	for _, ns := range namespaces {
		r, err := compile(ns)
		if err != nil {
			failures = append(failures, fmt.Errorf("namespace %q: %w", ns.NID, err))
			continue
		}
		s.rows[r.ns.NID] = r
	}
	return s, errors.Join(failures...)
}

// Lookup returns the row of a NID, in any case.
func (s *Set) Lookup(nid string) (Namespace, bool) {
	r := s.find(nid)
	if r == nil {
		return Namespace{}, false
	}
	return r.ns, true
}

// find returns the row of a NID, ignoring case, or nil. It allocates nothing.
func (s *Set) find(nid string) *row {
	if r := s.rows[nid]; r != nil {
		return r
	}
	var lowered [32]byte // no NID is longer
	if len(nid) > len(lowered) {
		return nil
	}
	for i := range len(nid) {
		lowered[i] = uri.Lower(nid[i])
	}
	return s.rows[string(lowered[:len(nid)])]
}

// NIDs returns the NIDs of the set, sorted.
func (s *Set) NIDs() []string {
	return slices.Sorted(maps.Keys(s.rows))
}

// Canonical returns the canonical name of v: normalized by RFC 8141 section 3.1 and by the rules of its
// namespace, without components. It is suitable as a key. The error is a *uri.ParseError for a name that its
// namespace does not allow. It allocates nothing if the name is canonical already.
func (s *Set) Canonical(v uri.URN) (uri.URN, error) { return s.canonicalBy(v, uri.URN.Canonical) }

// CanonicalIn is Canonical without an allocation for most names that fit into room: see uri.URN.CanonicalIn.
func (s *Set) CanonicalIn(v uri.URN, room []byte, text func([]byte) string) (uri.URN, error) {
	return s.canonicalBy(v, func(v uri.URN, f uri.Folding) (uri.URN, error) { return v.CanonicalIn(f, room, text) })
}

// canonicalBy is Canonical with a function that applies a folding.
func (s *Set) canonicalBy(v uri.URN, fold func(uri.URN, uri.Folding) (uri.URN, error)) (uri.URN, error) {
	nid, nss := v.Parts()
	r := s.find(nid)
	if r == nil {
		return fold(v, uri.Folding{})
	}
	if r.check.verify != nil && !r.ns.Lenient {
		if offset, rule := r.check.verify(nss); rule.Name != "" && !r.accepts(rule) {
			return uri.URN{}, violation(v, offset, rule)
		}
	}
	name, err := fold(v, r.foldingOf(nss))
	if err == nil && r.check.shorten != nil {
		name, err = r.shortened(name)
	}
	if err == nil && r.pattern.re != nil && !r.pattern.matches(name.NSS()) {
		return uri.URN{}, violation(v, 0, rulePattern(r.ns))
	}
	return name, err
}

// shortened returns a canonical name without its optional parts.
func (r *row) shortened(name uri.URN) (uri.URN, error) {
	short := r.check.shorten(name.NSS())
	if len(short) == len(name.NSS()) {
		return name, nil
	}
	return uri.ParseURN("urn:" + name.NID() + ":" + short)
}

// FirstKey returns the first DDDS key of the canonical name v, without the root: its NID (RFC 3404 section
// 4.2), for some namespaces preceded by a part of the name.
func (s *Set) FirstKey(v uri.URN) string {
	r := s.find(v.NID())
	if r == nil || r.check.firstKey == nil {
		return v.NID()
	}
	return r.check.firstKey(v.NSS()) + "." + v.NID()
}

// Warning returns the *uri.ParseError that Canonical would return for v if its namespace were not lenient, or
// nil.
func (s *Set) Warning(v uri.URN) error {
	if r := s.find(v.NID()); r != nil && (r.ns.Lenient || r.ns.LenientDigits) {
		return r.verify(v)
	}
	return nil
}

// accepts reports whether the namespace accepts names that break a rule of its check.
func (r *row) accepts(rule uri.Rule) bool {
	return r.ns.Lenient || r.ns.LenientDigits && rule.Name == checkDigit
}

func (r *row) verify(v uri.URN) error {
	if r.check.verify == nil {
		return nil
	}
	if offset, rule := r.check.verify(v.NSS()); rule.Name != "" {
		return violation(v, offset, rule)
	}
	return nil
}

// violation returns the parse error for a rule broken at an offset of the NSS.
func violation(v uri.URN, offset int, rule uri.Rule) error {
	input := v.URI().String()
	return &uri.ParseError{Input: input, Offset: len("urn:") + len(v.NID()) + 1 + offset, Rule: rule}
}

func rulePattern(ns Namespace) uri.Rule {
	return uri.Rule{
		Code: "pattern", Name: "pattern", Section: ns.Source,
		Requirement: "the name does not match {{.Value}}",
	}.With(ns.Pattern)
}

// EquivalentNames returns other names of the resource of the canonical name v, as far as the rules of its namespace
// determine them: I2Ns of RFC 2483 section 4.8.
func (s *Set) EquivalentNames(v uri.URN) []uri.URN {
	r := s.find(v.NID())
	if r == nil || r.check.others == nil || r.verify(v) != nil {
		return nil
	}
	var others []uri.URN
	for _, nss := range r.check.others(v.NSS()) {
		if other, err := uri.ParseURN("urn:" + r.ns.NID + ":" + nss); err == nil {
			others = append(others, other)
		}
	}
	return others
}

// ErrGone is the error for a name that no longer resolves.
var ErrGone = errors.New("the name is gone")

// AppendTargets appends the locations of the canonical name v to leads, in the order of the row of its
// namespace; none if there is no row or no target for it. component is the value of the directive "c", or "".
// The error wraps ErrGone if the first target that matches the name is Gone, ignoring targets to which names do
// not resolve (uri.RelationResolves).
func (s *Set) AppendTargets(leads []ResolvedTarget, v uri.URN, component string) ([]ResolvedTarget, error) {
	r := s.find(v.NID())
	if r == nil {
		return leads, nil
	}
	var room [8]uri.TemplateValue
	values := appendVariables(room[:0], v)
	if component != "" {
		values = append(values, uri.TemplateValue{Name: "c", Text: component})
	}
	values, _ = r.pattern.capture(v.NSS(), values)
	located := false
	for i := range r.targets {
		if r.targets[i].gone {
			if !located && r.targets[i].match.matches(v.NSS()) {
				return nil, fmt.Errorf("namespace %q, target %d: %w", r.ns.NID, i, ErrGone)
			}
			continue
		}
		location, ok, err := r.targets[i].expand(v.NSS(), values)
		if err != nil && !r.targets[i].resolves {
			continue // an invalid additional link does not fail the resolution
		}
		if err != nil {
			return nil, fmt.Errorf("namespace %q, target %d: %w", r.ns.NID, i, err)
		}
		if ok {
			leads = append(leads, ResolvedTarget{location, i})
			located = located || r.targets[i].resolves
		}
	}
	return leads, nil
}
