package squidconf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxRules bounds the rules of the result.
const maxRules = 5000

// rule is an entry of proxy.rules.
type rule struct {
	cube
	at      Position
	comment string
	deny    bool
	closed  bool // denies more than Squid, because its line cannot be expressed exactly
}

// accessLine is a line of http_access. It matches a request that matches one of cubes and none of except.
type accessLine struct {
	Directive
	condition
	deny       bool
	closed     bool // the last cube is wider than the line, which cannot be expressed exactly
	denyExcept bool // exceptions of the line are denied, instead of being decided by the following lines
}

// accessLine converts a line. The inexpressible part of an allowing line is omitted, that of a denying line
// is denied.
func (c *conversion) accessLine(d Directive) accessLine {
	words := d.Arguments()
	line := accessLine{Directive: d, deny: words[0] == "deny"}
	var known, wide [][]cube // all acls, with what is known of them; and only the fully known ones
	for _, word := range words[1:] {
		part := c.literal(word, d.Position, 0)
		line.login = line.login || part.login
		line.except = append(line.except, part.except...)
		known = append(known, part.cubes)
		if len(part.missing) == 0 {
			wide = append(wide, part.cubes)
			continue
		}
		effect := "the rule allows less, without all of "
		if line.deny {
			effect = "the rule denies more, without "
		}
		line.missing = append(append(line.missing, part.missing...),
			Unconverted{d.Position, d.Name, effect + word, "a rule of your own at this place"})
	}
	var ok bool
	line.cubes, ok = product(known...)
	if line.deny && len(line.missing) > 0 {
		// The exact rule comes first: it remains if the user removes the wide one.
		wider, fits := product(wide...)
		line.cubes, line.except, ok = slices.Concat(line.cubes, wider), nil, ok && fits
		line.closed = len(wider) > 0
	}
	if !ok {
		line.inexact("the combination of its acls has no equivalent in one rule")
	}
	return line
}

// inexact makes a line stricter than in Squid: it allows nothing, or denies everything.
func (l *accessLine) inexact(why string) {
	l.missing = append(l.missing, Unconverted{l.Position, l.Name, why, "rules of your own at this place"})
	l.except, l.cubes = nil, nil
	if l.deny {
		l.cubes, l.closed = []cube{{}}, true
	}
}

// rules returns the rules of all lines of http_access. Squid denies if there is none; if none matches, it
// does the opposite of the last one.
func (c *conversion) rules() ([]rule, error) {
	w := writer{byDefault: rule{deny: true, comment: "no http_access matches"}}
	for _, d := range c.directives {
		if d.Name != "http_access" {
			continue
		}
		words := d.Arguments()
		switch {
		case len(words) == 0 || words[0] != "allow" && words[0] != "deny":
			return nil, &ParseError{d.Position, d.Text, "write http_access, allow or deny, and acls", nil}
		case len(w.lines) >= maxRules:
			return nil, &ParseError{
				d.Position, d.Text,
				fmt.Sprintf("at most %d lines of http_access are read: put hosts and addresses into lists", maxRules),
				nil,
			}
		case len(words) == 1:
			c.unneeded(d, "it has no acl, and Squid ignores it")
			continue
		}
		w.lines = append(w.lines, c.accessLine(d))
		w.byDefault.deny, w.byDefault.comment = words[0] == "allow",
			"no http_access matches: the opposite of the last one"
	}
	w.settle()
	w.made = 0
	all, ok := w.from(0, region{})
	if !ok {
		return nil, fmt.Errorf("http_access: it takes more than %d rules", maxRules)
	}
	for _, line := range w.lines {
		c.result.Unconverted = append(c.result.Unconverted, line.missing...)
		used := slices.ContainsFunc(all, func(r rule) bool { return r.at == line.Position })
		if c.canLogIn() && !line.deny && !line.login && used {
			c.addUnconverted(line.Directive, "clients without login are allowed",
				"access.proxy_users is for all clients of the proxy: run a second urnd without it")
		}
	}
	return all, nil
}

// writer converts lines to rules.
type writer struct {
	lines     []accessLine
	byDefault rule
	made      int
}

// settle makes lines inexact if their exceptions cannot be expressed.
func (w *writer) settle() {
	// From the last line on, because an exception continues with the lines after its own.
	for i := len(w.lines) - 1; i >= 0; i-- {
		line := &w.lines[i]
		if _, ok := w.alone(i); !ok {
			line.denyExcept = true
			line.missing = append(line.missing, Unconverted{
				line.Position, line.Name,
				`requests that "!" excepts are denied, because rules cannot pass them to the following lines`,
				"rules of your own at this place",
			})
		}
		if _, ok := w.alone(i); !ok {
			line.inexact("the combination of its acls has no equivalent in rules")
		}
	}
}

// region is the set of requests that reach a line because an earlier line excepts them.
type region struct {
	cube
	// wide is the set of requests that the earlier line would match without its exception. Rules with the
	// same effect as that line may match all of wide, if the intersection of cube with their own conditions
	// cannot be expressed.
	wide *cube
	deny bool
}

