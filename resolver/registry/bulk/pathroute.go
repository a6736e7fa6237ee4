package bulk

import (
	"errors"
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// pathRoute is one path that a regular expression of a web server matches, or, where it is a prefix, all that begins with it.
type pathRoute struct {
	path     string
	captures map[string]string // by number and by name
	isPrefix bool
	whole    bool // nothing follows the path, although something follows it in another route
}

const (
	maxPathExpression = 4 << 10 // octets
	maxRoutes         = 32      // that one expression makes
)

var (
	errUnanchored     = errors.New("its regular expression is not bound to the beginning of the path by ^")
	errOpenEnd        = errors.New("its regular expression is not bound to the end of the path by $, nor has what follows as (.*)")
	errPathExpression = errors.New("its regular expression is neither that of some paths, nor of all that begins with one and ends with (.*)")
	errOneTarget      = errors.New("all paths that begin so lead to one address, which a prefix cannot say")
)

// pathRoutes returns the paths that a regular expression matches. Losses are where that is not quite the same.
func pathRoutes(expression string) (routes []pathRoute, losses []string, err error) {
	if len(expression) > maxPathExpression {
		return nil, nil, fmt.Errorf("its regular expression has more than %d octets", maxPathExpression)
	}
	e, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, nil, fmt.Errorf("its regular expression: %w", err)
	}
	parts := []*syntax.Regexp{e}
	if e.Op == syntax.OpConcat {
		parts = e.Sub
	}
	if parts[0].Op != syntax.OpBeginText && parts[0].Op != syntax.OpBeginLine {
		return nil, nil, errUnanchored
	}
	if strings.HasPrefix(expression, "(?i)") {
		losses = append(losses, "upper and lower case are one in its regular expression, and not in the registry")
	}
	w := routeWalk{routes: []pathRoute{{captures: map[string]string{}}}, losses: losses}
	for i, part := range parts[1:] {
		if err := w.part(part, parts[i+2:]); err != nil {
			return nil, nil, err
		}
		if w.ended {
			return w.routes, w.losses, nil
		}
	}
	return nil, nil, errOpenEnd
}

// routeWalk goes over the parts of an expression.
type routeWalk struct {
	routes []pathRoute
	losses []string
	ended  bool
}

func (w *routeWalk) part(part *syntax.Regexp, after []*syntax.Regexp) error {
	if part.Op == syntax.OpEndText || part.Op == syntax.OpEndLine {
		w.ended = true
		if len(after) > 0 {
			return errPathExpression
		}
		return nil
	}
	if number, name, ok := w.isRest(part); ok {
		return w.takeRest(number, name, after)
	}
	if w.optional(part) {
		return w.takeRest("", "", after)
	}
	texts, err := literals(part)
	if err != nil {
		return err
	}
	if len(texts)*len(w.routes) > maxRoutes {
		return fmt.Errorf("its regular expression has more than %d paths", maxRoutes)
	}
	var all []pathRoute
	for _, route := range w.routes {
		for _, text := range texts {
			next := pathRoute{path: route.path + text, captures: maps.Clone(route.captures)}
			if part.Op == syntax.OpCapture {
				next.captures[strconv.Itoa(part.Cap)] = text
				if part.Name != "" {
					next.captures[part.Name] = text
				}
			}
			all = append(all, next)
		}
	}
	w.routes = all
	return nil
}

// isRest reports whether a part is what follows a path.
func (w *routeWalk) isRest(part *syntax.Regexp) (number, name string, ok bool) {
	if part.Op == syntax.OpCapture {
		number, name, part = strconv.Itoa(part.Cap), part.Name, part.Sub[0]
	}
	if part.Op != syntax.OpStar && part.Op != syntax.OpPlus {
		return "", "", false
	}
	switch of := part.Sub[0]; of.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return number, name, true
	case syntax.OpCharClass:
		w.losses = append(w.losses, fmt.Sprintf("its regular expression has only %s after the path, and a prefix has all", part))
		return number, name, true
	default:
		return "", "", false
	}
}

// optional makes routes of a part such as (/.*)?: the path without it, and all that goes on by it. It reports whether it is one.
func (w *routeWalk) optional(part *syntax.Regexp) bool {
	if part.Op != syntax.OpQuest {
		return false
	}
	numbers := map[string]bool{}
	inside := func(e *syntax.Regexp) *syntax.Regexp {
		for e.Op == syntax.OpCapture {
			numbers[strconv.Itoa(e.Cap)] = true
			e = e.Sub[0]
		}
		return e
	}
	both := inside(part.Sub[0])
	if both.Op != syntax.OpConcat || len(both.Sub) != 2 || both.Sub[0].Op != syntax.OpLiteral {
		return false
	}
	outer := numbers
	numbers = map[string]bool{}
	if _, _, ok := w.isRest(inside(both.Sub[1])); !ok {
		return false
	}
	begin := string(both.Sub[0].Rune)
	for i := range w.routes {
		r := &w.routes[i]
		next := pathRoute{path: r.path + begin, captures: maps.Clone(r.captures)}
		r.whole = true
		for number := range outer {
			r.captures[number], next.captures[number] = "", begin+restMark
		}
		for number := range numbers {
			r.captures[number], next.captures[number] = "", restMark
		}
		w.routes = append(w.routes, next)
	}
	return true
}

