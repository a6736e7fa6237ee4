package lint

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// checkLevels checks that an identifier in a web address is registered at one of its levels, and that it or a
// shorter one has a default link (GS1-Conformant Resolver standard sections 2.5.8 and 2.5.9). A lot without
// its item has no level, so neither it nor a name below it resolves.
func (l *linter) checkLevels(s *subject, known map[string]registry.Entry) {
	e := s.entry
	if len(s.levels) == 0 || s.canonical != e.Name || e.Status != registry.Active || e.Alias != "" {
		return
	}
	if err := l.Names.CheckLevel(e.Name); err != nil {
		l.add(e, Error, ruleLevel, sayOf(err)+": never requested")
		return
	}
	isDefault := func(t registry.Target) bool { return t.ResolvedTo() && t.ValidAt(l.now) }
	for _, name := range s.levels {
		of, ok := known[name]
		if name == e.Name {
			of, ok = e, true
		}
		if ok && of.Status == registry.Active && (of.Alias != "" || slices.ContainsFunc(of.Targets, isDefault)) {
			return
		}
	}
	what := "no default link (gs1:defaultLink)"
	if len(s.levels) > 1 {
		what += ", nor has " + strings.Join(s.levels[1:], " nor ") + ", its parent: add one"
	}
	l.add(e, Warning, ruleLevel, what)
}
