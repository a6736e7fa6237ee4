package route

import "net/http"

// Form is the form of a request-target.
type Form uint8

// The forms of request-targets.
const (
	FormPath       Form = iota // GET /urn:ietf:rfc:2648, or /?uri=
	FormTarget                 // GET urn:ietf:rfc:2648, as sent to a proxy
	FormTHTTP                  // GET /uri-res/N2L?urn:ietf:rfc:2648 (RFC 2169 section 2)
	FormAPI                    // GET /api/v1/resolve?uri=urn:ietf:rfc:2648
	FormForward                // GET http://example.org/, as sent to a proxy
	FormHome                   // GET /
	FormFetch                  // GET /fetch?uri=gopher://example.org/
	FormHost                   // GET /foo, at a web host whose paths are names
	FormHandle                 // GET /api/handles/20.500.12345/a1
	FormMemento                // GET /timegate/urn:ietf:rfc:2648 (RFC 7089)
	FormNamespaces             // GET /namespaces, and /namespaces/ietf
	FormNames                  // GET /names?prefix=urn:nbn:
	FormSitemap                // GET /sitemap.xml, and /sitemap-*.xml
	FormDocs                   // GET /docs, and /docs/names
)

var formNames = [...]string{
	"path", "target", "thttp", "api", "forward", "home", "fetch", "host", "handle", "memento",
	"namespaces", "names", "sitemap", "docs",
}

// String returns the form in one word.
func (f Form) String() string { return formNames[f] }

// isPage reports whether the target is that of a page that is not about an identifier.
func (f Form) isPage() bool {
	switch f {
	case FormHome, FormNamespaces, FormNames, FormSitemap, FormDocs:
		return true
	default:
		return false
	}
}

// RedirectStatus returns the status of the redirect to the location of a name: 302, but 303 if RFC 2169
// section 3.1 requires it: for THTTP, with a client of HTTP/1.1.
func (f Form) RedirectStatus(http11 bool) int {
	if f == FormTHTTP && http11 {
		return http.StatusSeeOther
	}
	return http.StatusFound
}
