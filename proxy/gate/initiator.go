package gate

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// Initiator is what made a client send a request, as far as the header shows. The zero value is a program.
type Initiator uint8

// The initiators. Browsers send Fetch Metadata to potentially trustworthy origins and to localhost only;
// otherwise Origin and Referer show the page, unless it suppresses them (Referrer-Policy: no-referrer).
const (
	InitiatorProgram              Initiator = iota // no page: the header is not that of a browser
	InitiatorOwnPage                               // a page of this server
	InitiatorUserActivation                        // user activation: a typed address, or a click on a link of any page
	InitiatorUnknown                               // a browser, for an unknown reason
	InitiatorCrossSiteNavigation                   // a navigation by a page of another site, without user activation
	InitiatorCrossSiteSubresource                  // a subresource request by a page of another site
)

// InitiatorOf returns the initiator of a request with this header. host is the Host, which is one of this server.
func InitiatorOf(header httpmessage.Header, host string) Initiator {
	site := siteOf(header, host)
	switch shown := isShown(header); {
	case site == sameOrigin:
		return InitiatorOwnPage
	case shown && header.Get("Sec-Fetch-User") == "?1" && header.Get("Sec-Purpose") == "": // no prefetch or prerender
		return InitiatorUserActivation
	case site == "" && !isBrowser(header):
		return InitiatorProgram
	case site == "" || site == "none":
		return InitiatorUnknown
	case shown:
		return InitiatorCrossSiteNavigation
	default:
		return InitiatorCrossSiteSubresource
	}
}

// CrossSite reports whether a page of another origin made a browser send a request for a host, including a
// user's click on a link.
func CrossSite(header httpmessage.Header, host string) bool {
	site := siteOf(header, host)
	return site != "" && site != "none" && site != sameOrigin
}

// isBrowser reports whether the header is that of a browser in which pages can send requests: pages cannot
// remove the fields. Lynx loads no subresources.
func isBrowser(header httpmessage.Header) bool {
	agent := header.Get("User-Agent")
	if strings.HasPrefix(agent, "Lynx/") {
		return false
	}
	return strings.Contains(agent, "Mozilla/") || strings.Contains(agent, "Opera/") || acceptsPage(header)
}

// MayBePage reports whether a page may have made a browser send the request, although its header looks like
// that of a program: scripts can set User-Agent and Accept for the origin of their page. They can make
// Accept-Language empty, but not omit it.
func MayBePage(header httpmessage.Header) bool {
	return header.Has("Accept-Language") || isBrowser(header)
}

// OriginOf returns the origin of the page that sent a request, from Origin or Referer, "" if both are missing.
func OriginOf(header httpmessage.Header) string {
	if origin := header.Get("Origin"); origin != "" {
		return origin
	}
	u, err := url.Parse(header.Get("Referer"))
	if err != nil || u.Host == "" {
		return header.Get("Referer") // not a page of this server
	}
	return u.Scheme + "://" + u.Host
}

const sameOrigin = "same-origin"

// siteOf returns Sec-Fetch-Site (Fetch Metadata section 2.3), or its value derived from Origin and Referer,
// "" if all are missing. The scheme is not compared: a proxy in front of this server may terminate TLS.
func siteOf(header httpmessage.Header, host string) string {
	if site := header.Get("Sec-Fetch-Site"); site != "" {
		return site
	}
	origin := OriginOf(header)
	_, from, _ := strings.Cut(origin, "://")
	switch {
	case origin == "":
		return ""
	case host != "" && uri.SameAuthority(from, host):
		return sameOrigin
	default:
		return "cross-site"
	}
}

// isShown reports whether a browser shows the response as a top-level page. Without Fetch Metadata this is
// derived from Accept, which a script can set: it must not decide that a resource is retrieved.
func isShown(header httpmessage.Header) bool {
	if mode := header.Get("Sec-Fetch-Mode"); mode != "" || header.Get("Sec-Fetch-Site") != "" {
		return mode == "navigate" && header.Get("Sec-Fetch-Dest") == "document"
	}
	return header.Get("Origin") == "" && acceptsPage(header)
}

func acceptsPage(header httpmessage.Header) bool {
	return strings.Contains(header.List("Accept"), "text/html")
}
