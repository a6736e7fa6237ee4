package testserver

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// slpPredicate reports whether a service with these attributes matches.
type slpPredicate func(attributes map[string][]string) bool

// parseSLPPredicate parses the predicate of a SrvRqst (RFC 2608, section 8.1): a
// filter of LDAPv3 (RFC 2254, section 4) with values of section 5. Opaque values
// and extensible matches are not supported.
func parseSLPPredicate(text string) (matches slpPredicate, ok bool) {
	if text == "" {
		return func(map[string][]string) bool { return true }, true
	}
	matches, rest, ok := parseSLPFilter(text, false)
	return matches, ok && rest == "" && utf8.ValidString(text)
}

// parseSLPFilter parses one filter, negated or not. Negation is applied to the
// comparisons, as these are made value by value: in section 8.1, (!(Y=0)) matches
// y=0,1.
func parseSLPFilter(text string, negated bool) (matches slpPredicate, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, "(")
	if !ok || text == "" {
		return nil, "", false
	}
	switch text[0] {
	case '!':
		matches, rest, ok = parseSLPFilter(text[1:], !negated)
	case '&', '|':
		matches, rest, ok = parseSLPFilters(text[1:], (text[0] == '&') != negated, negated)
	default:
		item, _, _ := strings.Cut(text, ")")
		rest = text[len(item):]
		matches, ok = parseSLPItem(item, negated)
	}
	rest, closed := strings.CutPrefix(rest, ")")
	return matches, rest, ok && closed
}

// parseSLPFilters parses one or more filters, of which all or any must match.
func parseSLPFilters(text string, all, negated bool) (matches slpPredicate, rest string, ok bool) {
	var list []slpPredicate
	for rest = text; strings.HasPrefix(rest, "("); {
		var filter slpPredicate
		if filter, rest, ok = parseSLPFilter(rest, negated); !ok {
			return nil, "", false
		}
		list = append(list, filter)
	}
	return func(attributes map[string][]string) bool {
		for _, filter := range list {
			if filter(attributes) != all {
				return !all
			}
		}
		return all
	}, rest, len(list) > 0
}

// parseSLPItem parses a comparison, such as tag=value, tag<=value or tag=*.
func parseSLPItem(text string, negated bool) (matches slpPredicate, ok bool) {
	tag, value, ok := strings.Cut(text, "=")
	if !ok || value == "" {
		return nil, false
	}
	operator := byte('=')
	if last := len(tag) - 1; last >= 0 && strings.IndexByte("<>~", tag[last]) >= 0 {
		tag, operator = tag[:last], tag[last]
	}
	tag, ok = unescapeSLP(tag, slpReserved+"*_") // section 5 calls the last a bad-tag
	if tag = foldSLP(tag); !ok || tag == "" {
		return nil, false
	}
	parts := strings.Split(value, "*")
	for i := range parts {
		if parts[i], ok = unescapeSLP(parts[i], slpReserved+"*"); !ok {
			return nil, false
		}
	}
	if len(parts) > 1 && operator != '=' { // section 8.1
		return nil, false
	}
	compare := comparison(operator, parts)
	return func(attributes map[string][]string) bool {
		values, present := slpValues(attributes, tag)
		if value == "*" || len(values) == 0 {
			return (value == "*" && present) != negated
		}
		return slices.ContainsFunc(values, func(v string) bool { return compare(foldSLP(v)) != negated })
	}, true
}

// comparison returns a function that compares a folded value with the parts between
// the wildcards.
func comparison(operator byte, parts []string) func(registered string) bool {
	if len(parts) == 1 {
		requested := foldSLP(parts[0])
		return func(registered string) bool { return compareSLP(registered, operator, requested) }
	}
	// White space at the ends of a part is significant, except at the ends of the whole.
	for i := range parts {
		parts[i] = foldSLPPart(parts[i])
	}
	last := len(parts) - 1
	parts[0], parts[last] = strings.TrimLeft(parts[0], " "), strings.TrimRight(parts[last], " ")
	return func(registered string) bool { return globSLP(registered, parts) }
}

// slpValues returns the values of an attribute by its folded tag.
func slpValues(attributes map[string][]string, tag string) (values []string, present bool) {
	for name, list := range attributes {
		if foldSLP(name) == tag {
			values, present = append(values, list...), true
		}
	}
	return values, present
}

// globSLP reports whether a value consists of the parts with any text between them. Wildcards are for strings,
// not for "3432" or "true" (section 8.1).
func globSLP(value string, parts []string) bool {
	if slpKind(value) != slpString {
		return false
	}
	value, ok := strings.CutPrefix(value, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		if _, value, ok = strings.Cut(value, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(value, parts[last])
}

// compareSLP compares by the rules of section 5: values of different types are
// neither equal nor ordered.
func compareSLP(registered string, operator byte, requested string) bool {
	kind := slpKind(registered)
	if kind != slpKind(requested) {
		return false
	}
	order := strings.Compare(registered, requested)
	if kind == slpInteger {
		a, _ := strconv.Atoi(registered) // slpKind has checked both
		b, _ := strconv.Atoi(requested)
		order = cmp.Compare(a, b)
	}
	switch operator {
	case '<':
		return order <= 0 && kind != slpBoolean
	case '>':
		return order >= 0 && kind != slpBoolean
	default: // RFC 2251, section 4.5.1, lets ~= be =
		return order == 0
	}
}

const (
	slpString = iota
	slpInteger
	slpBoolean
)

// slpKind returns the type of a folded value, which is determined by its form (section 5).
func slpKind(value string) int {
	if value == "true" || value == "false" {
		return slpBoolean
	}
	if _, err := strconv.ParseInt(value, 10, 32); err == nil && value[0] != '+' {
		return slpInteger
	}
	return slpString
}
