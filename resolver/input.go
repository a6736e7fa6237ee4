package resolver

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// TrimPasted returns a text without decoration that is pasted with an identifier: a byte order mark, white space
// around it and at the ends of lines, angle brackets, and the prefix "URL:" (RFC 3986 appendix C).
func TrimPasted(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if inner, ok := strings.CutPrefix(text, "<"); ok && strings.HasSuffix(inner, ">") {
		text = strings.TrimSpace(strings.TrimSuffix(inner, ">"))
	}
	if len(text) > 4 && uri.EqualFold(text[:4], "url:") {
		text = strings.TrimSpace(text[4:])
	}
	if !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line))
	}
	return b.String()
}

// ParseInput returns the query of a service for text that a person typed or pasted: a URI, an IRI (RFC 3987),
// or an identifier without "urn:". The error is a *uri.ParseError.
func (n Names) ParseInput(text string, service Service) (Query, error) {
	text = TrimPasted(text)
	u, err := uri.FromIRI(text)
	if err != nil || !n.IsName(n.Identify(Query{URI: u}).URI) {
		if identified, ok := n.Identifiers.URI(text); ok {
			return NewQuery(identified, service)
		}
	}
	if err != nil {
		return Query{Service: service}, err
	}
	return NewQuery(u, service)
}
