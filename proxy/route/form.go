package route

import "net/http"

// Form is the form of a request-target.
type Form uint8

// The forms of request-targets.
const (
	FormPath       Form = iota // GET /urn:ietf:rfc:2648, or ?uri=
	FormTarget                 // GET urn:ietf:rfc:2648, as to a proxy
	FormTHTTP                  // GET /uri-res/N2L?urn:ietf:rfc:2648, RFC 2169 section 2
	FormAPI                    // GET /api/v1/resolve?uri=urn:ietf:rfc:2648
	FormForward                // GET http://example.org/, as to a proxy
	FormHome                   // GET /
	FormFetch                  // GET /fetch?uri=gopher://example.org/
	FormHost                   // GET /foo, of a web host whose paths are names
	FormHandle                 // GET /api/handles/20.500.12345/a1
	FormMemento                // GET /timegate/urn:ietf:rfc:2648, RFC 7089
	FormNamespaces             // GET /namespaces, and /namespaces/ietf
	FormNames                  // GET /names?prefix=urn:nbn:
	FormSitemap                // GET /sitemap.xml, and the files beside it
	FormDocs                   // GET /docs, and /docs/names
)

var formNames = [...]string{"path", "target", "thttp", "api", "forward", "home", "fetch", "host", "handle", "memento", "namespaces", "names", "sitemap", "docs"}

// String returns the form in one word.
func (f Form) String() string { return formNames[f] }

// isPage reports whether a target is that of a page which is about no identifier.
func (f Form) isPage() bool {
	switch f {
	case FormHome, FormNamespaces, FormNames, FormSitemap, FormDocs:
		return true
	default:
		return false
	}
}

// RedirectStatus returns the status of a redirect to where a name leads: 302, but 303 where RFC 2169 section 3.1 requires it, by
// THTTP to a client of HTTP/1.1.
func (f Form) RedirectStatus(http11 bool) int {
	if f == FormTHTTP && http11 {
		return http.StatusSeeOther
	}
	return http.StatusFound
}
