package http1

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
)

const crlf = "\r\n"

// cutFields calls add for each field line of a section and returns the text after the empty line that
// terminates it: RFC 9112 section 5. section must contain that empty line. More than most field lines are an
// error.
func cutFields(section string, most int, add func(httpmessage.Field) error) (rest string, err error) {
	for rest = section; !strings.HasPrefix(rest, crlf); most-- {
		var f httpmessage.Field
		var reason string
		if f, rest, reason = cutField(rest); reason != "" {
			return "", refused(reason)
		}
		if most == 0 {
			return "", &Error{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "the header has too many fields"}
		}
		if err := add(f); err != nil {
			return "", err
		}
	}
	return rest[len(crlf):], nil
}

// cutField parses the field line at the beginning of text and returns the text after it: RFC 9112 section 5.
// text must contain a CRLF at or after the end of the line. reason describes the error; it is "" for a valid
// line.
func cutField(text string) (f httpmessage.Field, rest, reason string) {
	colon := spanToken(text)
	if colon == 0 || colon == len(text) || text[colon] != ':' {
		return f, "", invalidName(text, colon)
	}
	end := colon + 1 + spanAbove(text[colon+1:], ' ')
	for end < len(text) && text[end] == '\t' {
		end += 1 + spanAbove(text[end+1:], ' ')
	}
	switch {
	case strings.HasPrefix(text[end:], crlf):
		return httpmessage.Field{Name: text[:colon], Value: trim(text[colon+1 : end])}, text[end+len(crlf):], ""
	case strings.HasPrefix(text[end:], "\n"):
		return f, "", reasonBareLF
	case strings.HasPrefix(text[end:], "\r"):
		return f, "", reasonBareCR
	default:
		return f, "", "a field value has a control character"
	}
}

const (
	reasonBareLF = "a line ends with LF alone"
	reasonBareCR = "a CR is not followed by LF"
)

// invalidName returns why text does not begin with a field name and a colon. end is the number of leading bytes
// that are valid in a name.
func invalidName(text string, end int) (reason string) {
	switch {
	case end == len(text) || text[end] == '\r':
		return "a field line has no colon"
	case text[end] == '\n':
		return reasonBareLF
	case (text[end] == ' ' || text[end] == '\t') && end == 0:
		return "a line begins with white space" // obs-fold: RFC 9112 section 5.2
	case text[end] == ' ' || text[end] == '\t':
		return "there is white space between a field name and its colon" // RFC 9112 section 5.1
	case text[end] == ':':
		return "a field has no name"
	default:
		return "a field name is not a token"
	}
}

// trim removes optional whitespace (OWS) from both ends: RFC 9110 section 5.6.3.
func trim(text string) string { return textproto.TrimString(text) }

// HasToken reports whether a comma-separated list contains token, compared case-insensitively: RFC 9110 section
// 5.6.1.
func HasToken(list, token string) bool {
	return httpguts.HeaderValuesContainsToken([]string{list}, token)
}

// TrailerField reports whether a field may occur in a trailer section: RFC 9110 section 6.5.1 excludes fields
// for framing, routing, authentication and the like. name is in the canonical form of net/http.
func TrailerField(name string) bool { return name != "" && httpguts.ValidTrailerHeader(name) }

// TrailerNames returns the field names in the values of Trailer header fields: RFC 9110 section 6.6.2. The
// names are canonical, sorted, unique and cloned. Names that TrailerField rejects are omitted.
func TrailerNames(lines []string) (names []string) {
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			if name := textproto.CanonicalMIMEHeaderKey(trim(element)); TrailerField(name) {
				names = append(names, strings.Clone(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
