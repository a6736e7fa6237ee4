package webserver

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// table makes entries of rules: an exact path is resolved by the rules as their server does it. Of a prefix an entry answers for the
// paths of one rule, or of several that lead alike, if no other rule has one of them before; where the server answers by further
// rules, the registry has nothing, and these are listed.
type table struct {
	rules   []*rule
	origin  string // scheme and host
	web     bool   // names are URLs, whose queries are passed on
	accepts []accepted

	exact   map[string][]int // the rules of a path
	at      map[string][]ruleRoute
	strays  map[string][]int // the rules of stray prefixes
	entries map[string]*prefixEntry
	state   []ruleState
	items   []Item
	budget  *budget
}

// ruleState is what became of a rule.
type ruleState struct {
	taken   bool
	item    int     // its entry among the items, from 1 on; 0 for none
	shared  int     // that of other rules that it is a part of
	reasons []error // why a part of it was not
	stray   bool
}

func (s *ruleState) misses(err error) {
	const most = 5
	if len(s.reasons) < most && !slices.ContainsFunc(s.reasons, func(other error) bool { return other.Error() == err.Error() }) {
		s.reasons = append(s.reasons, err)
	}
}

// makeItems returns the entries of rules, and what is listed.
func makeItems(rules []*rule, listed []Item, origin string, accepts []accepted, b *budget) []Item {
	t := &table{
		rules: rules, origin: origin, web: strings.HasPrefix(origin, "http"), accepts: accepts, exact: map[string][]int{},
		at: map[string][]ruleRoute{}, strays: map[string][]int{}, entries: map[string]*prefixEntry{}, state: make([]ruleState, len(rules)),
		items: listed, budget: b,
	}
	var paths []string
	for n, r := range rules {
		if r.never != nil {
			t.state[n].misses(r.never)
			continue
		}
		if r.pattern == nil {
			for _, path := range r.paths {
				paths = append(paths, path)
				t.exact[path] = append(t.exact[path], n)
			}
			continue
		}
		r.check(b)
		for i := range r.pattern.routes {
			switch of := &r.pattern.routes[i]; {
			case of.stray:
				t.state[n].stray = true
				t.strays[of.path] = append(t.strays[of.path], n)
			case of.prefix:
				t.at[of.path] = append(t.at[of.path], ruleRoute{n, of})
			default:
				paths = append(paths, of.path)
				t.exact[of.path] = append(t.exact[of.path], n)
			}
		}
	}
	for _, prefix := range slices.SortedFunc(maps.Keys(t.at), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) {
		if t.nameOf(prefix) != "" {
			t.prefix(prefix)
		}
	}
	seen := map[string]bool{}
	for _, path := range paths {
		if !seen[path] && t.nameOf(path) != "" { // without --base, the root is no name
			seen[path] = true
			t.name(path)
		}
	}
	return t.finish()
}

// answersFirst is the reason of paths that another rule has before.
func answersFirst(r *rule) error { return fmt.Errorf("the rule of line %d answers first", r.line) }

// result is what the server does for a value of Accept.
type result struct {
	outcome
	rule int
	err  error
	ok   bool // some rule does something
	no   bool // it refuses those who accept none of its media types, which the registry cannot
}

func (t *table) allAccepts() uint64 { return 1<<len(t.accepts) - 1 }

var (
	errNoDefault = errors.New("without a media type that its conditions name, no rule leads anywhere")
	errStatuses  = errors.New("the rules for its media types have several statuses")
	errPattern   = errors.New("a prefix that is withdrawn is so for all paths that begin with it")
	errStray     = errors.New("paths with other characters for a dot, or other upper and lower case, that its regular expression has, too")
	errAccept    = errors.New("its conditions on Accept are not those of targets with media types")
)

// entryOf returns the entry of what the server does for each value of Accept, of which the first is none, and what becomes of a query
// at each target.
func (t *table) entryOf(results []result) (e registry.Entry, queries []query, err error) { //nolint:cyclop // a case is an outcome
	for _, r := range results {
		switch {
		case r.no:
			continue
		case !r.ok:
			return e, nil, errNoDefault
		case r.err != nil:
			return e, nil, r.err
		case r.status != results[0].status || (r.query == queryUnlike) != (results[0].query == queryUnlike):
			return e, nil, errStatuses
		}
	}
	if err := results[0].record(&e); err != nil || e.Status == registry.Withdrawn {
		return e, []query{results[0].query}, err
	}
	e.Targets, queries = []registry.Target{{URI: results[0].target}}, []query{results[0].query}
	for a, r := range results {
		if !r.no && t.accepts[a].mediaType != "" && r.target != results[0].target {
			e.Targets = append(e.Targets, registry.Target{URI: r.target, Type: t.accepts[a].mediaType})
			queries = append(queries, r.query)
		}
	}
	for a, r := range results {
		if n := chosen(e.Targets, t.accepts[a].header); !r.no && e.Targets[n].URI != r.target || queries[n] != r.query {
			return e, nil, errAccept
		}
	}
	return e, queries, nil
}

// refusals leaves out what a server refuses to those who accept none of the media types of a path: the rule is listed, and the registry
// leads them to the target of all others.
func (t *table) refusals(results []result) {
	if !results[0].ok || !t.rules[results[0].rule].redirects() {
		return
	}
	for a := range results {
		if r := t.rules[results[a].rule]; results[a].ok && results[a].err == nil && r.refuses() && t.accepts[a].mediaType == "" {
			results[a].no = true
			t.state[results[a].rule].misses(fmt.Errorf("the status %d leads nowhere", r.status))
		}
	}
}

// nameOf returns the name of a path.
func (t *table) nameOf(path string) string {
	if t.origin == "" {
		path = strings.TrimPrefix(path, "/")
	}
	return t.origin + EncodedPath(path)
}

