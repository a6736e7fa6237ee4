package gopher

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

const (
	defaultPort = "70"
	encodedTab  = "%09"
)

// request is the parsed request of a URL.
type request struct {
	uri.Gopher
	uri        uri.URI // in normal form
	host, port string  // as in the URL; port is the default port if the URL has none
}

// plusRule is the rule for the Gopher+ string of a URL: RFC 4266 sections 2.3 to 2.9. Package uri does not
// check it, because form data has line ends.
func plusRule() uri.Rule {
	return uri.Rule{
		Code: "gopher_plus", Name: "gopher+_string", Section: "RFC 4266 section 2.3",
		Requirement: `a Gopher+ string is "?", or begins with "+", "!" or "$", and has no control characters but in the answers of a form`,
	}
}

// newRequest parses the request of a URL. The error is a *uri.ParseError.
func newRequest(u uri.URI) (request, error) {
	g, err := u.Gopher()
	if err != nil {
		return request{}, err
	}
	q := request{Gopher: g, uri: u.Normalize(), port: defaultPort}
	q.host, _ = q.uri.Host()
	if port, ok := q.uri.Port(); ok && port != "" {
		q.port = port
	}
	// Tabs separate the fields of the request: another tab would inject a field, and a line end another request
	// (RFC 1738 section 6).
	if g.HasPlus && !q.isForm() && !validPlus(g.Plus) {
		return request{}, &uri.ParseError{
			Input:  u.String(),
			Offset: strings.LastIndex(u.String(), encodedTab) + len(encodedTab), Rule: plusRule(),
		}
	}
	return q, nil
}

func validPlus(s string) bool {
	if strings.IndexFunc(s, isControl) >= 0 {
		return false
	}
	return s == "" || s == "?" || strings.ContainsAny(s[:1], "+!$")
}

func isControl(r rune) bool { return r < ' ' || r == 0x7F }

// isForm reports whether the URL has form data: RFC 4266 section 2.9.
func (q request) isForm() bool {
	view, _, found := strings.Cut(q.Plus, "\t1\r\n")
	return found && strings.HasPrefix(view, "+") && strings.IndexFunc(view, isControl) < 0
}

// wantsAttributes reports whether the URL requests attributes, including a form: RFC 4266 sections 2.5 to 2.7.
func (q request) wantsAttributes() bool {
	return q.Plus != "" && strings.ContainsAny(q.Plus[:1], "!$?")
}

// line returns the request line. After the selector of an item that is not a search, the Gopher+ string follows
// immediately (Gopher+ sections 2.3 to 2.5, and the example in RFC 4266 section 2.9): with the second tab of
// the URL, servers take it for search words.
func (q request) line() string {
	line := q.Selector
	if q.Search != "" || q.Type == typeSearch && q.HasSearch {
		line += "\t" + q.Search
	}
	switch q.Plus {
	case "":
	case "?": // the form is among the attributes
		line += "\t!"
	default:
		line += "\t" + q.Plus
	}
	return line + "\r\n"
}

// plain returns the URI without search words and Gopher+ string.
func (q request) plain() string {
	plain, _, _ := strings.Cut(q.uri.String(), encodedTab)
	return plain
}

// root returns the URI of the root menu of the server.
func (q request) root() string { return link(item{kind: typeMenu, host: q.host, port: q.port}) }
