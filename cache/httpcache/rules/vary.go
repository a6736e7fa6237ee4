package rules

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Selector is a field of the request that a response was selected by: RFC 9111 section 4.1.
type Selector struct {
	Name, Value string // in normal form
	Line        string // the field, where it was one line: most requests have the same
}

// never is a selector that no request matches: no value has a NUL, RFC 9110 section 5.5.
const never = "\x00*"

// maxSelectors bounds the fields that select a response: one that names more is not stored.
const maxSelectors = 32

// NewSelector returns the selector of a field of a request.
func NewSelector(name string, lines []string) Selector {
	one := Selector{Name: name, Value: normalValue(name, lines)}
	if len(lines) == 1 {
		one.Line = lines[0]
	}
	return one
}

// selectsSame reports whether the same requests match both.
func (s Selector) selectsSame(other Selector) bool {
	return s.Name == other.Name && s.Value == other.Value
}

// variesAlways reports whether no request matches: Vary has a member "*", or more names than are compared.
func variesAlways(header httpmessage.Fields) bool {
	names := 0
	for name := range membersOf(header.Lines("Vary")) {
		if names++; name == "*" || names > maxSelectors {
			return true
		}
	}
	return false
}

// membersOf returns the members of a list without quoted-strings, without empty ones: RFC 9110 section 5.6.1.
func membersOf(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			for member := range strings.SplitSeq(line, ",") {
				if member = trimSpace(member); member != "" && !yield(member) {
					return
				}
			}
		}
	}
}

// SelectorsOf returns the selectors of a response to a request, in the order of their names. They hold no
// memory of the response.
func SelectorsOf(response, request httpmessage.Fields) []Selector {
	if variesAlways(response) {
		return []Selector{{Name: "*", Value: never}}
	}
	var selectors []Selector
	for name := range membersOf(response.Lines("Vary")) {
		name = strings.Clone(http.CanonicalHeaderKey(name))
		if !slices.ContainsFunc(selectors, func(s Selector) bool { return s.Name == name }) {
			selectors = append(selectors, NewSelector(name, request.Lines(name)))
		}
	}
	slices.SortFunc(selectors, func(a, b Selector) int { return strings.Compare(a.Name, b.Name) })
	return selectors
}

// Absent stands for a field that a request does not have: RFC 9111 section 4.1 matches it with
// itself only.
const Absent = "\x00"

// normalValue returns a value such that equal ones have the same meaning: lines are combined,
// white space does not count, and of the fields for content negotiation neither do the order and
// the case of members, as far as their syntax says so. A value that is longer than any that programs
// send is as it is: it has the meaning of its own bytes alone.
func normalValue(name string, lines []string) string {
	if len(lines) == 0 {
		return Absent
	}
	if tooLong(lines) {
		return strings.Join(lines, ",")
	}
	negotiated := httpmessage.UseOf(name)&httpmessage.Weighted != 0
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

const (
	maxNormalBytes   = 1 << 10
	maxNormalMembers = 64
)

// tooLong reports whether a value is too long to be made normal. A normal value is never as long, so that it
// is not taken for one that is.
func tooLong(lines []string) bool {
	size, members := 0, 0
	for _, line := range lines {
		if size += len(line) + len(","); size > maxNormalBytes {
			return true
		}
		members += strings.Count(line, ",") + 1
	}
	return members > maxNormalMembers
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
	isUpper := func(c rune) bool { return 'A' <= c && c <= 'Z' }
	if strings.IndexFunc(s, isUpper) < 0 {
		return s
	}
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
	closed = true
	for value != "" {
		var member string
		member, value, closed = cutMember(value, escapes)
		members = appendMember(members, member)
	}
	return members, closed
}

// cutMember returns the first member of a list as split does, which may be empty, what is behind it, and whether its
// quoted-strings end.
func cutMember(value string, escapes bool) (member, rest string, closed bool) {
	quoted := false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted && escapes:
			i++
		case c == ',' && !quoted:
			return value[:i], value[i+1:], true
		}
	}
	return value, "", !quoted
}

// appendMember appends a member that is not empty.
func appendMember(members []string, text string) []string {
	if text = trimSpace(text); text == "" {
		return members
	}
	return append(members, text)
}

// SelectedBy reports whether all of some fields select a stored response.
func (s *Response) SelectedBy(names []string) bool {
	for _, name := range names {
		if !slices.ContainsFunc(s.Selectors, func(one Selector) bool { return one.Name == name }) {
			return false
		}
	}
	return true
}

// SelectsSame reports whether a response was not selected by a field, or by one that means the same as that of a request.
func (s *Response) SelectsSame(name string, request httpmessage.Fields) bool {
	i := slices.IndexFunc(s.Selectors, func(one Selector) bool { return one.Name == name })
	return i < 0 || s.Selectors[i].Value == normalValue(name, request.Lines(name))
}

// SelectorsFor returns the selectors that a request has for the fields that have selected a response.
func (s *Response) SelectorsFor(request httpmessage.Fields) []Selector {
	of := make([]Selector, 0, len(s.Selectors))
	for _, one := range s.Selectors {
		of = append(of, NewSelector(one.Name, request.Lines(one.Name)))
	}
	return of
}
