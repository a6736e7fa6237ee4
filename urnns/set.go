package urnns

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urnd/urnd/uri"
)

// Set is a fixed collection of namespaces, compiled. It is safe for concurrent
// use.
type Set struct {
	rows map[string]*row
}

type row struct {
	ns      Namespace
	knows   check
	pattern matcher
	targets []target
}

// NewSet compiles namespaces. A later row with the NID of an earlier one takes
// its place, so that a site can override what is built in. The error names
// every row that does not compile.
func NewSet(namespaces ...Namespace) (*Set, error) {
	s := &Set{rows: make(map[string]*row, len(namespaces))}
	var faults []error
	for _, ns := range namespaces {
		r, err := compile(ns)
		if err != nil {
			faults = append(faults, fmt.Errorf("namespace %q: %w", ns.NID, err))
			continue
		}
		s.rows[ns.NID] = r
	}
	return s, errors.Join(faults...)
}

// Lookup returns the row of a NID in lower case.
func (s *Set) Lookup(nid string) (Namespace, bool) {
	r, ok := s.rows[nid]
	if !ok {
		return Namespace{}, false
	}
	return r.ns, true
}

// NIDs returns the NIDs of the set, sorted.
func (s *Set) NIDs() []string {
	nids := make([]string, 0, len(s.rows))
	for nid := range s.rows {
		nids = append(nids, nid)
	}
	slices.Sort(nids)
	return nids
}

// row finds the namespace of v without allocating for its case.
func (s *Set) row(v uri.URN) *row {
	var buf [32]byte // the longest NID, RFC 8141 section 2.1
	nid := buf[:0]
	for _, b := range []byte(v.NID()) {
		nid = append(nid, lower(b))
	}
	return s.rows[string(nid)]
}

// Canonical returns the canonical name of v: normal by RFC 8141 section 3.1 and
// by the rules of its namespace, without components. It is the name to use as
// a key. The error is a *uri.ParseError for a name that its namespace does not
// allow. It allocates nothing where the name is canonical already.
func (s *Set) Canonical(v uri.URN) (uri.URN, error) {
	r := s.row(v)
	if r != nil {
		if err := r.verify(v); err != nil && !r.ns.Lenient {
			return uri.URN{}, err
		}
	}
	var buf [256]byte
	dst := appendName(buf[:0], v, r)
	name := v.Name()
	if string(dst) != name.URI().String() {
		u, err := uri.Parse(string(dst))
		if err != nil {
			return uri.URN{}, fmt.Errorf("canonical form of %s: %w", v.URI(), err)
		}
		if name, err = u.URN(); err != nil {
			return uri.URN{}, fmt.Errorf("canonical form of %s: %w", v.URI(), err)
		}
	}
	if r != nil && !r.pattern.matches(name.NSS()) {
		return uri.URN{}, violation(v, 0, rulePattern(r.ns))
	}
	return name, nil
}

// Doubt returns the *uri.ParseError that Canonical would have returned for v if
// its namespace were not lenient, and nil where there is nothing to say.
func (s *Set) Doubt(v uri.URN) error {
	if r := s.row(v); r != nil && r.ns.Lenient {
		return r.verify(v)
	}
	return nil
}

func (r *row) verify(v uri.URN) error {
	if r.knows.verify == nil {
		return nil
	}
	if offset, rule := r.knows.verify(v.NSS()); rule != (uri.Rule{}) {
		return violation(v, offset, rule)
	}
	return nil
}

// violation makes a rule broken at an offset of the NSS into a parse error.
func violation(v uri.URN, offset int, rule uri.Rule) error {
	input := v.URI().String()
	return &uri.ParseError{Input: input, Offset: len("urn:") + len(v.NID()) + 1 + offset, Rule: rule}
}

func rulePattern(ns Namespace) uri.Rule {
	return uri.Rule{Name: "pattern", Section: ns.Source, Says: "the name does not match " + ns.Pattern}
}

// Targets returns the locations to which the canonical name v leads, in the
// order of the namespace's row; none where there is no row or no target for it.
func (s *Set) Targets(v uri.URN) ([]string, error) {
	r := s.row(v)
	if r == nil {
		return nil, nil
	}
	vars := variables(v)
	r.pattern.capture(v.NSS(), vars)
	var locations []string
	for i := range r.targets {
		location, ok, err := r.targets[i].expand(v.NSS(), vars)
		if err != nil {
			return nil, fmt.Errorf("namespace %q, target %d: %w", r.ns.NID, i, err)
		}
		if ok {
			locations = append(locations, location)
		}
	}
	return locations, nil
}