// and returns the requests of a region that a rule with this effect may match.
func (r region) and(holds cube, deny bool) (cube, bool) {
	both, ok := r.cube.and(holds)
	if !ok && r.wide != nil && r.deny == deny {
		return r.wide.and(holds)
	}
	return both, ok
}

// alone returns the rules of one line for all requests.
func (w *writer) alone(i int) ([]rule, bool) {
	w.made = 0
	return w.line(i, region{})
}

// from returns the rules for requests of a region that reach a line and its successors. The last rule matches
// the whole region. ok is false if that cannot be expressed exactly, or takes too many rules.
func (w *writer) from(first int, in region) (all []rule, ok bool) {
	for i := first; i < len(w.lines); i++ {
		some, ok := w.line(i, in)
		if !ok {
			return nil, false
		}
		if at := slices.IndexFunc(some, func(r rule) bool { return r.equal(in.cube) && !r.closed }); at >= 0 {
			return append(all, some[:at+1]...), true
		}
		all = append(all, some...)
	}
	last := w.byDefault
	last.cube = in.cube
	return append(all, last), true
}

// line returns the rules of one line for requests of a region. The rules for its exceptions, from the
// following lines, come first.
func (w *writer) line(i int, in region) (all []rule, ok bool) {
	line := w.lines[i]
	for n, holds := range line.cubes {
		if w.made++; w.made > maxRules {
			return nil, false
		}
		if len(line.except) > 0 {
			excepted, ok := w.exceptions(i, in, holds)
			if !ok {
				return nil, false
			}
			all = append(all, excepted...)
		}
		both, ok := in.and(holds, line.deny)
		if !ok {
			return nil, false
		}
		if !both.empty() {
			closed := line.closed && n == len(line.cubes)-1
			all = append(all, rule{cube: both, at: line.Position, comment: line.Text, deny: line.deny, closed: closed})
		}
	}
	return all, true
}

// exceptions returns the rules for the exceptions of a line within one of its cubes.
func (w *writer) exceptions(i int, in region, holds cube) (all []rule, ok bool) {
	line := w.lines[i]
	if line.denyExcept && line.deny {
		return nil, true
	}
	wide, ok := in.cube.and(holds)
	if !ok {
		return nil, false
	}
	for _, exception := range line.except {
		excepted, ok := wide.and(exception)
		switch {
		case !ok:
			return nil, false
		case excepted.empty():
		case line.denyExcept:
			all = append(all, rule{cube: excepted, at: line.Position, comment: line.Text, deny: true, closed: true})
		default:
			next := region{cube: excepted, deny: line.deny}
			if len(line.except) == 1 {
				next.wide = &wide
			}
			below, ok := w.from(i+1, next)
			if !ok {
				return nil, false
			}
			all = append(all, simplify(below)...)
		}
	}
	return all, true
}

// simplify removes the rules before the last one that have the same effect.
func simplify(rules []rule) []rule {
	last := len(rules) - 1
	from := last
	for from > 0 && rules[from-1].deny == rules[last].deny {
		from--
	}
	return append(slices.Clone(rules[:from]), rules[last])
}

// tables returns the entries of proxy.rules.
func tables(rules []rule) (all []*yaml.Node) {
	ids := make(map[string]int)
	reported := ""
	for _, r := range rules {
		if r.impossible(ofClients) || r.impossible(ofDestinations) {
			continue // without this condition the rule would match all addresses
		}
		id, note := "default", r.comment
		if r.at.Line > 0 {
			id, note = ruleID(r.at), r.at.String()+": "+r.comment
		}
		if ids[id]++; ids[id] > 1 {
			id += "-" + strconv.Itoa(ids[id])
		}
		var comments []string
		if note != reported {
			comments, reported = []string{Plain(note)}, note
		}
		if r.closed {
			comments = append(comments,
				"It denies more than Squid did, because it has no exact equivalent: see the end. Replace it.")
		}
		all = append(all, r.table(id, comments))
	}
	return all
}

func ruleID(at Position) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, filepath.Base(at.File))
	return name[:min(40, len(name))] + "-" + strconv.Itoa(at.Line)
}

// table returns the entry of proxy.rules for a rule.
func (r rule) table(id string, comments []string) *yaml.Node {
	table := newTable(comments...)
	action := "allow"
	if r.deny {
		action = "deny"
	}
	put(table, "id", id)
	put(table, "action", action)
	for kind, name := range conditionNames() {
		if v := r.cube[kind]; v != nil {
			var notes []string
			for _, file := range slices.Compact(slices.Sorted(slices.Values(v.copied))) {
				notes = append(notes, Plain("a copy of "+file))
			}
			put(table, name, v.plain(kind), notes...)
			put(table, name+"_from", v.files)
		}
	}
	return table
}

// plain returns the values outside files, in the syntax of settings.
func (v *values) plain(kind int) []string {
	set := v.set
	if len(v.files) > 0 {
		set = v.own
	}
	switch kind {
	case ofClients, ofDestinations:
		return set.networks()
	case ofPorts:
		return set.ports()
	case ofTimes:
		return set.times()
	}
	return v.texts
}

// impossible reports whether a condition on addresses has no address that settings can express.
func (c cube) impossible(kind int) bool {
	return c[kind] != nil && len(c[kind].files)+len(c[kind].plain(kind)) == 0
}
