package webserver

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// nginxMap is a map block.
type nginxMap struct {
	*block
	variable string
	source   string // its source variable
	entries  []*mapEntry
	fallback *mapEntry // default
	used     bool
	hosts    bool
}

// mapEntry is a line of a map.
type mapEntry struct {
	*block
	key     string
	value   string
	pattern *pattern // of a regular expression
	raw     string
	err     error
}

// paths reports whether the source of the map is the path.
func (m *nginxMap) paths() bool {
	return slices.Contains([]string{"request_uri", "uri", "document_uri"}, m.source)
}

// addMap parses a map, or a geo that defines a constant.
func (n *nginx) addMap(b *block) { //nolint:cyclop // one case per form of lines
	if len(b.words) == 2 && b.name() == "geo" && len(b.children) == 1 && len(b.children[0].words) == 2 &&
		b.children[0].name() == "default" {
		n.constants[strings.TrimPrefix(b.words[1], "$")] = b.children[0].words[1]
		return
	}
	if len(b.words) != 3 || b.name() != "map" {
		return
	}
	m := &nginxMap{block: b, source: strings.Trim(b.words[1], "${}"), variable: strings.Trim(b.words[2], "${}")}
	if n.maps[m.variable] != nil {
		n.list(b, errors.New("variable also set by another map"))
		return
	}
	n.maps[m.variable] = m
	n.names = append(n.names, m.variable)
	keys := map[string]int64{}
	var expressions []*mapEntry
	for _, child := range b.children {
		e := &mapEntry{block: child}
		switch {
		case len(child.words) == 1 && (child.name() == "volatile" || child.name() == "hostnames"):
			m.hosts = m.hosts || child.name() == "hostnames"
			continue
		case child.name() == "include":
			n.list(child, errors.New("import the included file separately, inside the braces of a map"))
			continue
		case len(child.words) != 2:
			n.list(child, errors.New("line of a map without key and value"))
			continue
		}
		e.key, e.value = child.words[0], child.words[1]
		switch expression, ok := strings.CutPrefix(e.key, "~"); {
		case e.key == "default":
			m.fallback = e
		case ok:
			expression, anyCase := strings.CutPrefix(expression, "*")
			if e.pattern, e.err = newPattern(expression, "", anyCase); e.err != nil {
				e.pattern = mustPattern("^/")
			}
			if m.source == "request_uri" && n.origin != "" {
				e.raw = expression
			}
			expressions = append(expressions, e)
		default:
			e.key = strings.TrimPrefix(e.key, `\`)
			if first := keys[strings.ToLower(e.key)]; first != 0 {
				n.list(child, fmt.Errorf("duplicate key of line %d", first))
				continue
			}
			keys[strings.ToLower(e.key)] = child.line
			m.entries = append(m.entries, e)
		}
	}
	m.entries = append(m.entries, expressions...) // strings are tried before expressions
}

// variableMap returns the map of paths whose variable is the whole text; nil if there is none.
func (n *nginx) variableMap(text string) *nginxMap {
	name, ok := strings.CutPrefix(text, "$")
	m := n.maps[strings.Trim(name, "{}")]
	if !ok || m == nil || !m.paths() {
		return nil
	}
	return m
}

// mapIn returns the first map of paths whose variable occurs in a text; nil if there is none.
func (n *nginx) mapIn(text string) *nginxMap {
	for _, name := range n.names {
		if m := n.maps[name]; m.paths() && replaceVariable(text, name, "") != text {
			return m
		}
	}
	return nil
}

// replaceVariable replaces a variable in a text by a value.
func replaceVariable(text, name, value string) string {
	text = strings.ReplaceAll(text, "${"+name+"}", value)
	for at := 0; ; {
		i := strings.Index(text[at:], "$"+name)
		if i < 0 {
			return text
		}
		i += at
		end := i + 1 + len(name)
		if at = end; end == len(text) || !isAlphanumeric(text[end]) && text[end] != '_' {
			text = text[:i] + value + text[end:]
			at = i + len(value)
		}
	}
}

// mapOf returns the map of paths whose variable a condition tests; nil if there is none.
func (n *nginx) mapOf(b *block) *nginxMap {
	words := conditionWords(b)
	if len(words) == 0 {
		return nil
	}
	return n.variableMap(words[0])
}

// mapRules converts a map to rules. Each line gets the directives of the first condition that its value
// satisfies, or the directive by that uses the variable. Without conditions and directive, each line is a
// redirect with the default status of the registry.
func (n *nginx) mapRules(m *nginxMap, conditions []*block, s scope, by *block) { //nolint:cyclop // the uses of a map
	m.used = true
	all := m.entries
	if m.fallback != nil && m.fallback.value != "" {
		all = append(slices.Clone(all), m.fallback)
	}
	for _, e := range all {
		inner := s
		inner.selected, inner.variable = e, m.variable
		inner.fail = e.err
		if s.fail != nil {
			inner.fail = s.fail
		}
		switch {
		case e == m.fallback:
		case e.pattern != nil:
			inner = inner.with(e.pattern, e.key)
			inner.raw = e.raw
		}
		before := len(n.rules)
		switch {
		case by != nil && by.name() == "return":
			n.returns(by, inner)
		case by != nil:
			n.rewrite(by, inner)
		case conditions == nil:
			n.mapValue(e, inner)
		default:
			satisfied := false
			for _, c := range conditions {
				if satisfied = e.satisfies(conditionWords(c)); satisfied {
					n.statements(c.children, inner)
					break
				}
			}
			if !satisfied && (e.value != "" || e != m.fallback) {
				n.rules = append(n.rules, inner.rule(e.block, errors.New("no target")))
			}
		}
		for _, r := range n.rules[before:] {
			r.line, r.input = e.line, e.text()
			if e.pattern == nil && e != m.fallback {
				n.mapKey(r, m, e, s)
			}
		}
	}
}

// mapValue converts a line of an unused map to a redirect.
func (n *nginx) mapValue(e *mapEntry, s scope) {
	s.mask = ^uint64(0)
	r := s.rule(e.block, s.fail)
	n.rules = append(n.rules, r)
	if e.value == "410" {
		r.status = 410
		return
	}
	parts, passes, err := n.target(e.value, s)
	r.target = parts
	if !passes && s.raw == "" {
		r.query = queryDropped
	}
	n.complete(r, s, err)
}

// mapKey restricts a rule to the key of a map line.
func (n *nginx) mapKey(r *rule, m *nginxMap, e *mapEntry, s scope) { //nolint:cyclop // one case per form of keys
	r.pattern, r.except, r.besides = nil, nil, nil
	key := e.key
	if m.source == "request_uri" {
		path, err := url.PathUnescape(key)
		r.query = queryUnlike
		if strings.ContainsAny(key, "?#") || err != nil || n.origin != "" && EncodedPath(path) != key {
			r.never = errors.New("no client sends the key in this form")
		}
		key = path
	}
	if n.origin == "" {
		r.query = queryAppended
	}
	if !strings.HasPrefix(key, "/") {
		if n.origin != "" {
			r.never = errors.New("key is not a path")
		}
		key = "/" + key
	}
	spellings := []string{key, strings.ToLower(key)}
	if n.origin == "" {
		spellings = spellings[:1]
	}
	for _, path := range spellings {
		if !slices.Contains(r.paths, path) && (s.all || s.pattern == nil || s.pattern.MatchString(latin1(path))) &&
			(s.except == nil || !s.except(path)) {
			r.paths = append(r.paths, path)
		}
	}
	if len(r.paths) == 0 && r.never == nil {
		r.never = errors.New("key outside the paths of its location")
	}
	if n.origin != "" && strings.ToLower(key) != strings.ToUpper(key) {
		r.unmapped = append(r.unmapped, "spellings of the key in other upper and lower case")
	}
}
