package squidconf

import (
	"fmt"
	"slices"
	"strings"
)

// maxRules bounds the rules of urnd that are made.
const maxRules = 5000

// rule is one of proxy.rules.
type rule struct {
	cube
	at      Position
	comment string
	deny    bool
	closed  bool // it denies more than Squid did, as its line cannot be said exactly
}

// literal is an acl of a line, perhaps negated: one of cubes holds, and none of except.
type literal struct {
	condition
	except []cube
}

// literal returns what a word of a line such as !Safe_ports means. A complement of addresses or ports is exact.
func (c *conversion) literal(word string, at Position, depth int) (means literal) {
	name, negated := strings.CutPrefix(word, "!")
	a := c.acls[name]
	if a == nil {
		means.missing = []Loss{{at, "acl " + name, "there is no acl of this name", "an acl before it"}}
		return means
	}
	means.condition = c.conditionOf(a, depth)
	if !negated {
		return means
	}
	positive := means.cubes
	means.cubes = []cube{{}}
	if len(positive) == 1 && len(means.missing) == 0 {
		one := positive[0]
		onlyClients, onlyDestinations, onlyPorts := cube{clients: one.clients}, cube{destinations: one.destinations}, cube{ports: one.ports}
		switch {
		case one.always():
			means.cubes = nil
			return means
		case one.clients != nil && equal(one, onlyClients):
			means.cubes = []cube{{clients: one.clients.not()}}
			return means
		case one.destinations != nil && equal(one, onlyDestinations):
			means.cubes = []cube{{destinations: one.destinations.not()}}
			return means
		case one.ports != nil && equal(one, onlyPorts):
			means.cubes = []cube{{ports: one.ports.not()}}
			return means
		}
	}
	means.except = slices.DeleteFunc(slices.Clone(positive), cube.empty)
	return means
}

func equal(a, b cube) bool {
	return slices.Equal(a.clients, b.clients) && slices.Equal(a.destinations, b.destinations) && slices.Equal(a.ports, b.ports) &&
		slices.Equal(a.hosts, b.hosts) && slices.Equal(a.hostsFrom, b.hostsFrom) &&
		slices.EqualFunc(a.texts[:], b.texts[:], slices.Equal[[]string])
}

// accessLine is a line of http_access: it holds where one of cubes does, and none of except.
type accessLine struct {
	Directive
	deny   bool
	cubes  []cube
	except []cube
	closed bool // wider than the line, since that cannot be said exactly
	login  bool
	lost   []Loss
}

// accessLine reads a line. What cannot be said of one that allows is left out, and what cannot be said of one that denies, is denied.
func (c *conversion) accessLine(d Directive) (line accessLine, err error) {
	line.Directive = d
	words := d.Arguments()
	if len(words) == 0 || words[0] != "allow" && words[0] != "deny" {
		return line, &ParseError{d.Position, d.Text, "write http_access, allow or deny, and acls", nil}
	}
	line.deny = words[0] == "deny"
	// Of what is known of the acls alone, and with all that they may be.
	var exact, wide [][]cube
	for _, word := range words[1:] {
		known, may := c.word(&line, word)
		exact, wide = append(exact, known), append(wide, may)
	}
	isExact := len(line.lost) == 0
	if d.Conditional {
		line.lost = append(line.lost, Loss{d.Position, d.Name, "it depends on the process of Squid (if)", "urnd is one process: remove the condition"})
	}
	var ok bool
	line.cubes, ok = product(wide...)
	switch {
	case !ok:
		line.inexact("its acls together cannot be said in one rule")
	case d.Conditional && !line.deny:
		line.cubes = nil
	case !isExact && line.deny:
		line.closed, line.except = true, nil
		if precise, ok := product(exact...); ok && len(precise) > 0 {
			line.cubes = append(line.preciseOf(precise), line.cubes...)
		}
	}
	return line, nil
}

// word adds an acl to a line. It returns the cubes of what is known of it, and those for which the line is to hold.
func (c *conversion) word(line *accessLine, word string) (known, may []cube) {
	one := c.literal(word, line.Position, 0)
	line.login = line.login || one.login
	if len(one.missing) == 0 {
		line.except = append(line.except, one.except...)
		return one.cubes, one.cubes
	}
	negated := strings.HasPrefix(word, "!")
	line.lost = append(line.lost, one.missing...)
	line.partly(word, negated)
	switch {
	case line.deny:
		return one.cubes, []cube{{}}
	case negated:
		return nil, nil
	}
	return one.cubes, one.cubes
}

// partly says what an acl does to its line that cannot be said in a rule.
func (l *accessLine) partly(word string, negated bool) {
	why := "the rule allows less, without all of "
	switch {
	case l.deny:
		why = "the rule denies more, without "
	case negated:
		why = "the rule is left out, as it needs "
	}
	l.lost = append(l.lost, Loss{l.Position, l.Name, why + word, "a rule of your own at this place"})
}

