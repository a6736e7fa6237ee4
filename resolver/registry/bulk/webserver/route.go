package webserver

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	maxExpression = 4 << 10 // bytes
	maxRoutes     = 32      // of one expression
	maxClass      = 10      // characters of a class that is expanded
	maxSpellings  = 8       // of a case-insensitive literal that is expanded
)

var (
	errExpression = errors.New("regular expression not comparable with other rules")
	errTarget     = errors.New("target with a part of the path other than all after a prefix: not supported by the " +
		"registry")
	errLazy = errors.New("ambiguous groups of the regular expression in a prefix")
)

// pattern is a regular expression of a web server, over the bytes of a path.
type pattern struct {
	*regexp.Regexp
	routes []route
}

// piece is a part of an expression.
type piece struct {
	text        string         // a literal, or
	many        *syntax.Regexp // an expression that matches several texts
	stray       bool           // which are probably unintended
	open, close int            // the capture that begins or ends here, 0 for none
	anchor      syntax.Op      // OpBeginText, OpEndText, or 0
}

// route is a part of what an expression matches: one path, or paths with a common prefix.
type route struct {
	path   string  // the path or the prefix, decoded
	rest   []piece // the pieces after a prefix
	prefix bool
	pieces []piece
	lang   *language // of the whole path
	err    error     // why it gets no entry
	// stray marks paths that are probably unintended: a character other than a dot for an unescaped dot, or
	// unusual spellings in upper and lower case.
	stray bool
}

// newPattern compiles an expression, which is matched against the path after dir.
func newPattern(expression, dir string, anyCase bool) (*pattern, error) {
	if len(expression) > maxExpression {
		return nil, fmt.Errorf("regular expression longer than %d bytes", maxExpression)
	}
	if rest, ok := strings.CutPrefix(expression, "(?i)"); ok {
		expression, anyCase = rest, true
	}
	text := latin1(expression)
	folded := text
	if anyCase {
		folded = "(?i)" + text
	}
	re, err := regexp.Compile(folded)
	if err != nil {
		return nil, fmt.Errorf("regular expression: %w", err)
	}
	p := &pattern{Regexp: re}
	if err := p.expand(text, dir); err != nil { // the original spelling first
		return nil, err
	}
	if anyCase {
		if err := p.expand(folded, dir); err != nil {
			return nil, err
		}
	}
	p.unique()
	return p, nil
}

// unique removes duplicate paths.
func (p *pattern) unique() {
	seen := map[string]bool{}
	p.routes = slices.DeleteFunc(p.routes, func(r route) bool {
		again := !r.prefix && seen[r.path]
		seen[r.path] = seen[r.path] || !r.prefix
		return again
	})
}

// expand adds the routes of an expression.
func (p *pattern) expand(expression, dir string) error {
	e, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return err
	}
	x := &expander{}
	for _, pieces := range x.expand(e) {
		anchored, ok := anchors(pieces)
		if !ok || x.odd {
			p.routes = append(p.routes, everything(dir, errExpression))
			continue
		}
		for _, pieces := range divide(anchored, dir) {
			r, err := newRoute(pieces, dir)
			if err != nil {
				return err
			}
			p.routes = append(p.routes, r)
		}
	}
	return nil
}

// everything returns a route for all paths of a directory, which gets no entry.
func everything(dir string, err error) route {
	if dir == "" {
		dir = "/"
	}
	return route{path: dir, prefix: true, rest: []piece{anything()}, err: err, lang: mustAll(dir)}
}

// mustAll returns the language of all paths with a prefix.
func mustAll(begin string) *language {
	l, _ := newLanguage("^" + regexp.QuoteMeta(latin1(begin)) + "(?s:.)*$") // a quoted text always compiles
	return l
}

func (x *expander) expand(e *syntax.Regexp) [][]piece { //nolint:cyclop // one case per operator
	switch e.Op {
	case syntax.OpEmptyMatch:
		return [][]piece{nil}
	case syntax.OpLiteral:
		return x.literal(e)
	case syntax.OpCharClass:
		return class(e)
	case syntax.OpCapture:
		all := x.expand(e.Sub[0])
		for i, pieces := range all {
			all[i] = slices.Concat([]piece{{open: e.Cap}}, pieces, []piece{{close: e.Cap}})
		}
		return all
	case syntax.OpQuest:
		return append(x.expand(e.Sub[0]), nil)
	case syntax.OpAlternate:
		var all [][]piece
		for _, sub := range e.Sub {
			if all = append(all, x.expand(sub)...); len(all) > maxRoutes {
				return [][]piece{{{many: e}}}
			}
		}
		return all
	case syntax.OpConcat:
		all := [][]piece{nil}
		for _, sub := range e.Sub {
			next := x.expand(sub)
			if len(next)*len(all) > maxRoutes {
				next = [][]piece{{{many: sub}}}
			}
			var product [][]piece
			for _, before := range all {
				for _, after := range next {
					product = append(product, slices.Concat(before, after))
				}
			}
			all = product
		}
		return all
	case syntax.OpBeginText, syntax.OpEndText:
		return [][]piece{{{anchor: e.Op}}}
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return [][]piece{{{many: e}}}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL: // usually a literal dot is meant
		others := &syntax.Regexp{Op: syntax.OpCharClass, Rune: []rune{0, '.' - 1, '.' + 1, 0xff}}
		return [][]piece{{{text: "."}}, {{many: others, stray: true}}}
	default:
		x.odd = true
		return [][]piece{nil}
	}
}

// newRoute returns the route of a sequence of pieces.
func newRoute(pieces []piece, dir string) (route, error) {
	var expression strings.Builder
	expression.WriteString("^" + regexp.QuoteMeta(latin1(dir)))
	r := route{path: dir, pieces: pieces}
	for i, p := range pieces {
		r.stray = r.stray || p.stray
		if p.many != nil {
			expression.WriteString("(?:" + p.many.String() + ")")
			if !r.prefix {
				r.prefix = true
				r.rest = pieces[i:]
			}
			continue
		}
		expression.WriteString(regexp.QuoteMeta(latin1(p.text)))
		if !r.prefix {
			r.path += p.text
		}
	}
	if r.prefix {
		end := len(r.path)
		for end > len(dir) && !endsDelimited(r.path[:end]) {
			end--
		}
		if end < len(r.path) {
			r.rest = slices.Insert(slices.Clone(r.rest), 0, piece{text: r.path[end:]})
			r.path = r.path[:end]
		}
	}
	if r.path == "" {
		r.path, r.prefix, r.err = "/", true, errExpression
	}
	var err error
	r.lang, err = newLanguage(expression.String() + "$")
	return r, err
}
