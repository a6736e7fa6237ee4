// Package gs1 answers for identifiers in web addresses as the GS1-Conformant Resolver standard 1.2.1 says: which of the links of an identifier
// a request means, the linkset of its narrower profile, and the description of the resolver. It is pure.
package gs1

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/urnns/digitallink"
)

// Request is what a request says of the link that it means.
type Request struct {
	// LinkType is the type of the link, as digitallink.TypeOf returns it; "" is for the default.
	LinkType string
	// Context is for whom the link is to be, such as a country; "" for nobody.
	Context string
	// WantsLinkset is whether the linkset was asked for in place of a link, by its type.
	WantsLinkset bool

	accept    accept
	languages []string // language ranges, the preferred first
}

// maxParameter bounds a link type or a context in a query, in octets.
const maxParameter = 256

// ParseRequest parses a query, as it was sent, and the fields Accept and Accept-Language.
func ParseRequest(query string, lines httpmessage.Lines) *Request {
	r := &Request{accept: httpmessage.MediaRanges(lines.List("Accept")), languages: parseLanguages(lines.List("Accept-Language"))}
	linkType := parameter(query, "linkType")
	r.Context = parameter(query, "context")
	switch linkType {
	case "linkset", "all": // the second up to version 1.0 of the standard
		r.WantsLinkset = true
	default:
		r.LinkType = digitallink.TypeOf(linkType)
	}
	return r
}

// parameter returns the first value of a parameter, decoded once; "" for none. GS1 Digital Link URI Syntax section 4.11: a semicolon separates, too.
func parameter(query, name string) string {
	for pair := range strings.FieldsFuncSeq(query, func(c rune) bool { return c == '&' || c == ';' }) {
		key, value, _ := strings.Cut(pair, "=")
		if key != name {
			continue
		}
		if decoded, err := url.QueryUnescape(value); err == nil {
			value = decoded
		}
		return value[:min(len(value), maxParameter)]
	}
	return ""
}