// candidates returns the rules that may have a path.
func (t *table) candidates(path string) []int {
	all := slices.Clone(t.exact[path])
	for end := range len(path) + 1 {
		for _, r := range t.at[path[:end]] {
			all = append(all, r.rule)
		}
		all = append(all, t.strays[path[:end]]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// results returns what the rules do with a path, for each value of Accept, and the rules that do it; queried is a path with a query.
func (t *table) results(path string, queried bool) (results []result, winners map[int]bool) {
	results, winners = make([]result, len(t.accepts)), map[int]bool{}
	left := t.allAccepts()
	for _, n := range t.candidates(path) {
		r := t.rules[n]
		bits := r.mask & left
		captures := r.match(path)
		if bits == 0 || captures == nil || queried && r.query == queryUnlike {
			continue
		}
		left &^= bits
		for a := range results {
			if bits&(1<<a) != 0 {
				results[a] = result{outcome: r.outcome(path, captures), rule: n, err: r.fail, ok: true}
				winners[n] = true
			}
		}
	}
	t.refusals(results)
	for _, r := range results {
		if r.no {
			delete(winners, r.rule)
		}
	}
	return results, winners
}

// name decides what becomes of a path.
func (t *table) name(path string) { //nolint:cyclop // a case is an outcome
	results, winners := t.results(path, false)
	own := false
	for _, n := range t.exact[path] {
		switch {
		case winners[n]:
			own = true
		case len(winners) > 0 && t.rules[n].match(path) != nil:
			t.state[n].misses(answersFirst(t.rules[slices.Min(slices.Collect(maps.Keys(winners)))]))
		}
	}
	around := t.enclosing(path)
	covered := around != nil && around.has(path)
	e, queries, err := t.entryOf(results)
	if len(winners) == 0 && !covered {
		return
	}
	e.Key = registry.Name(t.nameOf(path))
	line := len(t.rules) - 1
	leads := covered
	for n := range winners {
		line = min(line, n)
		leads = leads && around.members[n]
	}
	switch {
	case err == nil && leads && !own: // the prefix leads there
		return
	case err == nil:
		t.add(line, e)
		t.take(winners)
		t.withQuery(line, path, e, queries)
		return
	case covered:
		t.add(line, registry.Entry{Key: e.Key, Note: held, Record: registry.Record{Status: registry.Reserved}})
	}
	for n := range winners {
		t.state[n].misses(err)
	}
}

// withQuery adds the entry for a path with a query, where that is not passed on as the registry does it.
func (t *table) withQuery(rule int, path string, e registry.Entry, queries []query) {
	if !t.web || !slices.ContainsFunc(queries, func(q query) bool { return q != queryAppended }) {
		return
	}
	key := registry.Prefix(e.Name + "?")
	if queries[0] == queryUnlike { // other rules have it
		results, winners := t.results(path, true)
		var err error
		if e, queries, err = t.entryOf(results); err != nil {
			for n := range winners {
				t.state[n].misses(fmt.Errorf("%s with a query: %w", EncodedPath(path), err))
			}
			t.add(rule, registry.Entry{Key: key, Note: held, Record: registry.Record{Status: registry.Reserved}})
			return
		}
		rule = slices.Min(slices.Collect(maps.Keys(winners)))
		defer t.take(winners)
	}
	e.Key = key
	e.Targets = slices.Clone(e.Targets)
	for i := range e.Targets {
		text := strings.NewReplacer("{", "%7B", "}", "%7D").Replace(e.Targets[i].URI)
		switch {
		case queries[i] == queryDropped:
			text += nothing
		case queries[i] == queryAppended && strings.Contains(text, "?"):
			text += "&{+suffix}"
		default:
			text += "?{+suffix}"
		}
		e.Targets[i].URI = text
	}
	t.add(rule, e)
}

func (t *table) add(rule int, e registry.Entry) {
	r := t.rules[rule]
	t.items = append(t.items, Item{Line: r.line, Input: r.input, Entry: e})
	if s := &t.state[rule]; s.item == 0 && e.Note != held {
		s.item = len(t.items)
	}
}

// take notes the rules that the last entry is of.
func (t *table) take(rules map[int]bool) {
	for n := range rules {
		t.state[n].taken, t.state[n].shared = true, len(t.items)
	}
}

// finish lists the rules, or parts of them, that have no entry.
func (t *table) finish() []Item {
	for n, r := range t.rules {
		s := &t.state[n]
		if r.fail != nil {
			s.reasons = append([]error{r.fail}, s.reasons...)
		}
		if s.stray {
			s.reasons = append(s.reasons, errStray)
		}
		for _, loss := range r.losses {
			s.reasons = append(s.reasons, errors.New(loss))
		}
		if s.taken && s.item == 0 && len(s.reasons) > 0 { // its entry again, which changes nothing, for what is listed by its line
			t.items = append(t.items, Item{Line: r.line, Input: r.input, Entry: t.items[s.shared-1].Entry})
			s.item = len(t.items)
		}
		switch {
		case s.taken && s.item > 0:
			for _, err := range s.reasons {
				i := &t.items[s.item-1]
				i.Losses = append(i.Losses, err.Error())
			}
		case s.taken && len(s.reasons) == 0:
		case len(s.reasons) == 0:
			t.items = append(t.items, Item{Line: r.line, Input: r.input, Err: errors.New("it has no path that the registry can have")})
		default:
			t.items = append(t.items, Item{Line: r.line, Input: r.input, Err: s.reasons[0]})
		}
	}
	slices.SortStableFunc(t.items, func(a, b Item) int { return cmp.Compare(a.Line, b.Line) })
	return t.items
}
