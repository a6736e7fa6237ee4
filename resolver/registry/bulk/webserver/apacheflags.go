package webserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// apacheWords splits the arguments of a directive. Words may be quoted by " or ', and a backslash escapes the
// quote or a backslash.
func apacheWords(text string) (words []string, err error) { //nolint:cyclop // one case per character
	for text = strings.TrimLeft(text, " \t"); text != ""; text = strings.TrimLeft(text, " \t") {
		quote := byte(0)
		if text[0] == '"' || text[0] == '\'' {
			quote, text = text[0], text[1:]
		}
		var b strings.Builder
		i, ended := 0, false
		for ; i < len(text) && !ended; i++ {
			c := text[i]
			switch {
			case quote != 0 && c == quote, quote == 0 && (c == ' ' || c == '\t'):
				ended = true
			case c == '\\' && i+1 < len(text) && (text[i+1] == '\\' || quote != 0 && text[i+1] == quote):
				i++
				b.WriteByte(text[i])
			default:
				b.WriteByte(c)
			}
		}
		if quote != 0 && !ended {
			return nil, errors.New("quotation mark not closed")
		}
		words, text = append(words, b.String()), text[i:]
	}
	return words, nil
}

// rewriteWords splits the arguments of a directive of mod_rewrite, in which a backslash before a space is
// preserved as a part of the expression.
func rewriteWords(text string) (words []string, err error) { //nolint:cyclop // one case per character
	for text = strings.TrimLeft(text, " \t"); text != ""; text = strings.TrimLeft(text, " \t") {
		quote := byte(0)
		if text[0] == '"' || text[0] == '\'' {
			quote, text = text[0], text[1:]
		}
		i := 0
		for ; i < len(text); i++ {
			isSpace := text[i] == ' ' || text[i] == '\t'
			if quote == 0 && isSpace || quote != 0 && text[i] == quote {
				break
			}
			if text[i] == '\\' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\t') {
				i++
			}
		}
		i = min(i, len(text))
		words = append(words, text[:i])
		text = text[min(i+1, len(text)):]
	}
	if len(words) < 2 || len(words) > 3 {
		return nil, errors.New("expected two or three arguments: quote spaces in them, flags have none")
	}
	return words, nil
}

// rewriteFlags are the relevant flags of a RewriteRule.
type rewriteFlags struct {
	status                                   int // of R, G and F; 0 for none
	last, noEscape, anyCase, append, discard bool
	escaped, chained                         bool
	skip                                     int
	err                                      error // an unsupported flag
}

// newRewriteFlags parses flags such as [R=303,L].
func newRewriteFlags(text string) (f rewriteFlags, err error) { //nolint:cyclop // one case per flag
	inner, ok := strings.CutPrefix(text, "[")
	if inner, ok2 := strings.CutSuffix(inner, "]"); ok && ok2 {
		text = inner
	} else {
		return f, errors.New("flags without brackets")
	}
	for flag := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.Trim(flag, " \t"), "=")
		switch strings.ToUpper(name) {
		case "L", "LAST", "END":
			f.last = true
		case "R", "REDIRECT":
			switch status := statusOf(value); {
			case value == "" && f.status == 0:
				f.status = http.StatusFound
			case value != "" && status == 0:
				return f, fmt.Errorf("invalid status %.20q", value)
			case value != "":
				f.status = status
			}
		case "G", "GONE":
			f.status = http.StatusGone
		case "F", "FORBIDDEN":
			f.status = http.StatusForbidden
		case "NE", "NOESCAPE":
			f.noEscape = true
		case "NC", "NOCASE":
			f.anyCase = true
		case "QSA", "QSAPPEND":
			f.append = true
		case "QSD", "QSDISCARD":
			f.discard = true
		case "B":
			f.escaped = true
		case "C", "CHAIN":
			f.chained = true
		case "S", "SKIP":
			if f.skip, err = strconv.Atoi(value); err != nil || f.skip < 0 {
				return f, fmt.Errorf("flag S=%.20s without a number", value)
			}
		case "", "DPI", "DISCARDPATH", "E", "ENV", "NS", "NOSUBREQ", "UNSAFEALLOW3F", "UNSAFEPREFIXSTAT", "H",
			"HANDLER", "T", "TYPE":
		default:
			f.err = fmt.Errorf("flag %.40s is not supported by the registry", name)
		}
	}
	return f, nil
}

