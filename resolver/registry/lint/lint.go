// Package lint finds errors and likely mistakes in a registry: names that their namespace does not allow,
// dangling targets and loops, entries that hide others. The registry and the configured namespaces enter, and
// a Finding leaves for each problem; nothing is changed. Names are checked by RFC 8141 and the rules of their
// namespaces, targets by RFC 3986 and the rules of their schemes.
package lint

import (
	"context"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// Config configures Run.
type Config struct {
	Registry *registry.Registry
	Names    resolver.Names
	// OwnHost reports whether URLs with a host, in lower case and without port, are served by this urnd.
	OwnHost func(host string) bool
	// Hosts are the prefixes of names on web hosts of the site, whose paths are names:
	// "https://purl.example.org/".
	Hosts []string
	// OwnedPrefixes are the owned prefixes of the registry; empty means all names.
	OwnedPrefixes []string
	// Hints enables hints. Finding names with the same only target needs a second pass over all names.
	Hints bool
	// Progress is called periodically with the number of entries read, which includes those of the second
	// pass, and the findings; it may be nil.
	Progress func(read int64, found Summary)
}

// Summary counts entries and findings.
type Summary struct {
	Read  int
	Found [Error + 1]int // by Severity
	// SharedLeftOut means that there are more shared targets than fit into memory: some were not reported.
	SharedLeftOut bool
}

// page is the number of entries read in one transaction. A long transaction would keep the store from
// cleaning up.
const page = 1000

// Run reports its findings about names and prefixes below a prefix: names first, in byte order. Its memory
// does not grow with the number of names, except for a filter of two bytes per name for hints. An error of
// report ends it.
func Run(ctx context.Context, c Config, below string, report func(Finding) error) (Summary, error) {
	l := &linter{Config: c, report: report, now: c.Registry.Now()}
	if c.Hints {
		if err := l.prepareShared(ctx); err != nil {
			return l.summary, err
		}
	}
	for _, kind := range []registry.Kind{registry.KindName, registry.KindPrefix} {
		err := l.pages(ctx, kind, below, func(tx registry.Tx, entries []registry.Entry) error {
			l.summary.Read += len(entries)
			return l.check(tx, entries)
		})
		if err != nil {
			return l.summary, err
		}
	}
	if l.shared != nil && len(l.shared.twice) > 0 {
		err := l.pages(ctx, registry.KindName, below, func(_ registry.Tx, entries []registry.Entry) error {
			l.nameShared(entries)
			return nil
		})
		return l.summary, err
	}
	return l.summary, nil
}

type linter struct {
	Config
	report  func(Finding) error
	now     time.Time
	summary Summary
	read    int64   // entries, including the second pass
	shared  *shared // nil without hints
	found   []Finding
}

// pages calls f with the entries of a kind, and then reports the findings: outside the transaction, since
// output may block.
func (l *linter) pages(
	ctx context.Context, kind registry.Kind, below string, f func(tx registry.Tx, entries []registry.Entry) error,
) error {
	after := ""
	for {
		n := 0
		err := l.Registry.Store().Read(ctx, func(tx registry.Tx) error {
			entries, err := tx.List(kind, below, after, page)
			if err != nil || len(entries) == 0 {
				return err
			}
			n, after = len(entries), entries[len(entries)-1].Name
			l.read += int64(n)
			return f(tx, entries)
		})
		if err != nil {
			return err
		}
		for _, finding := range l.found {
			l.summary.Found[finding.Severity]++
			if err := l.report(finding); err != nil {
				return err
			}
		}
		l.found = l.found[:0]
		if l.Progress != nil {
			l.Progress(l.read, l.summary)
		}
		if n < page {
			return nil
		}
	}
}

// add adds a finding, unless it is a hint and hints are disabled.
func (l *linter) add(e registry.Entry, severity Severity, rule, what string) {
	if severity > Hint || l.Hints {
		l.found = append(l.found, Finding{e.Key, severity, what, rule})
	}
}

// check checks a page of entries.
func (l *linter) check(tx registry.Tx, entries []registry.Entry) error {
	checked := make([]subject, len(entries))
	for i, e := range entries {
		checked[i] = l.subjectOf(e)
	}
	known, err := l.related(tx, checked)
	if err != nil {
		return err
	}
	for i := range checked {
		s := &checked[i]
		l.checkName(s, known)
		l.checkLevels(s, known)
		l.checkRecord(s)
		l.checkTargets(s)
		if err := l.checkReferences(tx, s, known); err != nil {
			return err
		}
		if s.entry.Kind == registry.KindPrefix {
			if err := l.checkPrefix(tx, s); err != nil {
				return err
			}
		}
		if l.shared != nil {
			l.shared.add(s.entry)
		}
	}
	return nil
}

// subject is an entry to check, with the names that it refers to.
type subject struct {
	entry      registry.Entry
	query      resolver.Query // of the name
	canonical  string         // its current canonical name; "" if failure is set
	failure    error
	others     []string    // equivalent names, by the rules of the namespace
	references []reference // targets that resolve to names
	levels     []string    // names at which the links of an identifier in a web address may be registered
}

func (l *linter) subjectOf(e registry.Entry) subject {
	s := subject{entry: e, canonical: e.Name}
	if e.Kind == registry.KindPrefix {
		s.canonical, s.failure = l.Registry.CanonicalPrefix(e.Name)
	} else if s.query, s.failure = resolver.ParseQuery(e.Name, resolver.I2L); s.failure == nil {
		var d resolver.Description
		d, s.failure = l.Names.Describe(s.query)
		s.canonical = d.Name.String()
		for _, other := range d.Others {
			s.others = append(s.others, other.String())
		}
		s.levels = l.Names.Levels(s.canonical)
	}
	if e.Status == registry.Active {
		s.references = l.references(e)
	}
	return s
}

// related returns the registered entries of all names that subjects refer to, by name.
func (l *linter) related(tx registry.Tx, subjects []subject) (map[string]registry.Entry, error) {
	var names []string
	for i := range subjects {
		s := &subjects[i]
		names = append(append(append(names, s.others...), s.levels...), s.entry.Successors...)
		if s.entry.Alias != "" {
			names = append(names, s.entry.Alias)
		}
		for _, lead := range s.references {
			names = append(names, lead.name)
		}
		if s.failure == nil && s.canonical != s.entry.Name {
			names = append(names, s.canonical)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	keys := make([]registry.Key, len(names))
	for i, name := range names {
		keys[i] = registry.Name(name)
	}
	entries, err := tx.Entries(keys)
	if err != nil {
		return nil, err
	}
	known := make(map[string]registry.Entry)
	for _, e := range entries {
		if e.Exists() {
			known[e.Name] = e
		}
	}
	return known, nil
}

// isURN reports whether a canonical name is a URN.
func isURN(name string) bool {
	u, err := uri.Parse(name)
	return err == nil && u.IsURN()
}
