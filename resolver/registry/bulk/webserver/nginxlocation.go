package webserver

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// scope is the set of requests that directives apply to.
type scope struct {
	pattern  *pattern
	except   func(path string) bool
	besides  func(key string) bool
	mask     uint64
	prefix   string    // of a prefix location, "" for none
	all      bool      // it includes all paths
	unmapped bool      // a later expression replaced the numbered captures, by
	captures []string  // these
	raw      string    // the expression, if it matches $request_uri
	selected *mapEntry // the map line that determines the value of
	variable string    // this variable
	branch   bool      // of an if that only some requests enter
	fail     error
}

func mustPattern(expression string) *pattern {
	p, err := newPattern(expression, "", false)
	if err != nil {
		return &pattern{Regexp: matchesAll(), routes: []route{everything("", err)}}
	}
	return p
}

// rule returns a rule for the scope. It gets no entry if err is not nil.
func (s scope) rule(b *block, err error) *rule {
	r := &rule{
		line: b.line, input: b.text(), pattern: s.pattern, except: s.except, besides: s.besides, mask: s.mask,
		fail: err, finish: nginxLocation,
	}
	if s.fail != nil {
		r.fail = s.fail
	}
	return r
}

// nginxLocationBlock is a location.
type nginxLocationBlock struct {
	*block
	kind, path string
	scope      scope
}

// locations returns the locations of a server in the order in which they are tried.
func (n *nginx) locations(list []*block) []*nginxLocationBlock {
	all := n.nested(list, nil)
	hasExpressions := slices.ContainsFunc(all, (*nginxLocationBlock).isExpression)
	for _, l := range all {
		if l.scope.prefix == "" {
			continue
		}
		longer := func(path string) bool {
			return slices.ContainsFunc(all, func(other *nginxLocationBlock) bool {
				return other.scope.prefix != "" && len(other.path) > len(l.path) && strings.HasPrefix(path, other.path)
			})
		}
		l.scope.except, l.scope.besides = longer, longer
		if hasExpressions && l.kind == "" && slices.ContainsFunc(all, func(other *nginxLocationBlock) bool {
			return other.kind == "^~" && len(other.path) < len(l.path) && strings.HasPrefix(l.path, other.path)
		}) {
			l.kind = "^~"
			l.scope.fail = errors.New("nested below a location that precedes regular expressions (^~), without ^~ " +
				"itself")
		}
	}
	rank := map[string]int{"=": 0, "^~": 1, "~": 2, "~*": 2, "": 3}
	slices.SortStableFunc(all, func(a, b *nginxLocationBlock) int {
		if d := rank[a.kind] - rank[b.kind]; d != 0 || rank[a.kind] == 2 {
			return d
		}
		return len(b.path) - len(a.path)
	})
	return all
}

func (l *nginxLocationBlock) isExpression() bool { return l.kind == "~" || l.kind == "~*" }

// nested returns the locations of a block, each followed by its nested locations.
func (n *nginx) nested(list []*block, outer *nginxLocationBlock) (all []*nginxLocationBlock) {
	for _, b := range list {
		if b.name() != "location" || len(b.words) < 2 {
			continue
		}
		l := newLocation(b)
		if strings.HasPrefix(l.path, "@") {
			n.others(b, errors.New("internal location"))
			continue
		}
		inner := n.nested(b.children, l)
		if len(inner) > 0 && (l.isExpression() || l.kind == "=") ||
			slices.ContainsFunc(inner, (*nginxLocationBlock).isExpression) {
			l.scope.fail = errors.New("selection among its nested locations is not supported by the registry")
			for _, i := range inner {
				n.others(i.block, l.scope.fail)
			}
			inner = nil
		}
		if outer != nil && outer.kind == "^~" && l.kind == "" {
			l.kind = "^~"
		}
		all = append(append(all, l), inner...)
	}
	return all
}

// newLocation parses the words of a location.
func newLocation(b *block) *nginxLocationBlock {
	l := &nginxLocationBlock{block: b, path: b.words[len(b.words)-1], scope: scope{mask: ^uint64(0)}}
	if len(b.words) > 2 {
		l.kind = b.words[1]
	} else if i := strings.IndexByte(l.path, '/'); i > 0 &&
		slices.Contains([]string{"=", "^~", "~", "~*"}, l.path[:i]) {
		l.kind, l.path = l.path[:i], l.path[i:]
	}
	switch l.kind {
	case "=":
		l.scope.pattern = mustPattern("^" + regexp.QuoteMeta(l.path) + "$")
	case "~", "~*":
		if l.scope.pattern, l.scope.fail = newPattern(l.path, "", l.kind == "~*"); l.scope.fail != nil {
			l.scope.pattern = mustPattern("^/")
		}
	default:
		l.scope.pattern, l.scope.prefix = mustPattern("^"+regexp.QuoteMeta(l.path)), l.path
		l.scope.all = l.path == "/"
	}
	return l
}

// with narrows the scope to paths that an expression matches, whose captures are available to targets from
// then on.
func (s scope) with(p *pattern, expression string) scope {
	outer := s
	s.all, s.prefix, s.unmapped, s.captures = false, "", false, nil
	if s.pattern = p; outer.all {
		return s
	}
	if outer.prefix == "" && slices.Contains([]string{"^", "^/", ".*", "^.*", "^.*$"}, expression) {
		s.pattern, s.unmapped = outer.pattern, true
		return s
	}
	if outer.prefix != "" {
		quoted := regexp.QuoteMeta(outer.prefix)
		narrow := map[string]string{
			"^": "^" + quoted, "^/": "^" + quoted, ".*": "^" + quoted, "^.*": "^" + quoted, "^.*$": "^" + quoted,
			"^(.*)$": "^(" + quoted + ".*)$", "(.*)": "^(" + quoted + ".*)$",
			"^/(.*)$": "^/(" + regexp.QuoteMeta(outer.prefix[1:]) + ".*)$",
			"^/(.*)":  "^/(" + regexp.QuoteMeta(outer.prefix[1:]) + ".*)$",
		}[expression]
		if narrow != "" {
			s.pattern = mustPattern(narrow)
			return s
		}
	}
	s.pattern = &pattern{Regexp: p.Regexp}
	for _, r := range p.routes {
		switch {
		case outer.prefix != "" && strings.HasPrefix(r.path, outer.prefix):
		case !r.prefix && outer.pattern.MatchString(latin1(r.path)):
		case !r.prefix:
			continue
		default:
			r.err = errors.New("only the paths that both the expression and the location match")
		}
		s.pattern.routes = append(s.pattern.routes, r)
	}
	s.except = func(path string) bool {
		return outer.except != nil && outer.except(path) || !outer.pattern.MatchString(latin1(path))
	}
	return s
}
