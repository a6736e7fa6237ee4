// Package gs1 selects the reply to requests for identifiers in web addresses (GS1 Digital Link): a link, a
// choice of links, or a linkset of its narrower profile. The links of an identifier and the query and header
// fields of a request enter; a Choice, a linkset or the description of the resolver leaves. It follows the
// GS1-Conformant Resolver standard 1.2.1, to which section numbers refer, and has no state.
package gs1

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/urnns/digitallink"
)

// Request is the part of a request that selects links.
type Request struct {
	// LinkType is the requested link type, in the form of digitallink.TypeOf; "" is the default.
	LinkType string
	// Context is the requested context, such as a country; "" for none.
	Context string
	// WantsLinkset is true if the link type of the request is "linkset".
	WantsLinkset bool

	accept    accept
	languages []string // language ranges in order of preference
}

// maxParameter limits a link type or a context in a query, in bytes.
const maxParameter = 256

// ParseRequest parses a raw query, and the fields Accept and Accept-Language.
func ParseRequest(query string, header httpmessage.Header) *Request {
	r := &Request{
		accept:    httpmessage.ParseAccept(header.List("Accept")),
		languages: parseLanguages(header.List("Accept-Language")),
	}
	linkType := parameter(query, "linkType")
	r.Context = parameter(query, "context")
	switch linkType {
	case "linkset", "all": // "all" up to version 1.0 of the standard
		r.WantsLinkset = true
	default:
		r.LinkType = digitallink.TypeOf(linkType)
	}
	return r
}

// parameter returns the first value of a parameter, decoded once; "" for none. Semicolons also separate
// parameters: GS1 Digital Link URI Syntax section 4.11.
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
