package webserver

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// satisfies reports whether the value of a map line satisfies a condition on the variable of the map.
func (e *mapEntry) satisfies(words []string) bool {
	if len(words) == 1 {
		return e.value != "" && e.value != "0"
	}
	if len(words) != 3 {
		return false
	}
	switch words[1] {
	case "=":
		return e.value == words[2]
	case "!=":
		return e.value != words[2]
	case "~", "~*":
		expression := words[2]
		if words[1] == "~*" {
			expression = "(?i)" + expression
		}
		re, err := regexp.Compile(expression)
		return err == nil && re.MatchString(e.value)
	default:
		return false
	}
}

// conditionWords returns the words in the parentheses of an if.
func conditionWords(b *block) []string {
	words := slices.Clone(b.words[1:])
	if len(words) == 0 {
		return nil
	}
	words[0] = strings.TrimPrefix(words[0], "(")
	words[len(words)-1] = strings.TrimSuffix(words[len(words)-1], ")")
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) == 2 && (words[1] == "=" || words[1] == "!=") {
		words = append(words, "") // a comparison with an empty string
	}
	return words
}

// truth says whether a condition is true for the requests of its scope.
type truth uint8

const (
	sometimes truth = iota
	always
	never
)

// condition returns the scope of an if block.
func (n *nginx) condition(b *block, s scope) (scope, truth) { //nolint:cyclop // one case per form of conditions
	words := conditionWords(b)
	unknown := func() (scope, truth) {
		s.fail = fmt.Errorf("condition %.60s is not supported by the registry", strings.Join(words, " "))
		return s, sometimes
	}
	if len(words) == 1 && n.variableMap(words[0]) != nil {
		return s, sometimes
	}
	if len(words) != 3 {
		return unknown()
	}
	name, operator, value := strings.Trim(words[0], "${}"), words[1], words[2]
	if n.variableMap(words[0]) != nil {
		return s, sometimes
	}
	negated := strings.HasPrefix(operator, "!")
	expression := value
	switch strings.TrimPrefix(operator, "!") {
	case "=":
		expression = "^" + regexp.QuoteMeta(value) + "$"
	case "~*":
		expression = "(?i)" + value
	case "~":
	default:
		return unknown()
	}
	re, err := regexp.Compile(latin1(expression))
	if err != nil {
		return unknown()
	}
	constant, known := n.constant(name)
	switch {
	case known:
		if operator[len(operator)-1] != '=' {
			n.captures(re, constant, &s)
		}
		return s, map[bool]truth{true: always, false: never}[re.MatchString(constant) != negated]
	case name == "http_accept":
		mask := uint64(0)
		for bit, a := range n.accepts {
			if re.MatchString(a.header) != negated {
				mask |= 1 << bit
			}
		}
		s.mask &= mask
		s.unmapped = s.unmapped || !negated
		return s, sometimes
	case (name == "uri" || name == "document_uri" || name == "request_uri") && !negated && s.selected == nil:
		anyCase := operator == "~*"
		p, err := newPattern(strings.TrimPrefix(expression, "(?i)"), "", anyCase)
		if err != nil {
			return unknown()
		}
		if s = s.with(p, value); name == "request_uri" {
			s.raw = strings.TrimPrefix(expression, "(?i)")
		}
		return s, sometimes
	default:
		return unknown()
	}
}

// captures sets the captures of an expression over a constant. If it does not match, previous captures
// remain.
func (n *nginx) captures(re *regexp.Regexp, text string, s *scope) {
	captures := re.FindStringSubmatch(text)
	if captures == nil {
		return
	}
	s.unmapped, s.captures = true, captures
	for i, name := range re.SubexpNames() {
		if name != "" {
			n.constants[name] = captures[i]
		}
	}
}

