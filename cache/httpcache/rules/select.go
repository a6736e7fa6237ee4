package rules

import (
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Variant is a value with a stored response, which Metadata returns.
type Variant interface{ Metadata() *Response }

// Metadata implements Variant.
func (s *Response) Metadata() *Response { return s }

// Select returns the variant that a request selects, the zero value for none. Among several of its spelling,
// complete responses have precedence over parts, then the most recent Date (RFC 9111 section 4.1).
func Select[V Variant](variants []V, spelling string, request httpmessage.Header) (selected V) {
	var values requestValues
	var best *Response
	for _, v := range variants {
		s := v.Metadata()
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
func (s *Response) Matches(request httpmessage.Header) bool {
	var values requestValues
	return match(&values, request, []*Response{s}, s)
}

// requestValues are the normalized values of the request fields that select among variants. Each is computed
// once, when it is first needed, regardless of the number of variants. The request and the variants are
// arguments of the functions, because as fields they would escape to the heap.
type requestValues struct {
	count int
	first [4]requestValue // avoids allocation for usual requests
	more  []requestValue
	// language is the preferred language of the request, valid if hasLanguage is set.
	language    string
	hasLanguage bool
}

type requestValue struct{ name, value string }

// match reports whether the request selects a variant: RFC 9111 section 4.1.
func match[V Variant](v *requestValues, request httpmessage.Header, variants []V, s *Response) bool {
	for _, one := range s.Selectors {
		if one.Value == valueOf(v, request, variants, one.Name) {
			continue
		}
		if one.Name != acceptLanguage || !languageRanges(one.Value) ||
			!v.prefers(request, s.Fields.Values("Content-Language")) {
			return false
		}
	}
	return true
}

// valueOf returns the normalized value of a field.
func valueOf[V Variant](v *requestValues, request httpmessage.Header, variants []V, name string) string {
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

// normalOf computes the normalized value of a field, or takes it from a variant that was selected by the same
// line.
func normalOf[V Variant](request httpmessage.Header, variants []V, name string) string {
	lines := request(name)
	if len(lines) == 1 && lines[0] != "" {
		for _, v := range variants {
			selectors := v.Metadata().Selectors
			for i := range selectors {
				if one := &selectors[i]; one.Name == name && one.Line == lines[0] {
					return one.Value
				}
			}
		}
	}
	return normalValue(name, lines)
}

// prefers reports whether the response is in the one language that the request prefers to all others: a server
// that selected it for another request would select it for this one.
func (v *requestValues) prefers(request httpmessage.Header, content []string) bool {
	if len(content) != 1 {
		return false
	}
	if !v.hasLanguage {
		v.language, v.hasLanguage = preferredLanguage(request(acceptLanguage)), true
	}
	return v.language != "" && strings.EqualFold(v.language, trimSpace(content[0]))
}

// languageRanges reports whether a value consists only of language ranges and their weights, so that nothing
// else in it can have selected the response (RFC 9110 section 12.5.4).
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

// maxLanguages limits the Accept-Language by which a response for other clients was selected, in bytes.
const maxLanguages = 256

const acceptLanguage = "Accept-Language"

// preferredLanguage returns the one language that a request prefers to all others, "" for none.
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
