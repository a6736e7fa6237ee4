package webserver

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// condition is a RewriteCond.
type condition struct {
	mask    uint64 // bit mask of the samples of Accept for which it is true
	or      bool   // combined with the next condition by OR
	browser bool   // tests User-Agent
	paths   *pattern
	parts   []string // its captures, if the tested text is a constant
	err     error    // why it cannot be evaluated
}

// apacheTypes returns the media types in conditions on Accept.
func apacheTypes(d *directive, types []string) []string {
	for _, child := range d.children {
		types = apacheTypes(child, types)
		words, err := rewriteWords(child.rest)
		if child.name == "rewritecond" && err == nil && isAccept(words[0]) {
			types = append(types, mediaTypes(words[1])...)
		}
	}
	return types
}

func isAccept(test string) bool {
	return strings.EqualFold(test, "%{HTTP_ACCEPT}") || strings.EqualFold(test, "%{HTTP:Accept}")
}

// mediaTypes returns the media types in an expression over Accept.
func mediaTypes(expression string) (types []string) {
	if len(expression) > maxExpression {
		return nil
	}
	e, err := syntax.Parse(latin1(strings.TrimPrefix(expression, "!")), syntax.Perl)
	if err != nil {
		return nil
	}
	for _, pieces := range new(expander).expand(e) {
		text := ""
		for _, p := range append(pieces, piece{many: e}) {
			if p.many == nil {
				text += p.text
				continue
			}
			types = append(types, strings.ToLower(text))
			text = ""
		}
	}
	return types
}

// condition parses a RewriteCond.
func (a *apache) condition(words []string) (c condition) { //nolint:cyclop // one case per form of conditions
	anyCase := false
	if len(words) == 3 {
		for flag := range strings.SplitSeq(strings.Trim(words[2], "[]"), ",") {
			switch strings.ToUpper(strings.TrimSpace(flag)) {
			case "OR", "ORNEXT":
				c.or = true
			case "NC", "NOCASE":
				anyCase = true
			}
		}
	}
	expression, negated := strings.CutPrefix(words[1], "!")
	c.browser = strings.EqualFold(words[0], "%{HTTP_USER_AGENT}")
	c.err = fmt.Errorf("condition on %.60s is not supported by the registry", words[0])
	if expression == "" || strings.ContainsRune("<>=-", rune(expression[0])) && !strings.HasPrefix(expression, "-?") {
		if strings.HasPrefix(expression, "=") {
			expression = "^" + regexp.QuoteMeta(strings.Trim(expression[1:], `"`)) + "$"
		} else {
			return c
		}
	}
	if anyCase {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(latin1(expression))
	if err != nil {
		return c
	}
	set := func(bit int, text string) {
		if re.MatchString(text) != negated {
			c.mask |= 1 << bit
		}
	}
	switch value, ok := a.constant(words[0]); {
	case isAccept(words[0]):
		for bit, accepted := range a.accepts {
			set(bit, accepted.header)
		}
	case ok:
		for bit := range 64 {
			set(bit, value)
		}
		if !negated {
			c.parts = re.FindStringSubmatch(value)
		}
	case strings.EqualFold(words[0], "%{REQUEST_URI}") && negated:
		if c.paths, err = newPattern(strings.TrimPrefix(expression, "(?i)"), "", anyCase); err != nil {
			return c
		}
		if slices.ContainsFunc(c.paths.routes, func(r route) bool { return r.prefix }) {
			return c
		}
		c.mask = ^uint64(0)
	default:
		return c
	}
	c.err = nil
	return c
}

// constant expands a text of variables; the result is false if it depends on the request.
func (a *apache) constant(text string) (string, bool) {
	parts, err := a.substitution(text, []condition{{}})
	varies := slices.ContainsFunc(parts, func(p part) bool { return p.group || p.all })
	return texts(parts), err == nil && !varies
}

// conditions applies the conditions of a rule. All have to be true; of a group joined by OR, one.
func (a *apache) conditions(r *rule, conds []condition) { //nolint:cyclop // one case per group
	for len(conds) > 0 {
		n := 0
		for n < len(conds)-1 && conds[n].or {
			n++
		}
		group := conds[:n+1]
		conds = conds[n+1:]
		mask, known := uint64(0), 0
		var err error
		for _, c := range group {
			switch {
			case c.err != nil && !c.browser:
				err = c.err
			case c.err != nil:
			case c.paths != nil && len(group) > 1:
				err = errors.New("condition on %{REQUEST_URI} is not supported by the registry")
			case c.paths != nil:
				r.exclude(c.paths)
			}
			if c.err == nil {
				known++
			}
			mask |= c.mask
		}
		switch {
		case err == nil && known == 0:
			err = group[0].err
		case err == nil && known < len(group):
			r.unmapped = append(r.unmapped, "condition on User-Agent: only the media types are imported")
		}
		if err != nil {
			if r.fail == nil {
				r.fail = err
			}
			continue
		}
		r.mask &= mask
	}
	if r.mask&(1<<len(a.accepts)-1) == 0 && r.fail == nil {
		r.never = errors.New("conditions are never true at this address")
	}
}

// exclude excludes paths from a rule.
func (r *rule) exclude(paths *pattern) {
	before := r.except
	r.except = func(path string) bool { return before != nil && before(path) || paths.MatchString(latin1(path)) }
	r.pattern = &pattern{r.pattern.Regexp, append(slices.Clone(r.pattern.routes), paths.routes...)}
}
