package rules

import (
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Variant is a value that has a stored response: Rules returns it.
type Variant interface{ Rules() *Response }

// Rules implements Variant.
func (s *Response) Rules() *Response { return s }

// Select returns the variant that a request selects: of several of its spelling the one with the most recent
// Date (RFC 9111 section 4.1), complete ones before parts; the zero value for none.
func Select[V Variant](variants []V, spelling string, request httpmessage.Lines) (selected V) {
	var values requestValues
	var best *Response
	for _, v := range variants {
		s := v.Rules()
		if s.Spelling != spelling || !match(&values, request, variants, s) {
			continue
		}
		better := best == nil || best.Partial() && !s.Partial() || best.Partial() == s.Partial() && s.Date > best.Date
		if better {
			best, selected = s, v
		}
	}
	return selected
}

// Matches reports whether a request selects a stored response.
func (s *Response) Matches(request httpmessage.Lines) bool {
	var values requestValues
	return match(&values, request, []*Response{s}, s)
}

// requestValues are the normal values of the fields by which a request selects one of several variants. Each
// is made once, when it is first read, however many variants there are. The request and the variants are
// passed as arguments, since what is in it would be allocated.
type requestValues struct {
	count int
	first [4]requestValue // so that usual requests allocate nothing
	more  []requestValue
	// language is the one that the request likes best, where hasLanguage is set.
	language    string
	hasLanguage bool
}

type requestValue struct{ name, value string }

// match reports whether the request selects a variant: RFC 9111 section 4.1.
func match[V Variant](v *requestValues, request httpmessage.Lines, variants []V, s *Response) bool {
	for _, one := range s.Selectors {
		if one.Value == valueOf(v, request, variants, one.Name) {
			continue
		}
		if one.Name != acceptLanguage || !languageRanges(one.Value) ||
			!v.prefers(request, s.Fields.Lines("Content-Language")) {
			return false
		}
	}
	return true
}

// valueOf returns the normal value of a field.
func valueOf[V Variant](v *requestValues, request httpmessage.Lines, variants []V, name string) string {
	for i := range v.count {
		if v.first[i].name == name {
			return v.first[i].value
		}
	}
	for _, one := range v.more {
		if one.name == name {
			return one.value
		}
	}
	one := requestValue{name, normalOf(request, variants, name)}
	if v.count < len(v.first) {
		v.first[v.count] = one
		v.count++
	} else {
		v.more = append(v.more, one)
	}
	return one.value
}

// normalOf makes the normal value of a field: that of a variant which was selected by the same line, if there is one.
func normalOf[V Variant](request httpmessage.Lines, variants []V, name string) string {
	lines := request(name)
	if len(lines) == 1 && lines[0] != "" {
		for _, v := range variants {
			selectors := v.Rules().Selectors
			for i := range selectors {
				if one := &selectors[i]; one.Name == name && one.Line == lines[0] {
					return one.Value
				}
			}
		}
	}
	return normalValue(name, lines)
}

// prefers reports whether what a request likes best of all is the one language that a response is
// in: whoever chose that for another request would choose it for this one.
func (v *requestValues) prefers(request httpmessage.Lines, content []string) bool {
	if len(content) != 1 {
		return false
	}
	if !v.hasLanguage {
		v.language, v.hasLanguage = preferredLanguage(request(acceptLanguage)), true
	}
	return v.language != "" && strings.EqualFold(v.language, trimSpace(content[0]))
}

// languageRanges reports whether a value has nothing but ranges of languages and their weights: nothing else in it can
// have made the response that it selected (RFC 9110 section 12.5.4).
func languageRanges(value string) bool {
	if value == Absent || len(value) > maxLanguages {
		return value == Absent
	}
	for i := range len(value) {
		switch c := value[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-,;=.*", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// maxLanguages bounds the value of Accept-Language that a response for others was selected by.
const maxLanguages = 256

const acceptLanguage = "Accept-Language"

// preferredLanguage returns the language that a request likes best of all, "" where there is none.
func preferredLanguage(accept []string) string {
	if len(accept) == 0 || tooLong(accept) {
		return ""
	}
	best, top, alone := "", 0.0, false
	members, _ := split(strings.Join(accept, ","), true)
	for _, member := range members {
		language, parameters, _ := strings.Cut(normalMember(member), ";")
		weight := 1.0
		if text, ok := strings.CutPrefix(parameters, "q="); ok {
			var err error
			if weight, err = strconv.ParseFloat(text, 64); err != nil || !(weight >= 0 && weight <= 1) {
				return ""
			}
		}
		switch {
		case weight > top:
			best, top, alone = language, weight, true
		case weight == top:
			alone = false
		}
	}
	if !alone {
		return ""
	}
	return best
}
