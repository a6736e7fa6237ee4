package httpcache

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// selector is a field of the request that a response was selected by: RFC 9111 section 4.1.
type selector struct {
	name, value string // in normal form
	line        string // the field, where it was one line: most requests have the same
}

// newSelector returns the selector of a field of a request.
func newSelector(name string, lines []string) selector {
	one := selector{name: name, value: normalValue(name, lines)}
	if len(lines) == 1 {
		one.line = lines[0]
	}
	return one
}

// matches reports whether a field of a request has the same meaning.
func (s selector) matches(lines []string) bool {
	return len(lines) == 1 && lines[0] == s.line && s.line != "" || normalValue(s.name, lines) == s.value
}

// selectsSame reports whether the same requests match both.
func (s selector) selectsSame(other selector) bool {
	return s.name == other.name && s.value == other.value
}

// variesAlways reports whether Vary has a member "*", so that no request matches.
func variesAlways(header http.Header) bool {
	for _, line := range header["Vary"] {
		for name := range strings.SplitSeq(line, ",") {
			if trimSpace(name) == "*" {
				return true
			}
		}
	}
	return false
}

// selectorsOf returns the selectors of a response to a request, in the order of their names.
func selectorsOf(response, request http.Header) []selector {
	lines := response["Vary"]
	if len(lines) == 0 {
		return nil
	}
	var selectors []selector
	for _, line := range lines {
		for name := range strings.SplitSeq(line, ",") {
			if name = trimSpace(name); name == "" {
				continue
			}
			name = http.CanonicalHeaderKey(name)
			if !slices.ContainsFunc(selectors, func(s selector) bool { return s.name == name }) {
				selectors = append(selectors, newSelector(name, request[name]))
			}
		}
	}
	slices.SortFunc(selectors, func(a, b selector) int { return strings.Compare(a.name, b.name) })
	return selectors
}

// absent stands for a field that a request does not have: RFC 9111 section 4.1 matches it with
// itself only.
const absent = "\x00"

// normalValue returns a value such that equal ones have the same meaning: lines are combined,
// white space does not count, and of the fields for content negotiation neither do the order and
// the case of members, as far as their syntax says so.
func normalValue(name string, lines []string) string {
	if len(lines) == 0 {
		return absent
	}
	negotiated := isNegotiated(name)
	if len(lines) == 1 && !negotiated && !strings.ContainsAny(lines[0], ", \t") {
		return lines[0]
	}
	value := strings.Join(lines, ",")
	members, closed := split(value, true)
	if !closed {
		return value
	}
	if negotiated {
		for i, member := range members {
			members[i] = normalMember(member)
		}
		members = slices.DeleteFunc(members, func(member string) bool { return member == "" })
		slices.Sort(members)
	}
	return strings.Join(members, ",")
}

// isNegotiated reports whether a field is a list of alternatives with weights, whose order does
// not count: RFC 9110 section 12.5.
func isNegotiated(name string) bool {
	return name == "Accept-Encoding" || name == "Accept-Language" || name == "Accept" || name == "Accept-Charset"
}

// normalMember returns a member of a field for content negotiation with its name and weight in lower
// case, without the white space around its parameters, and without a weight of 1.
func normalMember(member string) string {
	if strings.Contains(member, `"`) { // a parameter of a media type may be a quoted-string
		return member
	}
	parts := strings.Split(member, ";")
	normal := parts[:0]
	for _, part := range parts {
		part = trimSpace(part)
		lower := asciiLower(part)
		switch {
		case lower == "q=1", strings.TrimRight(lower, "0") == "q=1.", part == "":
		case len(normal) == 0, strings.HasPrefix(lower, "q="):
			normal = append(normal, lower)
		default: // the case of a value may count
			normal = append(normal, part)
		}
	}
	return strings.Join(normal, ";")
}

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// split returns the members of a list, without empty ones, and whether its last quoted-string ends:
// RFC 9110 section 5.6.1. A comma in a quoted-string separates none. A backslash in one escapes,
// except in an entity tag.
func split(value string, escapes bool) (members []string, closed bool) {
	quoted, start := false, 0
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted && escapes:
			i++
		case c == ',' && !quoted:
			members = appendMember(members, value[start:i])
			start = i + 1
		}
	}
	return appendMember(members, value[start:]), !quoted
}

// appendMember appends a member that is not empty.
func appendMember(members []string, text string) []string {
	if text = trimSpace(text); text == "" {
		return members
	}
	return append(members, text)
}

// Lines returns the lines of a field of a request, by the name that http.Header has it by; none where it is
// missing. Neither the lines nor their texts are retained.
type Lines func(name string) []string

// linesOf returns the lines of a header.
func linesOf(header http.Header) Lines { return func(name string) []string { return header[name] } }

// matches reports whether a request selects a stored response.
func (s *stored) matches(request Lines) bool {
	for _, one := range s.selectors {
		lines := request(one.name)
		if one.matches(lines) {
			continue
		}
		if one.name != "Accept-Language" || !prefersLanguage(lines, s.header["Content-Language"]) {
			return false
		}
	}
	return true
}

// prefersLanguage reports whether what a request likes best of all is the one language that a
// response is in: whoever chose that for another request would choose it for this one.
func prefersLanguage(accept, content []string) bool {
	if len(content) != 1 || len(accept) == 0 {
		return false
	}
	best, top, alone := "", -1.0, false
	members, _ := split(strings.Join(accept, ","), true)
	for _, member := range members {
		language, parameters, _ := strings.Cut(normalMember(member), ";")
		weight := 1.0
		if text, ok := strings.CutPrefix(parameters, "q="); ok {
			var err error
			if weight, err = strconv.ParseFloat(text, 64); err != nil || !(weight >= 0 && weight <= 1) {
				return false
			}
		}
		switch {
		case weight > top:
			best, top, alone = language, weight, true
		case weight == top:
			alone = false
		}
	}
	return alone && top > 0 && strings.EqualFold(best, trimSpace(content[0]))
}