// rewriteRule converts a RewriteRule, adds it to its context and returns it; nil if it has no effect.
func (a *apache) rewriteRule(d *directive, c *apacheContext, words []string) *apacheRule { //nolint:cyclop // the flags of a rule
	r := &apacheRule{rule: rule{
		line: d.line, input: d.text, mask: ^uint64(0), dir: c.dir,
		finish: func(text string) string { return text },
	}, expression: words[0]}
	var err error
	if len(words) == 3 {
		if r.flags, err = newRewriteFlags(words[2]); err != nil {
			c.refuse(d)
		}
	}
	f := r.flags
	expression, negated := strings.CutPrefix(words[0], "!")
	if err == nil && negated {
		err = errors.New("negated pattern")
	}
	if err == nil {
		r.pattern, err = newPattern(expression, c.dir, f.anyCase)
	}
	if err != nil {
		r.expression, r.pattern = "", &pattern{Regexp: matchesAll(), routes: []route{everything(c.dir, err)}}
	}
	r.fail = err
	noFail := func(err error) {
		if r.fail == nil {
			r.fail = err
		}
	}
	noFail(f.err)
	a.conditions(&r.rule, c.conds)
	isNothing := words[1] == "-" && f.status == 0
	switch {
	case c.chain != nil:
		noFail(fmt.Errorf("chained to the rule of line %d", c.chain.line))
		r.pattern, r.except = c.chain.pattern, nil
	case c.skip > 0:
		c.skip--
		noFail(errors.New("may be skipped by the flag S of an earlier rule"))
	}
	if f.chained {
		noFail(errors.New("chained to the following rule"))
		if c.chain == nil {
			c.chain = r
		}
	} else {
		c.chain = nil
	}
	if isNothing && f.skip > 0 && r.never == nil {
		c.skip = max(c.skip, f.skip)
	}
	switch {
	case isNothing && !f.last && !f.chained && err == nil && f.err == nil:
		if f.skip == 0 {
			return nil
		}
		a.list(d, errors.New("skipping of rules is not supported by the registry"))
		return nil
	case isNothing:
		noFail(errors.New("no redirect: the server responds itself"))
	case f.skip > 0:
		noFail(errors.New("flag S: skipping of rules is not supported by the registry"))
	}
	a.target(r, c, words[1])
	c.rewrite = append(c.rewrite, r)
	return r
}

// target parses the substitution of a rule.
func (a *apache) target(r *apacheRule, c *apacheContext, text string) { //nolint:cyclop // one case per form of targets
	f := r.flags
	if r.status = f.status; r.status != 0 && !r.redirects() {
		return // the substitution is ignored
	}
	target, err := a.substitution(text, c.conds)
	if err != nil && r.fail == nil {
		r.fail = err
	}
	r.target = target
	begin := ""
	if len(target) > 0 && !target[0].group && !target[0].all {
		begin = target[0].text
	}
	_, rest, isURL := strings.Cut(begin, "://")
	server, _, _ := strings.Cut(rest, "/")
	isURL = isURL && isAbsolute(begin)
	switch {
	case r.fail != nil:
	case isURL && r.status == 0 && strings.EqualFold(server, a.host):
		r.fail = errors.New("internal rewrite (no flag R): the other rules of the server apply to the target")
	case isURL:
		if r.status == 0 {
			r.status = http.StatusFound
		}
	case r.status == 0:
		r.fail = errors.New("internal rewrite (no flag R): the other rules of the server apply to the target")
	case strings.HasPrefix(begin, "/") || len(target) > 0 && target[0].all:
		r.target = joined(append([]part{{text: a.origin}}, target...))
	default:
		base := c.base
		if base == "" && c.dir == "" {
			base = "/"
		}
		if base == "" {
			r.fail = errors.New("no RewriteBase: the target is a path of the file system")
		}
		r.target = joined(append([]part{{text: a.origin + base}}, target...))
	}
	r.goes = !f.last
	a.query(r)
}

