package lint

import (
	"errors"
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// checkName checks the name itself: the rules or the configuration of its namespace may have changed since
// its registration.
func (l *linter) checkName(s *subject, known map[string]registry.Entry) {
	e := s.entry
	if s.failure != nil {
		l.add(e, Error, ruleName, sayOf(s.failure)+": cannot be requested")
		return
	}
	if s.canonical != e.Name && e.Alias != s.canonical {
		what := "canonical name is " + s.canonical + ": requests are redirected there"
		if _, ok := known[s.canonical]; ok {
			what += ", which is registered too"
		}
		l.add(e, Error, ruleCanonical, what+" (register it, and make this name an alias of it)")
	}
	if !registry.Owned(l.OwnedPrefixes, e.Key) {
		l.add(e, Warning, ruleNotOwned, "outside the prefixes of the registry")
	}
	if e.Kind == registry.KindPrefix {
		return
	}
	for _, warning := range l.Names.Warnings(s.query) {
		l.add(e, Warning, ruleName, fmt.Sprintf("%s: %s (%s)", warning.Name, warning.Requirement, warning.Section))
	}
	for _, name := range s.others {
		// Only the first of two names reports it.
		if other, ok := known[name]; ok && e.Name < name && apart(e, other) {
			l.add(e, Warning, ruleEquivalent,
				name+" is equivalent, but registered separately: make one an alias of the other")
		}
	}
}

// apart reports whether neither of two active entries refers to the other.
func apart(a, b registry.Entry) bool {
	return a.Status == registry.Active && b.Status == registry.Active &&
		a.Alias != b.Name && b.Alias != a.Name && (a.Alias == "" || a.Alias != b.Alias)
}

// sayOf returns the violated rule of an error, without the input, which the finding names already.
func sayOf(err error) string {
	var failure *uri.ParseError
	if errors.As(err, &failure) {
		return fmt.Sprintf("%s: %s (%s)", failure.Rule.Name, failure.Rule.Requirement, failure.Rule.Section)
	}
	return err.Error()
}

// checkRecord checks the record without its targets.
func (l *linter) checkRecord(s *subject) {
	record := s.entry.Record
	record.Targets = nil
	if _, err := l.Registry.Check(s.entry.Key, record); err != nil {
		l.add(s.entry, Error, ruleRecord, err.Error())
	}
}
