package webserver

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// ruleRoute is a prefix route of a rule.
type ruleRoute struct {
	rule  int
	route *route
}

// prefixEntry records which paths below a prefix its entry answers. Without members there is no entry, or a
// reserved one.
type prefixEntry struct {
	members map[int]bool
	langs   []*language
}

func (e *prefixEntry) has(path string) bool {
	return slices.ContainsFunc(e.langs, func(l *language) bool { return l.has(path) })
}

// around returns the routes that may match paths below a prefix: routes at the prefix, and at shorter ones.
func (t *table) around(prefix string) (all []ruleRoute) {
	for end := 0; end <= len(prefix); end++ {
		for _, r := range t.at[prefix[:end]] {
			if rule := t.rules[r.rule]; rule.besides == nil || !rule.besides(prefix) {
				all = append(all, r)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ruleRoute) int { return cmp.Compare(a.rule, b.rule) })
	return all
}

// candidate is a possible entry for a prefix.
type candidate struct {
	entry    registry.Entry
	members  map[int]bool
	own      int // number of members with a route at the prefix
	langs    []*language
	patterns []string
}

// alike reports whether two candidates have the same status, redirect and targets.
func (c *candidate) alike(other *candidate) bool {
	return c.entry.Status == other.entry.Status && c.entry.Redirect == other.entry.Redirect &&
		slices.Equal(c.entry.Targets, other.entry.Targets)
}

// prefix determines the entry of a prefix.
func (t *table) prefix(prefix string) {
	around := t.around(prefix)
	var all []*candidate
	missing := map[*route]error{}
	dead := true
	for _, r := range around {
		if r.route.path != prefix {
			continue
		}
		c, by, err := t.candidate(prefix, r, around)
		if err == nil && by >= 0 { // an earlier rule matches all of its paths
			missing[r.route] = answersFirst(t.rules[by])
			continue
		}
		dead = false
		if err != nil {
			missing[r.route] = err
			continue
		}
		if n := slices.IndexFunc(all, c.alike); n >= 0 {
			maps.Copy(all[n].members, c.members)
			all[n].langs, all[n].patterns = append(all[n].langs, c.langs...), append(all[n].patterns, c.patterns...)
			all[n].own++
			continue
		}
		all = append(all, c)
	}
	e := &prefixEntry{}
	if len(all) > 0 {
		best := slices.MaxFunc(all, func(a, b *candidate) int { return cmp.Compare(a.own, b.own) })
		e = t.register(prefix, best)
	}
	for _, r := range around {
		if err := missing[r.route]; err != nil &&
			(!e.members[r.rule] || t.budget.exists([]*language{r.route.lang}, e.langs)) {
			t.state[r.rule].misses(err)
		}
	}
	if dead || len(e.members) == 0 && !t.reserve(prefix, around) {
		return
	}
	t.entries[prefix] = e
	t.omitted(prefix, e, around)
}

// register adds the entry of a candidate.
func (t *table) register(prefix string, c *candidate) *prefixEntry {
	c.entry.Key = registry.Prefix(t.nameOf(prefix))
	c.entry.Pattern = strings.Join(slices.Compact(c.patterns), "|")
	if slices.Contains(c.patterns, ".*") {
		c.entry.Pattern = ""
	}
	first := slices.Min(slices.Collect(maps.Keys(c.members)))
	if err := registry.CheckPattern(c.entry.Pattern); err != nil {
		t.state[first].misses(err)
		return &prefixEntry{}
	}
	t.add(first, c.entry)
	t.take(c.members)
	return &prefixEntry{c.members, c.langs}
}

// reserve reserves a prefix that has no importable rule, if the entry of a shorter prefix would answer for
// it.
func (t *table) reserve(prefix string, around []ruleRoute) bool {
	enclosing := t.enclosing(prefix)
	if enclosing == nil || len(enclosing.members) == 0 {
		return false
	}
	n := slices.IndexFunc(around, func(r ruleRoute) bool { return r.route.path == prefix })
	t.add(around[n].rule, registry.Entry{
		Key: registry.Prefix(t.nameOf(prefix)), Note: held,
		Record: registry.Record{Status: registry.Reserved},
	})
	return true
}

// enclosing returns the entry of the longest prefix of a path, nil if there is none.
func (t *table) enclosing(path string) *prefixEntry {
	for end := len(path); end >= 0; end-- {
		if e := t.entries[path[:end]]; e != nil {
			return e
		}
	}
	return nil
}

// omitted lists the rules that answer for paths below a prefix that its entry excludes.
func (t *table) omitted(prefix string, e *prefixEntry, around []ruleRoute) {
	out := slices.Clone(e.langs)
	for longer := range t.at {
		const most = 20
		if len(longer) > len(prefix) && strings.HasPrefix(longer, prefix) && len(out) < most {
			out = append(out, mustAll(longer))
		}
	}
	all := mustAll(prefix)
	for _, r := range around {
		if t.rules[r.rule].fail == nil && t.budget.exists([]*language{r.route.lang, all}, out) {
			t.state[r.rule].misses(fmt.Errorf("paths below %s: the entry of that prefix comes from other rules",
				EncodedPath(prefix)))
		}
		if t.rules[r.rule].mask == ^uint64(0) {
			out = append(out, r.route.lang)
		}
	}
}

// candidate returns the entry for a route at a prefix, by applying the rules to all its paths. by is an
// earlier rule that matches all of the paths, -1 if there is none.
func (t *table) candidate(prefix string, of ruleRoute, around []ruleRoute) (c *candidate, by int, err error) { //nolint:cyclop // one result per rule
	own := t.rules[of.rule]
	results := make([]result, len(t.accepts))
	left := t.allAccepts()
	for i := 0; i < len(around) && left != 0; i++ {
		n := around[i].rule
		r := t.rules[n]
		bits := r.mask & left
		if bits == 0 {
			continue
		}
		route := of.route
		if n != of.rule {
			var has bool
			if route, has = t.covers(around, n, of.route); route == nil && has {
				return nil, -1, fmt.Errorf("the rule of line %d applies to only some of its paths", r.line)
			}
		}
		if route == nil {
			continue
		}
		left &^= bits
		o, err := r.prefixOutcome(route, prefix)
		for a := range results {
			if bits&(1<<a) != 0 {
				results[a] = result{outcome: o, rule: n, err: err, ok: true}
			}
		}
	}
	t.refusals(results)
	if own.refuses() && slices.ContainsFunc(results, func(r result) bool { return r.no }) {
		return nil, -1, fmt.Errorf("status %d has no target", own.status)
	}
	c = &candidate{members: map[int]bool{}, langs: []*language{of.route.lang}}
	mine := false
	for a := range results {
		if !results[a].ok || results[a].no {
			continue
		}
		mine = mine || results[a].rule == of.rule && own.mask&(1<<a) != 0
		c.members[results[a].rule] = true
	}
	if !mine {
		for a := range results {
			if own.mask&(1<<a) != 0 && results[a].ok {
				return nil, results[a].rule, nil
			}
		}
	}
	c.own = 1
	if c.entry, _, err = t.entryOf(results); err != nil {
		return nil, -1, err
	}
	c.patterns = []string{""}
	for _, p := range of.route.rest {
		if p.many == nil {
			p.text = regexp.QuoteMeta(EncodedPath(p.text))
		} else {
			p.text = encodedExpression(p.many, false)
		}
		c.patterns[0] += p.text
	}
	if c.entry.Status == registry.Withdrawn && c.patterns[0] != ".*" {
		return nil, -1, errPattern
	}
	return c, -1, nil
}

// covers returns the route by which a rule matches all paths of another route; has reports whether it matches
// some of them.
func (t *table) covers(around []ruleRoute, rule int, of *route) (all *route, has bool) {
	for _, r := range around {
		if r.rule != rule || !strings.HasPrefix(r.route.head(), of.head()) &&
			!strings.HasPrefix(of.head(), r.route.head()) {
			continue
		}
		switch {
		case r.route.lang == of.lang || !t.budget.exists([]*language{of.lang}, []*language{r.route.lang}):
			return r.route, true
		case !has:
			has = t.budget.exists([]*language{of.lang, r.route.lang}, nil)
		}
	}
	return nil, has
}

// head returns the common beginning of all paths of a route.
func (r *route) head() string {
	if len(r.rest) > 0 && r.rest[0].many == nil {
		return r.path + r.rest[0].text
	}
	return r.path
}