// query sets how a rule treats the query of a request, and how its location is encoded.
func (a *apache) query(r *apacheRule) { //nolint:cyclop // one case per combination of flags
	f := r.flags
	literal := texts(r.target)
	hasCapture := slices.ContainsFunc(r.target, func(p part) bool { return p.group })
	path, own, has := strings.Cut(literal, "?")
	fragment := f.noEscape && strings.Contains(path, "#")
	switch {
	case r.fail != nil:
	case f.escaped && hasCapture:
		r.fail = errors.New("flag B encodes a part of the path again")
	case f.noEscape && r.hasPrefix() &&
		slices.ContainsFunc(r.target, func(p part) bool { return strings.Contains(p.text, "?") }):
		r.fail = errors.New("flag NE: the server rejects paths with a space in the query of the target")
	case has && f.append && (own == "" || f.noEscape && strings.Contains(literal, "#")):
		r.fail = errors.New("flag QSA: its effect on a query is not supported by the registry")
	case has && !f.append, f.discard:
		r.query = queryDropped
	case !has && fragment:
		r.query = queryLast
	}
	r.finish = func(text string) string {
		path, query, _ := strings.Cut(text, "?")
		if !f.noEscape {
			scheme, rest, _ := strings.Cut(path, "://")
			server, below, ok := strings.Cut(rest, "/")
			if path = scheme + "://" + server; ok {
				path += "/" + escape(below, apacheKeeps)
			}
			query = escape(query, apacheKeeps)
		}
		if query != "" {
			path += "?" + query
		}
		return path
	}
}

// hasPrefix reports whether the target contains a variable part of the path.
func (r *rule) hasPrefix() bool {
	return slices.ContainsFunc(r.target, func(p part) bool { return p.group || p.all }) &&
		slices.ContainsFunc(r.pattern.routes, func(of route) bool { return of.prefix && !of.stray })
}

// substitution splits a substitution at its captures and variables. %1 is a capture of the last condition.
func (a *apache) substitution(text string, conds []condition) (all []part, err error) { //nolint:cyclop // one case per reference
	for i := 0; i < len(text); i++ {
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		isDigit := '0' <= next && next <= '9'
		switch c := text[i]; {
		case c == '\\' && next != 0:
			i++
			all = append(all, part{text: text[i : i+1]})
		case c == '$' && isDigit:
			i++
			all = append(all, captureOf(next))
		case c == '%' && isDigit:
			i++
			var last condition
			if len(conds) > 0 {
				last = conds[len(conds)-1]
			}
			switch n := int(next - '0'); {
			case len(conds) > 0 && (last.parts == nil ||
				slices.ContainsFunc(conds, func(c condition) bool { return c.or })):
				return nil, errors.New("target with a back-reference to a condition")
			case n < len(last.parts):
				all = append(all, part{text: last.parts[n]})
			}
		case (c == '$' || c == '%') && next == '{':
			end := strings.IndexByte(text[i:], '}')
			name := text[i:min(i+max(end, 0)+1, len(text))]
			p, ok := a.variable(name)
			if end < 0 || !ok {
				return nil, fmt.Errorf("target with the server variable %.60s", text[i:])
			}
			all = append(all, p)
			i += end
		default:
			all = append(all, part{text: text[i : i+1]})
		}
	}
	return joined(all), nil
}

// variable returns the part for a variable: a constant, or the path. The result is false if it depends on the
// request in another way.
func (a *apache) variable(name string) (part, bool) {
	switch strings.ToUpper(name) {
	case "%{REQUEST_URI}":
		return part{all: true}, true
	case "%{HTTP_HOST}", "%{SERVER_NAME}", "%{HTTP:HOST}":
		return part{text: a.host}, true
	case "%{REQUEST_SCHEME}":
		return part{text: a.scheme}, true
	case "%{HTTPS}":
		return part{text: map[bool]string{true: "on", false: "off"}[a.scheme == "https"]}, true
	case "%{SERVER_PORT}":
		return part{text: map[bool]string{true: "443", false: "80"}[a.scheme == "https"]}, true
	case "%{REQUEST_METHOD}":
		return part{text: http.MethodGet}, true
	case "%{ENV:REDIRECT_STATUS}":
		return part{}, true
	default:
		return part{}, false
	}
}

// isAbsolute reports whether a text begins with a scheme (RFC 3986 section 3.1).
func isAbsolute(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return ok && scheme != "" && strings.IndexFunc(scheme, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.'
	}) < 0
}
