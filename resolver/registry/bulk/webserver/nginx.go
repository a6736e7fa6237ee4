package webserver

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// nginx converts a configuration of nginx to rules.
type nginx struct {
	site
	accepts   []accepted
	maps      map[string]*nginxMap
	names     []string // variables of maps, in order of declaration
	constants map[string]string
	captured  bool // the server_name has captures, which locations may use
	rules     []*rule
	listed    []Item
}

// Nginx reads the redirects of a configuration of nginx: map blocks, rewrite and return. base is prepended to
// the paths; if it is "", names have no leading slash.
func Nginx(r io.Reader, base string) ([]Item, error) {
	text, err := readAll(r)
	if err != nil {
		return nil, err
	}
	root, err := (&nginxReader{text: text, line: 1}).blocks(0)
	if err != nil {
		return nil, err
	}
	n := &nginx{maps: map[string]*nginxMap{}, constants: map[string]string{}}
	if base != "" {
		if n.site, err = newSite(base); err != nil {
			return nil, err
		}
		n.origin = strings.TrimSuffix(base, "/")
	}
	n.accepts = acceptedTypes(nginxTypes(root, nil))
	n.configuration(root)
	if len(n.rules) > maxRules {
		return nil, fmt.Errorf("configuration with more than %d rules", maxRules)
	}
	return makeItems(n.rules, n.listed, n.origin, n.accepts, &budget{maxAllStates}), nil
}

func (n *nginx) list(b *block, err error) {
	n.listed = append(n.listed, Item{Line: b.line, Input: b.text(), Err: err})
}

// configuration converts a file to rules.
func (n *nginx) configuration(root []*block) {
	var servers []*block
	top := &block{words: []string{"server"}}
	for _, b := range root {
		all := []*block{b}
		if b.name() == "http" {
			all = b.children
		}
		for _, b := range all {
			switch b.name() {
			case "server":
				servers = append(servers, b)
			case "map", "geo":
				n.addMap(b)
			case "location", "rewrite", "return", "if", "set", "include":
				top.children = append(top.children, b)
			}
		}
	}
	serving := n.serving(servers)
	n.capture(serving)
	for _, s := range servers {
		if s != serving {
			n.others(s, errors.New("block of another server than --base"))
		}
	}
	if serving != nil {
		top.children = append(top.children, serving.children...)
	}
	n.server(top.children)
	for _, name := range n.names {
		m := n.maps[name]
		switch {
		case m.used || !m.paths():
		case refers(root, name):
			n.list(m.block, errors.New("variable not used for a redirect"))
		default:
			n.mapRules(m, nil, scope{pattern: mustPattern("^/"), mask: ^uint64(0), all: true}, nil)
		}
	}
}

// refers reports whether a directive other than the map that defines it uses a variable.
func refers(list []*block, name string) bool {
	return slices.ContainsFunc(list, func(b *block) bool {
		return b.name() != "map" &&
			slices.ContainsFunc(b.words, func(word string) bool { return replaceVariable(word, name, "") != word }) ||
			refers(b.children, name)
	})
}

// others lists the redirects of a block that does not apply, with the reason.
func (n *nginx) others(b *block, err error) {
	for _, child := range b.children {
		if child.name() == "return" || child.name() == "rewrite" {
			n.list(child, err)
		}
		n.others(child, err)
	}
}

// server converts a server block to rules: its own directives are tried before its locations.
func (n *nginx) server(list []*block) {
	whole := scope{pattern: mustPattern("^/"), mask: ^uint64(0), all: true}
	ended := n.statements(list, whole)
	locations := n.locations(list)
	if ended {
		for _, l := range locations {
			n.others(l.block, errors.New("server responds before its locations apply"))
		}
		return
	}
	server := n.constants
	for _, l := range locations {
		n.constants = maps.Clone(server) // variables of a location are local to it
		if ended := n.statements(l.children, l.scope); !ended {
			n.rules = append(n.rules, l.scope.rule(l.block, errors.New("server responds itself in this location")))
		}
	}
}

// nginxLocation percent-encodes the bytes of a location that a URI cannot contain.
func nginxLocation(text string) string {
	return escape(text, func(c byte) bool { return isRaw(c) || strings.IndexByte("?#%[]"+mark, c) >= 0 })
}

// statements converts directives to rules. ended means that no following directive is reached.
func (n *nginx) statements(list []*block, s scope) (ended bool) { //nolint:cyclop // one case per directive
	for i := 0; i < len(list) && !ended; i++ {
		b := list[i]
		switch name := b.name(); {
		case name == "return" && len(b.words) > 1:
			n.returns(b, s)
			ended = true
		case name == "rewrite" && len(b.words) > 2:
			ended = n.rewrite(b, s)
		case name == "if":
			inner, is := n.condition(b, s)
			if m := n.mapOf(b); m != nil && inner.fail == nil {
				end := i + 1
				for end < len(list) && list[end].name() == "if" && n.mapOf(list[end]) == m {
					end++
				}
				n.mapRules(m, list[i:end], s, nil)
				i = end - 1
				continue
			}
			if is == never {
				n.others(b, errors.New("condition is never true at this address"))
				continue
			}
			inner.branch = inner.branch || is != always
			if ended = n.statements(b.children, inner) && is == always; is == always {
				s.unmapped, s.captures = inner.unmapped, inner.captures
			}
		case name == "set" && len(b.words) == 3:
			n.set(strings.TrimPrefix(b.words[1], "$"), b.words[2], s)
		case name == "break":
			n.rules = append(n.rules, s.rule(b, errors.New("server responds itself")))
			ended = true
		case name == "include":
			n.list(b, errors.New("import the included file separately"))
		case slices.Contains([]string{
			"proxy_pass", "fastcgi_pass", "uwsgi_pass", "try_files", "error_page",
			"auth_basic", "deny",
		}, name):
			n.list(b, fmt.Errorf("%.40q is not supported by the registry", name))
		}
	}
	return ended
}