// takeRest makes the routes those of all that begins with their paths.
func (w *routeWalk) takeRest(number, name string, after []*syntax.Regexp) error {
	for _, part := range after {
		isEnd := part.Op == syntax.OpEndText || part.Op == syntax.OpEndLine
		isSlash := part.Op == syntax.OpQuest && part.Sub[0].Op == syntax.OpLiteral && string(part.Sub[0].Rune) == "/"
		if !isEnd && !isSlash {
			return errPathExpression
		}
	}
	for i := range w.routes {
		r := &w.routes[i]
		if r.whole {
			continue
		}
		r.isPrefix = true
		if name != "" {
			r.captures[name] = restMark
		}
		if number != "" {
			r.captures[number] = restMark
		}
	}
	w.ended = true
	return nil
}

// restMark stands for the rest in a target; it is in no URI.
const restMark = "\x00"

// literals returns the texts that a part matches.
func literals(part *syntax.Regexp) ([]string, error) {
	switch part.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, nil
	case syntax.OpLiteral:
		if part.Flags&syntax.FoldCase != 0 {
			return []string{strings.ToLower(string(part.Rune))}, nil
		}
		return []string{string(part.Rune)}, nil
	case syntax.OpCapture:
		return literals(part.Sub[0])
	case syntax.OpQuest:
		texts, err := literals(part.Sub[0])
		return append([]string{""}, texts...), err
	case syntax.OpCharClass:
		return characters(part)
	case syntax.OpAlternate:
		return alternatives(part)
	case syntax.OpConcat:
		return sequences(part)
	default:
		return nil, errPathExpression
	}
}

// characters returns those of a class.
func characters(part *syntax.Regexp) (texts []string, err error) {
	for i := 0; i < len(part.Rune); i += 2 {
		for c := part.Rune[i]; c <= part.Rune[i+1]; c++ {
			if texts = append(texts, string(c)); len(texts) > maxRoutes {
				return nil, errPathExpression
			}
		}
	}
	return texts, nil
}

// alternatives returns the texts of all parts.
func alternatives(part *syntax.Regexp) (all []string, err error) {
	for _, sub := range part.Sub {
		texts, err := literals(sub)
		if err != nil {
			return nil, err
		}
		if all = append(all, texts...); len(all) > maxRoutes {
			return nil, errPathExpression
		}
	}
	return all, nil
}

// sequences returns the texts that parts make one after another.
func sequences(part *syntax.Regexp) ([]string, error) {
	all := []string{""}
	for _, sub := range part.Sub {
		texts, err := literals(sub)
		if err != nil {
			return nil, err
		}
		if len(all)*len(texts) > maxRoutes {
			return nil, errPathExpression
		}
		var next []string
		for _, before := range all {
			for _, text := range texts {
				next = append(next, before+text)
			}
		}
		all = next
	}
	return all, nil
}

// reference is a text of a target, or what a capture has.
type reference struct {
	text    string
	capture bool
}

// target returns the target of a route, with the captures in their places: a template where the rest is not at its end.
func (r *pathRoute) target(parts []reference) (string, error) {
	var b strings.Builder
	for _, part := range parts {
		if !part.capture {
			b.WriteString(part.text)
			continue
		}
		text, ok := r.captures[part.text]
		if !ok {
			return "", fmt.Errorf("its target has $%s, which nothing in the regular expression is", part.text)
		}
		b.WriteString(text)
	}
	if !r.isPrefix {
		return b.String(), nil
	}
	text := strings.NewReplacer("{", "%7B", "}", "%7D").Replace(b.String())
	switch before, after, ok := strings.Cut(text, restMark); {
	case !ok:
		return "", errOneTarget
	case strings.Contains(after, restMark):
		return "", errors.New("its target has the rest of the path twice")
	case after != "":
		return before + "{+suffix}" + after, nil
	default:
		return before, nil
	}
}

// references divides a target at its captures, such as $1, ${1} and ${name}.
func references(text string) ([]reference, error) {
	var all []reference
	for {
		before, after, ok := strings.Cut(text, "$")
		if before != "" {
			all = append(all, reference{text: before})
		}
		if !ok {
			return all, nil
		}
		n := 0
		for n < len(after) && isWordByte(after[n]) {
			n++
		}
		name, rest := after[:n], after[n:]
		if inner, tail, ok := strings.Cut(after, "}"); ok && strings.HasPrefix(inner, "{") {
			name, rest = inner[1:], tail
		} else if n > 0 && after[0] >= '0' && after[0] <= '9' { // $10 is $1 and a zero
			name, rest = after[:1], after[1:]
		}
		if name == "" || slices.ContainsFunc([]byte(name), func(b byte) bool { return !isWordByte(b) }) {
			return nil, errors.New("its target has a $ that begins no capture")
		}
		all = append(all, reference{name, true})
		text = rest
	}
}

func isWordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}
