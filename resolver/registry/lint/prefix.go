package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// checkPrefix checks whether a prefix hides rules of its namespace, or is redundant.
func (l *linter) checkPrefix(tx registry.Tx, s *subject) error {
	e := s.entry
	if nid, _, ok := strings.Cut(strings.TrimPrefix(e.Name, "urn:"), ":"); ok && strings.HasPrefix(e.Name, "urn:") {
		ns, known := l.Names.Set.Lookup(nid)
		if known && len(ns.Targets) > 0 && (len(e.Targets) > 0 || e.Authoritative || e.Status != registry.Active) {
			l.add(e, Hint, ruleHidesSystem,
				fmt.Sprintf("names below it are no longer resolved by the rules of the namespace %q", ns.NID))
		}
	}
	outer, err := registry.LongestPrefix(tx.Floor, e.Name[:len(e.Name)-1])
	if err != nil || !outer.Exists() {
		return err
	}
	if e.Status == registry.Active && outer.Status == registry.Active &&
		len(e.Targets) > 0 && e.Sandbox == outer.Sandbox && sameReferences(e, outer) {
		l.add(e, Hint, ruleRedundant, "same target as the prefix "+outer.Name)
	}
	return nil
}

// sameReferences reports whether two prefixes resolve a name below the first one to the same locations.
func sameReferences(e, outer registry.Entry) bool {
	return slices.EqualFunc(e.Targets, outer.Targets, func(a, b registry.Target) bool {
		at, errA := a.Location(e.Key, sample(e))
		bt, errB := b.Location(outer.Key, sample(e))
		a.URI, b.URI = "", ""
		return errA == nil && errB == nil && at == bt && a == b
	})
}
