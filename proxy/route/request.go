package route

import (
	"net/http"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Kind is the kind of resource or operation that a request is for.
type Kind uint8

// The kinds. The zero value is KindName.
const (
	KindName          Kind = iota // a name: its location or description; also an invalid target
	KindRedirect                  // a URL, to be redirected to
	KindForward                   // a resource of another server, through the forward proxy
	KindSite                      // a resource of a site that urnd is the gateway of
	KindTunnel                    // CONNECT
	KindFetch                     // a resource, at /fetch
	KindBatch                     // a batch of names
	KindDocument                  // a fixed document
	KindPage                      // the front page, one about namespaces or the API, or a list of names
	KindPurge                     // PURGE: invalidate the stored responses for a URI
	KindHTTPSRedirect             // a request without TLS that is redirected to https
	KindServer                    // OPTIONS *, for the server as a whole (RFC 9110 section 9.3.7)
)

var kindNames = [...]string{
	"name", "redirect", "forward", "site", "tunnel", "fetch", "batch", "document", "page", "purge", "secure", "server",
}

// String returns the kind in one word.
func (k Kind) String() string { return kindNames[k] }

// Request is a classified request. It is a value, and independent of the client's rights.
type Request struct {
	Kind   Kind
	Method string
	IsGet  bool // the method is GET or HEAD
	// Form is the form of the request in one word, for logs and metrics.
	Form string
	// Target is the parsed request-target, for all kinds but KindSite and KindTunnel. Path is the
	// request-target as text, without scheme and authority if they are those of this server.
	Target Target
	Path   string
	// Err is why the target is invalid, nil if it is valid.
	Err error
	// URI is the target URI of KindForward, KindSite, KindFetch and KindPurge, without fragment, and Key its
	// normal form. Spelling is the path and query that are sent instead of those of Key, "" for the same.
	URI, Key  uri.URI
	Spelling  string
	Site      *Site     // of KindSite, and of KindPurge for a site
	Authority Authority // of KindTunnel
	// Scheme is the scheme of the target URI if the request-target is only a path: for a site, or by HTTP/2; else "".
	Scheme string
	// Host is the web host whose path is the name, or whose document is requested; "" for none. Its string is
	// that in Server.Hosts, so it stays valid.
	Host string
	// Location is the redirect target of KindHTTPSRedirect.
	Location string

	IsLink    bool // the name is below a root of identifiers in web addresses, valid or not
	IsName    bool // the request is about a name, not a location
	Retrieves bool // the resource itself is requested, by a name or a URL
	Forwarded bool // the request is for another server
	// RedirectsToNormal is whether a KindForward request is redirected to its normal form.
	RedirectsToNormal bool
	// UnknownHost is whether a client on this machine names a host that this server does not have: see
	// Endpoint.LocalClient.
	UnknownHost bool
	// IsPreflight is whether the request is a CORS preflight (Fetch standard section 3.2) for a public
	// response. Public is whether pages of other origins may read the response.
	IsPreflight, Public bool
}

// Service returns the requested resolution service.
func (a *Request) Service() resolver.Service { return a.Target.Query.Service }

// settle sets the fields that follow from the kind.
func (a *Request) settle() {
	service := a.Target.Query.Service
	a.Retrieves = (a.Kind == KindName || a.Kind == KindRedirect) && a.Err == nil && a.IsGet &&
		a.Target.Form != FormAPI &&
		(service == resolver.I2R || service == resolver.I2Rs)
	switch a.Kind {
	case KindForward, KindSite, KindTunnel, KindFetch, KindPurge:
		a.Forwarded = true
	default:
		a.Forwarded = a.Target.Form == FormFetch // /fetch with an unsupported method
	}
	a.Form = a.form()
}

// form returns the form of the request in one word.
func (a *Request) form() string {
	switch a.Kind {
	case KindSite:
		return "gateway"
	case KindTunnel:
		return "connect"
	case KindBatch:
		return "batch"
	case KindDocument:
		return "static"
	case KindHTTPSRedirect, KindServer:
		return "none"
	case KindPurge:
		if a.Site != nil {
			return "gateway"
		}
	default:
	}
	return formNames[a.Target.Form]
}

// OutgoingURI returns the URI of the forwarded request: OPTIONS for a server as a whole has an empty path (RFC 9112
// section 3.2.4).
func (a *Request) OutgoingURI() uri.URI {
	if a.Method == http.MethodOptions {
		return a.URI.NormalizeSteps(uri.AllSteps &^ (uri.EmptyPath | uri.SchemeForm))
	}
	return a.Key
}