// set sets a variable, if its value is constant; otherwise the value is unknown from here on.
func (n *nginx) set(name, text string, s scope) {
	parts, _, err := n.target(text, s)
	delete(n.constants, name)
	if err == nil && !s.branch && !slices.ContainsFunc(parts, func(p part) bool { return p.group || p.all }) {
		n.constants[name] = texts(parts)
	}
}

// returns converts a return directive to a rule.
func (n *nginx) returns(b *block, s scope) {
	status, target := b.words[1], ""
	if len(b.words) > 2 {
		target = b.words[2]
	} else if statusOf(status) == 0 {
		status, target = "302", b.words[1]
	}
	if m := n.mapIn(target); m != nil && s.selected == nil {
		n.mapRules(m, nil, s, b)
		return
	}
	r := s.rule(b, nil)
	n.rules = append(n.rules, r)
	if r.status = statusOf(status); !r.redirects() {
		return
	}
	parts, passes, err := n.target(target, s)
	r.target = parts
	r.query = queryDropped
	if passes {
		r.query = queryAppended
	}
	n.complete(r, s, err)
}

// complete checks the target of a rule, and sets how it treats queries.
func (n *nginx) complete(r *rule, s scope, err error) { //nolint:cyclop // one case per form of targets
	literal := texts(r.target)
	begin := ""
	if len(r.target) > 0 {
		begin = r.target[0].text
	}
	switch {
	case err == nil && len(r.target) == 0:
		err = errors.New("no target")
	case strings.HasPrefix(begin, "/") || len(r.target) > 0 && r.target[0].all:
		r.target = joined(append([]part{{text: n.origin}}, r.target...))
	case err == nil && (!isAbsolute(begin) || !strings.Contains(begin, "://")):
		err = errors.New("target is not a URL")
	}
	if r.query == queryAppended && strings.Contains(literal, "#") {
		r.query = queryLast
	}
	if n.origin == "" {
		r.query = queryAppended
	} else if err == nil && s.raw != "" {
		err = r.ofRequestURI(s.raw)
	}
	if r.fail == nil {
		r.fail = err
	}
}

// ofRequestURI sets how a rule treats queries if its expression matches $request_uri, which includes the
// query.
func (r *rule) ofRequestURI(expression string) error {
	open := !strings.HasSuffix(expression, "$") || strings.HasSuffix(expression, `\$`)
	for _, end := range []string{"(.*)$", "(.+)$", ".*)$", ".+)$", ".*$", ".+$"} {
		if strings.HasSuffix(expression, end) {
			last := r.target[len(r.target)-1]
			used := slices.ContainsFunc(r.target, func(p part) bool {
				return p.group && p.capture >= strings.Count(expression, "(")-strings.Count(expression, "(?:")
			})
			if used && (!last.group || strings.Contains(r.target[0].text, "?") || r.query != queryDropped) {
				return errors.New("target with the query of the request inside")
			}
			if used {
				r.query = queryAppended
			}
			return nil
		}
	}
	if !open {
		r.query = queryUnlike
		if strings.Contains(expression, "[^") {
			return errors.New("expression also matches queries")
		}
	}
	return nil
}

// rewrite converts a rewrite directive to a rule.
func (n *nginx) rewrite(b *block, s scope) (ended bool) { //nolint:cyclop // the parts of a directive
	target, flag := b.words[2], append(b.words, "")[3]
	p, err := newPattern(b.words[1], "", false)
	if err != nil {
		n.rules = append(n.rules, s.rule(b, err))
		return false
	}
	matchesEverything := slices.Contains([]string{
		"^", "^/", ".*", "^.*", "^.*$", "^(.*)$", "^/(.*)$", "^/(.*)",
		"(.*)",
	}, b.words[1])
	dropped := strings.HasSuffix(target, "?")
	target = strings.TrimSuffix(target, "?")
	if m := n.mapIn(target); m != nil && s.selected == nil {
		if !matchesEverything {
			n.rules = append(n.rules, s.rule(b, errors.New("map applies to some paths only")))
			return false
		}
		n.mapRules(m, nil, s, b)
		return m.fallback != nil
	}
	allPaths := s.all || s.prefix != ""
	if s.selected == nil {
		s = s.with(p, b.words[1])
	}
	r := s.rule(b, nil)
	n.rules = append(n.rules, r)
	parts, passes, err := n.target(target, s)
	r.target = parts
	switch absolute := strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") ||
		strings.HasPrefix(target, "$scheme"); {
	case flag == "permanent":
		r.status = http.StatusMovedPermanently
	case flag == "redirect" || absolute:
		r.status = http.StatusFound
	default:
		r.fail = errors.New("internal rewrite: the other rules of the server apply to the target")
	}
	switch {
	case passes && !dropped:
		r.fail = errors.New("target with the query of the request twice")
	case dropped && !passes:
		r.query = queryDropped
	}
	n.complete(r, s, err)
	return matchesEverything && s.mask == ^uint64(0) && allPaths
}
