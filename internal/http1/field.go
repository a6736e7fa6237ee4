package http1

import "github.com/urnd/urnd/internal/httpmessage"

const crlf = "\r\n"

// cutField cuts the field line that a text begins with, and returns what is behind it: RFC 9112 section 5. The text
// must have CRLF behind the line somewhere. reason is why the line is refused, "" where it is not.
func cutField(text string) (f httpmessage.Field, rest, reason string) {
	colon := tokenBytes.span(text)
	if colon == 0 || colon == len(text) || text[colon] != ':' {
		return f, "", invalidName(text, colon)
	}
	end := colon + 1 + spanAbove(text[colon+1:], ' ')
	for end < len(text) && text[end] == '\t' {
		end += 1 + spanAbove(text[end+1:], ' ')
	}
	switch {
	case end+1 < len(text) && text[end] == '\r' && text[end+1] == '\n':
		return httpmessage.Field{Name: text[:colon], Value: trim(text[colon+1 : end])}, text[end+len(crlf):], ""
	case end < len(text) && text[end] == '\n':
		return f, "", reasonBareLF
	case end < len(text) && text[end] == '\r':
		return f, "", reasonBareCR
	default:
		return f, "", "the value of a field has a control character"
	}
}

const (
	reasonBareLF = "a line ends with LF alone"
	reasonBareCR = "a CR is not followed by LF"
)

// invalidName returns why a line whose first end bytes could be the name of a field is none.
func invalidName(text string, end int) (reason string) {
	switch {
	case end == len(text) || text[end] == '\r':
		return "a field line has no colon"
	case text[end] == '\n':
		return reasonBareLF
	case text[end] == ' ' || text[end] == '\t':
		if end == 0 {
			return "a line begins with white space" // obs-fold: RFC 9112 section 5.2
		}
		return "white space is between the name of a field and its colon" // RFC 9112 section 5.1
	case end == 0 && text[0] == ':':
		return "a field has no name"
	default:
		return "the name of a field is not a token"
	}
}