// preciseOf returns the cubes that hold for what is known of a line, before the wide ones: who removes those keeps these.
func (l *accessLine) preciseOf(cubes []cube) []cube {
	return slices.DeleteFunc(cubes, func(one cube) bool {
		return slices.ContainsFunc(l.cubes, func(wide cube) bool { return equal(one, wide) })
	})
}

// inexact makes a line one that allows less than Squid did: it allows nothing, or denies everything.
func (l *accessLine) inexact(why string) {
	l.lost = append(l.lost, Loss{l.Position, l.Name, why, "rules of your own at this place"})
	l.except, l.cubes = nil, nil
	if l.deny {
		l.cubes, l.closed = []cube{{}}, true
	}
}

// rules returns the rules of all lines of http_access. Squid denies without one, and where none holds, does the opposite of the last.
func (c *conversion) rules(directives []Directive) (all []rule, lost []Loss, err error) {
	var lines []accessLine
	for _, d := range directives {
		if d.Name == "http_access" {
			line, err := c.accessLine(d)
			if err != nil {
				return nil, nil, err
			}
			if len(d.Words) == 1 {
				c.result.Unneeded = append(c.result.Unneeded, Loss{d.Position, d.Name, "it names no acl, and Squid leaves it out", ""})
				continue
			}
			lines = append(lines, line)
		}
		if len(lines) > maxRules {
			return nil, nil, &ParseError{d.Position, d.Text, fmt.Sprintf("at most %d lines of http_access are read: put hosts and addresses into lists", maxRules), nil}
		}
	}
	w := writer{byDefault: rule{deny: true, comment: "no http_access holds"}}
	if len(lines) > 0 {
		w.byDefault.deny = !lines[len(lines)-1].deny
		w.byDefault.comment = "no http_access holds: the opposite of the last one"
	}
	// From the last line on, as an exception continues with the lines behind its own.
	w.lines = lines
	for i := len(lines) - 1; i >= 0; i-- {
		line := &w.lines[i]
		if line.closed && w.denies(i+1) {
			line.closed = false // all that follows denies, too
		}
		if len(line.except) == 0 {
			continue
		}
		w.made = 0
		if _, ok := w.from(i, cube{}, true); !ok {
			line.inexact(`what "!" leaves to the lines behind it cannot be said in rules exactly`)
		}
	}
	w.made = 0
	all, ok := w.from(0, cube{}, false)
	if !ok {
		return nil, nil, fmt.Errorf("http_access: it takes more than %d rules", maxRules)
	}
	for _, line := range lines {
		lost = append(lost, line.lost...)
	}
	c.lines = lines
	return all, lost, nil
}

// writer makes rules of lines.
type writer struct {
	lines     []accessLine
	byDefault rule
	made      int
}

// denies reports whether all that lines from one on do, is to deny.
func (w *writer) denies(from int) bool {
	for _, line := range w.lines[from:] {
		if !line.deny && len(line.cubes) > 0 {
			return false
		}
		if line.deny && slices.ContainsFunc(line.cubes, cube.always) && len(line.except) == 0 {
			return true
		}
	}
	return w.byDefault.deny
}

// from returns the rules for requests of a region that come to a line. The last one is for all of the region. ok is false where that
// cannot be said exactly, or takes too many rules. only is the first line, of which nothing is simplified.
func (w *writer) from(first int, region cube, only bool) (all []rule, ok bool) {
	for i := first; i < len(w.lines); i++ {
		line := w.lines[i]
		for _, one := range line.cubes {
			for _, except := range line.except {
				rest, ok := product([]cube{region}, []cube{one}, []cube{except})
				if !ok {
					return nil, false
				}
				for _, r := range rest {
					below, ok := w.from(i+1, r, false)
					if !ok {
						return nil, false
					}
					all = append(all, simplify(below)...)
				}
			}
		}
		covers := false
		for n, one := range line.cubes {
			both, ok := region.and(one)
			if !ok {
				return nil, false
			}
			if w.made++; w.made > maxRules {
				return nil, false
			}
			if both.empty() {
				continue
			}
			covers = covers || equal(both, region)
			closed := line.closed && n == len(line.cubes)-1
			all = append(all, rule{cube: both, at: line.Position, comment: line.Text, deny: line.deny, closed: closed})
		}
		if only || covers {
			return all, true
		}
	}
	last := w.byDefault
	last.cube = region
	return append(all, last), true
}

// simplify removes rules before the last one that do the same as it does.
func simplify(rules []rule) []rule {
	last := len(rules) - 1
	from := last
	for from > 0 && rules[from-1].deny == rules[last].deny {
		from--
	}
	return append(slices.Clone(rules[:from]), rules[last])
}
