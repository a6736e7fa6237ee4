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

// table converts rules to entries. An exact path is resolved by applying the rules like the server. The entry
// of a prefix answers for the paths of one rule, or of several rules with the same outcome, unless an earlier
// rule matches one of these paths. Other rules below the prefix are listed without an entry.
type table struct {
	rules   []*rule
	origin  string // scheme and host
	web     bool   // names are URLs, and their queries are passed on
	accepts []accepted

	exact   map[string][]int // rules by exact path
	at      map[string][]ruleRoute
	strays  map[string][]int // rules by prefix of a stray route
	entries map[string]*prefixEntry
	state   []ruleState
	items   []Item
	budget  *budget
}

// ruleState is the result of converting a rule.
type ruleState struct {
	taken   bool
	item    int     // one-based index of its entry among the items; 0 for none
	shared  int     // one-based index of an entry that it shares with other rules
	reasons []error // why parts of it were not imported
	stray   bool
}

func (s *ruleState) misses(err error) {
	const most = 5
	if len(s.reasons) < most &&
		!slices.ContainsFunc(s.reasons, func(other error) bool { return other.Error() == err.Error() }) {
		s.reasons = append(s.reasons, err)
	}
}

// makeItems returns the entries of rules, and the listed items.
func makeItems(rules []*rule, listed []Item, origin string, accepts []accepted, b *budget) []Item {
	t := &table{
		rules: rules, origin: origin, web: strings.HasPrefix(origin, "http"), accepts: accepts,
		exact: map[string][]int{}, at: map[string][]ruleRoute{}, strays: map[string][]int{},
		entries: map[string]*prefixEntry{}, state: make([]ruleState, len(rules)), items: listed, budget: b,
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
	for _, prefix := range slices.SortedFunc(maps.Keys(t.at),
		func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) {
		if t.nameOf(prefix) != "" {
			t.prefix(prefix)
		}
	}
	seen := map[string]bool{}
	for _, path := range paths {
		if !seen[path] && t.nameOf(path) != "" { // without --base the root path has no name
			seen[path] = true
			t.name(path)
		}
	}
	return t.finish()
}

// answersFirst returns the reason why a rule gets no entry for paths that an earlier rule matches.
func answersFirst(r *rule) error { return fmt.Errorf("the rule of line %d precedes it", r.line) }

// result is the response of the server for a sample of Accept.
type result struct {
	outcome
	rule int
	err  error
	ok   bool // some rule matches
	no   bool // the rule refuses clients that accept none of its media types, which the registry cannot express
}

func (t *table) allAccepts() uint64 { return 1<<len(t.accepts) - 1 }

var (
	errNoDefault       = errors.New("no target for requests without one of the media types of its conditions")
	errStatuses        = errors.New("the rules for its media types have different statuses")
	errPattern         = errors.New("a withdrawn prefix applies to all paths below it")
	errUnmatchedSuffix = errors.New("paths that its regular expression also matches: other characters for a dot, " +
		"other upper and lower case")
	errAccept = errors.New("conditions on Accept differ from negotiation by the media types of targets")
)

// entryOf returns the entry for the results of all samples of Accept, the first of which is a request without
// Accept. queries says for each target how the query of a request is treated.
func (t *table) entryOf(results []result) (e registry.Entry, queries []query, err error) { //nolint:cyclop // one case per outcome
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

// refusals marks results that refuse clients which accept none of the media types of a path. The rule is
// listed, and the registry redirects these clients to the default target.
func (t *table) refusals(results []result) {
	if !results[0].ok || !t.rules[results[0].rule].redirects() {
		return
	}
	for a := range results {
		if r := t.rules[results[a].rule]; results[a].ok && results[a].err == nil && r.refuses() &&
			t.accepts[a].mediaType == "" {
			results[a].no = true
			t.state[results[a].rule].misses(fmt.Errorf("status %d has no target", r.status))
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

// candidates returns the rules that may match a path, in order.
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

// results returns the outcome of a path for each sample of Accept, and the rules that match; queried means a
// request with a query.
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

// name determines the entry of an exact path.
func (t *table) name(path string) { //nolint:cyclop // one case per outcome
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
	case err == nil && leads && !own: // the entry of the prefix answers already
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

// withQuery adds an entry for a path with a query, if the server does not treat the query like the registry.
func (t *table) withQuery(rule int, path string, e registry.Entry, queries []query) {
	if !t.web || !slices.ContainsFunc(queries, func(q query) bool { return q != queryAppended }) {
		return
	}
	key := registry.Prefix(e.Name + "?")
	if queries[0] == queryUnlike { // another rule matches requests with a query
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

// take marks rules as imported by the last item.
func (t *table) take(rules map[int]bool) {
	for n := range rules {
		t.state[n].taken, t.state[n].shared = true, len(t.items)
	}
}

// finish lists the rules, and parts of rules, that have no entry.
func (t *table) finish() []Item {
	for n, r := range t.rules {
		s := &t.state[n]
		if r.fail != nil {
			s.reasons = append([]error{r.fail}, s.reasons...)
		}
		if s.stray {
			s.reasons = append(s.reasons, errUnmatchedSuffix)
		}
		for _, loss := range r.unmapped {
			s.reasons = append(s.reasons, errors.New(loss))
		}
		// Repeat the shared entry, which changes nothing, to list the losses by line.
		if s.taken && s.item == 0 && len(s.reasons) > 0 {
			t.items = append(t.items, Item{Line: r.line, Input: r.input, Entry: t.items[s.shared-1].Entry})
			s.item = len(t.items)
		}
		switch {
		case s.taken && s.item > 0:
			for _, err := range s.reasons {
				i := &t.items[s.item-1]
				i.Unmapped = append(i.Unmapped, err.Error())
			}
		case s.taken && len(s.reasons) == 0:
		case len(s.reasons) == 0:
			t.items = append(t.items,
				Item{Line: r.line, Input: r.input, Err: errors.New("no path that the registry supports")})
		default:
			t.items = append(t.items, Item{Line: r.line, Input: r.input, Err: s.reasons[0]})
		}
	}
	slices.SortStableFunc(t.items, func(a, b Item) int { return cmp.Compare(a.Line, b.Line) })
	return t.items
}
