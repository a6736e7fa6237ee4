package lint

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// reference is a target that resolves to a name: by this urnd, or by another resolver.
type reference struct {
	target string
	name   string // canonical
	own    bool   // resolved by this urnd
}

// references returns the targets of an entry that resolve to names.
func (l *linter) references(e registry.Entry) []reference {
	var leads []reference
	for _, t := range e.Targets {
		location, err := t.Location(e.Key, sample(e))
		if err != nil || !t.ResolvedTo() {
			continue
		}
		if lead, ok := l.parseReference(location); ok {
			leads = append(leads, lead)
		}
	}
	return leads
}

// parseReference returns the name that a location resolves to. Resolvers have it in the path or query, as in
// https://urn.fi/urn:nbn:fi:a and https://nbn-resolving.org/resolver?identifier=urn%3Anbn%3Ade%3Aa.
func (l *linter) parseReference(location string) (reference, bool) {
	u, err := uri.Parse(location)
	if err != nil || !u.IsWeb() {
		return reference{}, false
	}
	host, ok := u.Host()
	if !ok {
		return reference{}, false
	}
	name := u.Name().String()
	if slices.ContainsFunc(l.Hosts, func(beginning string) bool { return strings.HasPrefix(name, beginning) }) {
		return reference{target: location, name: name, own: true}, true
	}
	found := reference{target: location, own: l.OwnHost(uri.CanonicalHost(host))}
	text := u.Path()
	if query, ok := u.Query(); ok {
		text += "?" + query
	}
	named, ok := urnIn(text)
	if !ok && found.own {
		named, ok = strings.TrimPrefix(u.Path(), "/"), true
	}
	if !ok {
		return reference{}, false
	}
	q, err := l.Names.ParseInput(named, resolver.I2L)
	if err == nil {
		q, err = l.Names.Canonical(q)
	}
	found.name = q.URI.String()
	return found, err == nil
}

// urnIn returns the URN that a path or query contains.
func urnIn(text string) (string, bool) {
	for range 2 {
		if i := strings.Index(strings.ToLower(text), "urn:"); i >= 0 &&
			(i == 0 || strings.ContainsRune("/?=&", rune(text[i-1]))) {
			named, _, _ := strings.Cut(text[i:], "&")
			return named, true
		}
		decoded, err := url.PathUnescape(text)
		if err != nil || decoded == text {
			break
		}
		text = decoded
	}
	return "", false
}

// checkReferences checks the references of an entry to names: successors, its alias, and targets that resolve to
// names.
func (l *linter) checkReferences(tx registry.Tx, s *subject, known map[string]registry.Entry) error {
	e := s.entry
	for _, successor := range e.Successors {
		l.checkSuccessor(e, successor, known)
	}
	if e.Status != registry.Active {
		return nil
	}
	if e.Alias == "" && len(s.references) == 0 {
		return nil
	}
	loops, err := l.loops(tx, e, known)
	if err != nil {
		return err
	}
	if loops {
		l.add(e, Error, ruleLoop, "resolves to itself through this urnd")
		return nil
	}
	for _, lead := range s.references {
		to, registered := known[lead.name]
		switch {
		case lead.own && registered && to.Status == registry.Withdrawn:
			l.add(e, Error, ruleChain,
				fmt.Sprintf("the target %s resolves to %s, which is withdrawn", lead.target, lead.name))
		case lead.own:
			l.add(e, Warning, ruleChain, fmt.Sprintf(
				"the target %s resolves to the name %s through this urnd: use its targets, or make it an alias",
				lead.target, lead.name))
		case registered && lead.name != e.Name:
			l.add(e, Hint, ruleChain, fmt.Sprintf(
				"the target %s resolves to %s through another resolver, but is registered here",
				lead.target, lead.name))
		}
	}
	if e.Alias != "" {
		return l.checkAlias(tx, e, known)
	}
	return nil
}

func (l *linter) checkSuccessor(e registry.Entry, successor string, known map[string]registry.Entry) {
	to, registered := known[successor]
	switch {
	case registered && to.Status == registry.Withdrawn:
		what := "successor " + successor + " is withdrawn too"
		if len(to.Successors) > 0 {
			what += ", in favour of " + strings.Join(to.Successors, " and ")
		}
		l.add(e, Warning, ruleSuccessor, what)
	case !registered && isURN(successor):
		l.add(e, Hint, ruleSuccessor, "successor "+successor+" is not registered here")
	}
}

// checkAlias checks the alias of an entry.
func (l *linter) checkAlias(tx registry.Tx, e registry.Entry, known map[string]registry.Entry) error {
	to, registered := known[e.Alias]
	switch {
	case !registered:
		p, err := prefixOf(tx, e.Alias)
		if err != nil {
			return err
		}
		if len(p.Targets) == 0 {
			l.add(e, Error, ruleAlias, "alias of "+e.Alias+", which is not registered")
		}
	case to.Status != registry.Active:
		l.add(e, Warning, ruleAlias, "alias of "+e.Alias+", which is "+to.Status.String())
	case to.Alias != "":
		l.add(e, Hint, ruleAlias, "alias of "+e.Alias+", which is an alias of "+to.Alias)
	}
	return nil
}

// Limits of the search for loops.
const (
	maxDepth = 8
	maxWalk  = 64 // names
)

// loops reports whether an entry resolves to itself by aliases and by targets of this urnd. known are entries
// that need not be read again.
func (l *linter) loops(tx registry.Tx, start registry.Entry, known map[string]registry.Entry) (bool, error) {
	seen := map[registry.Key]bool{}
	level := []registry.Entry{start}
	for depth := 0; depth < maxDepth && len(level) > 0; depth++ {
		var next []registry.Entry
		for _, e := range level {
			for _, name := range l.follow(e) {
				to, ok := known[name]
				var err error
				if !ok {
					to, err = entryOf(tx, name)
				}
				switch {
				case err != nil:
					return false, err
				case to.Key == start.Key:
					return true, nil
				case !to.Exists() || to.Status != registry.Active || seen[to.Key] || len(seen) >= maxWalk:
					continue
				}
				seen[to.Key] = true
				next = append(next, to)
			}
		}
		level = next
	}
	return false, nil
}

// follow returns the names that an entry resolves to by this urnd.
func (l *linter) follow(e registry.Entry) []string {
	if e.Alias != "" {
		return []string{e.Alias}
	}
	var names []string
	for _, lead := range l.references(e) {
		if lead.own {
			names = append(names, lead.name)
		}
	}
	return names
}

// entryOf returns the entry that resolves a name: its own, or that of a prefix.
func entryOf(tx registry.Tx, name string) (registry.Entry, error) {
	entries, err := tx.Entries([]registry.Key{registry.Name(name)})
	if err != nil || entries[0].Exists() {
		return entries[0], err
	}
	return prefixOf(tx, name)
}

// prefixOf returns the prefix that resolves an unregistered name: its longest one that does not defer to a shorter one;
// the zero value if there is none.
func prefixOf(tx registry.Tx, name string) (registry.Entry, error) {
	for {
		p, err := registry.LongestPrefix(tx.Floor, name)
		if err != nil || !p.Exists() || !p.Defers() {
			return p, err
		}
		name = registry.EnclosingPrefix(p.Name)
	}
}
