package rules

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Selector is a request field that selected a response: RFC 9111 section 4.1.
type Selector struct {
	Name, Value string // normalized
	Line        string // the original field if it was one line, which most requests repeat
}

// never is the value of a selector that no request matches: no field value has a NUL, RFC 9110 section 5.5.
const never = "\x00*"

// maxSelectors limits the fields that select a response: a response that names more is not stored.
const maxSelectors = 32

// NewSelector returns the selector of a request field.
func NewSelector(name string, lines []string) Selector {
	one := Selector{Name: name, Value: normalValue(name, lines)}
	if len(lines) == 1 {
		one.Line = lines[0]
	}
	return one
}

// selectsSame reports whether the same requests match both selectors.
func (s Selector) selectsSame(other Selector) bool {
	return s.Name == other.Name && s.Value == other.Value
}

// variesAlways reports whether no request matches: Vary has a member "*", or more names than maxSelectors.
func variesAlways(header httpmessage.Fields) bool {
	names := 0
	for name := range membersOf(header.Values("Vary")) {
		if names++; name == "*" || names > maxSelectors {
			return true
		}
	}
	return false
}

// membersOf returns the non-empty members of a list without quoted-strings: RFC 9110 section 5.6.1.
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

// SelectorsOf returns the selectors of a response to a request, sorted by name. They do not retain memory of
// the response.
func SelectorsOf(response, request httpmessage.Fields) []Selector {
	if variesAlways(response) {
		return []Selector{{Name: "*", Value: never}}
	}
	var selectors []Selector
	for name := range membersOf(response.Values("Vary")) {
		name = strings.Clone(http.CanonicalHeaderKey(name))
		if !slices.ContainsFunc(selectors, func(s Selector) bool { return s.Name == name }) {
			selectors = append(selectors, NewSelector(name, request.Values(name)))
		}
	}
	slices.SortFunc(selectors, func(a, b Selector) int { return strings.Compare(a.Name, b.Name) })
	return selectors
}

// UpdatedSelectors returns the selectors of a response after an update: those that it has, and those of the fields that
// only the Vary of the updated fields names, from the request that the update answers. A name that the update lacks
// stays: some servers send less in a 304. Above maxSelectors, no request matches.
func UpdatedSelectors(selectors []Selector, updated, request httpmessage.Fields) []Selector {
	all := selectors
	for _, one := range SelectorsOf(updated, request) {
		if !slices.ContainsFunc(selectors, func(s Selector) bool { return s.Name == one.Name }) {
			all = append(all[:len(all):len(all)], one)
		}
	}
	if len(all) > maxSelectors {
		return []Selector{{Name: "*", Value: never}}
	}
	slices.SortFunc(all, func(a, b Selector) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Absent is the value of a field missing from a request: RFC 9111 section 4.1 matches it only with itself.
const Absent = "\x00"

// normalValue returns the normalized value of a field: equal results have the same meaning. It joins the lines
// and removes whitespace. In fields for content negotiation it also sorts the members and lowers their case, as
// far as their syntax permits. A value longer than usual programs send stays unchanged, and so matches only the
// same bytes.
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

// tooLong reports whether a value is too long to be normalized. A normalized value is never that long, so that
// the two cannot be confused.
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

// normalMember returns a member of a field for content negotiation with its name and weight in lower case,
// without whitespace around its parameters, and without a weight of 1.
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
		default: // the value may be case-sensitive
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

// split returns the non-empty members of a list, and whether its last quoted-string is closed: RFC 9110 section
// 5.6.1. A comma in a quoted-string does not separate members. If escapes is set, a backslash in it escapes; in
// an entity tag it does not.
func split(value string, escapes bool) (members []string, closed bool) {
	closed = true
	for value != "" {
		var member string
		member, value, closed = cutMember(value, escapes)
		members = appendMember(members, member)
	}
	return members, closed
}

// cutMember returns the first member of a list by the rules of split, which may be empty, the rest of the list,
// and whether the quoted-strings of the member are closed.
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

// appendMember appends a member unless it is empty.
func appendMember(members []string, text string) []string {
	if text = trimSpace(text); text == "" {
		return members
	}
	return append(members, text)
}

// SelectedBy reports whether all fields with these names select the stored response.
func (s *Response) SelectedBy(names []string) bool {
	for _, name := range names {
		if !slices.ContainsFunc(s.Selectors, func(one Selector) bool { return one.Name == name }) {
			return false
		}
	}
	return true
}

// SelectsSame reports whether the field did not select the response, or the request has an equivalent value.
func (s *Response) SelectsSame(name string, request httpmessage.Fields) bool {
	i := slices.IndexFunc(s.Selectors, func(one Selector) bool { return one.Name == name })
	return i < 0 || s.Selectors[i].Value == normalValue(name, request.Values(name))
}

// SelectorsFor returns the request's selectors for the fields that selected the response.
func (s *Response) SelectorsFor(request httpmessage.Fields) []Selector {
	of := make([]Selector, 0, len(s.Selectors))
	for _, one := range s.Selectors {
		of = append(of, NewSelector(one.Name, request.Values(one.Name)))
	}
	return of
}