// constant returns the value of a variable; the result is false if it depends on the request.
func (n *nginx) constant(name string) (string, bool) {
	switch name {
	case "host", "http_host", "server_name":
		return n.host, n.host != ""
	case "scheme":
		return n.scheme, n.scheme != ""
	case "https":
		return map[bool]string{true: "on"}[n.scheme == "https"], n.scheme != ""
	case "request_method":
		return "GET", true
	}
	if m := n.maps[name]; m != nil {
		value, ok := n.constant(m.source)
		if !ok || m.hosts {
			return "", false
		}
		for _, e := range m.entries {
			if e.pattern == nil && strings.EqualFold(e.key, value) || e.pattern != nil && e.pattern.MatchString(value) {
				return e.value, !strings.Contains(e.value, "$")
			}
		}
		if m.fallback == nil {
			return "", true
		}
		return m.fallback.value, !strings.Contains(m.fallback.value, "$")
	}
	value, ok := n.constants[name]
	return value, ok
}

// target splits a text at its variables. passes means that it ends with the query of the request.
func (n *nginx) target(text string, s scope) (all []part, passes bool, err error) {
	if s.selected != nil {
		text = replaceVariable(text, s.variable, s.selected.value)
	}
	for text != "" {
		before, after, ok := strings.Cut(text, "$")
		all = append(all, part{text: before})
		if !ok {
			break
		}
		name, rest := variableName(after)
		switch {
		case passes:
			return nil, false, errors.New("target with text after the query of the request")
		case name == "request_uri":
			passes = true
			all = append(all, part{all: true})
		case name == "is_args" && (rest == "$args" || rest == "$query_string"):
			passes, rest = true, ""
		default:
			p, ok := n.variable(name, s)
			if !ok {
				return nil, false, fmt.Errorf("target with the server variable $%.40s", name)
			}
			all = append(all, p)
		}
		text = rest
	}
	all = slices.DeleteFunc(joined(all), func(p part) bool { return !p.group && !p.all && p.text == "" })
	if passes && strings.Contains(texts(all), "?") {
		return all, passes, errors.New("target with a query before the query of the request")
	}
	return all, passes, nil
}

// variableName parses a variable after its dollar sign, and returns the name and the rest of the text.
func variableName(text string) (name, rest string) {
	i := 0
	for i < len(text) && (isAlphanumeric(text[i]) || text[i] == '_') {
		i++
	}
	if inner, tail, ok := strings.Cut(text, "}"); ok && strings.HasPrefix(inner, "{") {
		return inner[1:], tail
	}
	if i > 0 && '0' <= text[0] && text[0] <= '9' { // $10 is $1 followed by a zero
		i = 1
	}
	return text[:i], text[i:]
}

// variable returns the part of a target for a variable; the result is false if it is unknown.
func (n *nginx) variable(name string, s scope) (part, bool) {
	if constant, ok := n.constant(name); ok {
		return part{text: constant}, true
	}
	switch {
	case name == "uri" || name == "document_uri":
		return part{all: true}, true
	case name == "":
		return part{}, false
	case len(name) == 1 && '1' <= name[0] && name[0] <= '9':
		if n.captured && !s.unmapped && s.pattern.NumSubexp() == 0 {
			return part{}, false
		}
		if i := int(name[0] - '0'); s.unmapped && i < len(s.captures) {
			return part{text: s.captures[i]}, true
		}
		if s.unmapped { // by an expression without captures
			return part{}, true
		}
		return captureOf(name[0]), true
	}
	named := s.pattern.SubexpIndex(name)
	return part{group: true, capture: named}, named > 0
}

// nginxTypes returns the media types in conditions on Accept.
func nginxTypes(list []*block, types []string) []string {
	for _, b := range list {
		words := conditionWords(b)
		if b.name() == "if" && len(words) == 3 && strings.Trim(words[0], "${}") == "http_accept" {
			types = append(types, mediaTypes(words[2])...)
		}
		types = nginxTypes(b.children, types)
	}
	return types
}
