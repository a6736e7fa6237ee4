package route

import (
	"net/http"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Kind is what is asked for.
type Kind uint8

// The kinds. The zero value is a name.
const (
	KindName     Kind = iota // what a name is, or where it leads; also what is not valid
	KindRedirect             // where a URL leads, by redirect
	KindForward              // a resource, as of a proxy
	KindSite                 // a resource of a site that urnd is the gateway of
	KindTunnel               // CONNECT
	KindFetch                // a resource, at /fetch
	KindBatch                // many names
	KindDocument             // a document that never changes
	KindPage                 // the front page, one about namespaces or the API, or a list of names
	KindPurge                // that what is stored for a URI be removed, with PURGE
	KindSecure               // anything, without TLS, where that is redirected to https
	KindServer               // the server as a whole, with OPTIONS *: RFC 9110 section 9.3.7
)

var kindNames = [...]string{
	"name", "redirect", "forward", "site", "tunnel", "fetch", "batch", "document", "page", "purge", "secure", "server",
}

// String returns the kind in one word.
func (k Kind) String() string { return kindNames[k] }

// Ask is what is asked: a value, with nothing of the client in it.
type Ask struct {
	Kind   Kind
	Method string
	IsGet  bool // the method reads: GET or HEAD
	// Form is the form of the request in one word, for logs and metrics.
	Form string
	// Target is the target as it was parsed, for all kinds but Site and Tunnel, and Path that target in text: without scheme and
	// authority where they are those of this server.
	Target Target
	Path   string
	// Err is why the target is not valid, nil where it is.
	Err error
	// URI is the target URI of Forward, Site, Fetch and Purge, without fragment, Key its normal form, and Spelling the path and
	// query that are sent in place of its, "" for those.
	URI, Key uri.URI
	Spelling string
	Site     *Site     // of Site, and of Purge for a site
	To       Authority // of Tunnel
	// Scheme is that of the target URI where the target of the request is only its path: of a site, or by HTTP/2; "" for others.
	Scheme string
	// Host is the web host whose path is the name, or whose document it is; "" for none. It is that of Hosts, and lasts.
	Host string
	// Location is where Secure is redirected to.
	Location string

	IsLink      bool // the name is below a root of identifiers in web addresses, be it a valid one or not
	IsName      bool // it is about a name, and not about a location
	Retrieves   bool // the resource itself is asked for, by a name or a URL
	IsForwarded bool // it is for another server
	// IsRespelled is whether a Forward is redirected to its normal form.
	IsRespelled bool
	// IsMisnamed is whether a client on this machine names a host that is none of this server: see Place.IsThisMachine.
	IsMisnamed bool
	// IsPreflight is whether a browser asks if a page of another origin may ask this (Fetch standard section 3.2), and IsPublic
	// whether such pages may read the reply.
	IsPreflight, IsPublic bool
}

// Service returns the service that is asked for.
func (a *Ask) Service() resolver.Service { return a.Target.Query.Service }

// settle sets what follows from the kind.
func (a *Ask) settle() {
	service := a.Target.Query.Service
	a.Retrieves = (a.Kind == KindName || a.Kind == KindRedirect) && a.Err == nil && a.IsGet && a.Target.Form != FormAPI &&
		(service == resolver.I2R || service == resolver.I2Rs)
	switch a.Kind {
	case KindForward, KindSite, KindTunnel, KindFetch, KindPurge:
		a.IsForwarded = true
	default:
		a.IsForwarded = a.Target.Form == FormFetch // by a method that is not supported
	}
	a.Form = a.form()
}

// form returns the form of the request in one word.
func (a *Ask) form() string {
	switch a.Kind {
	case KindSite:
		return "gateway"
	case KindTunnel:
		return "connect"
	case KindBatch:
		return "batch"
	case KindDocument:
		return "static"
	case KindSecure, KindServer:
		return "none"
	case KindPurge:
		if a.Site != nil {
			return "gateway"
		}
	default:
	}
	return formNames[a.Target.Form]
}

// Sent returns the URI that is sent to the server: OPTIONS for a server as a whole has no path, RFC 9112 section 3.2.4.
func (a *Ask) Sent() uri.URI {
	if a.Method == http.MethodOptions {
		return a.URI.NormalizeSteps(uri.AllSteps &^ (uri.EmptyPath | uri.SchemeForm))
	}
	return a.Key
}
