package gate

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// Initiator is who made a client send a request, as far as its fields show. The zero value is a program.
type Initiator uint8

// The initiators. Browsers send Fetch Metadata to secure origins and to localhost only; elsewhere Origin and Referer
// show the page, where it does not hide itself (Referrer-Policy: no-referrer).
const (
	InitiatorProgram Initiator = iota // no page: the fields are not those of a browser
	InitiatorOwn                      // a page of this server
	InitiatorPerson                   // a person, who typed an address or clicked a link of any page
	InitiatorUnknown                  // a browser, which does not show by whom it was made to
	InitiatorLed                      // a page of another site, without a person, which shows the response as a page
	InitiatorForeign                  // a page of another site, which loads the response
)

// InitiatorOf returns the initiator of a request with these fields for a host, as in Host, which is one of this server.
func InitiatorOf(lines httpmessage.Lines, host string) Initiator {
	site := siteOf(lines, host)
	switch shown := isShown(lines); {
	case site == sameOrigin:
		return InitiatorOwn
	case shown && lines.Value("Sec-Fetch-User") == "?1" && lines.Value("Sec-Purpose") == "": // no prefetch or prerender
		return InitiatorPerson
	case site == "" && !isBrowser(lines):
		return InitiatorProgram
	case site == "" || site == "none":
		return InitiatorUnknown
	case shown:
		return InitiatorLed
	default:
		return InitiatorForeign
	}
}

// IsCrossSite reports whether a page of another origin made a browser send a request for a host, a person's click on a link
// among it.
func IsCrossSite(lines httpmessage.Lines, host string) bool {
	site := siteOf(lines, host)
	return site != "" && site != "none" && site != sameOrigin
}

// isBrowser reports whether the fields of a request are those of a browser that pages make send requests: they cannot take them
// away. Lynx loads nothing by itself.
func isBrowser(lines httpmessage.Lines) bool {
	agent := lines.Value("User-Agent")
	if strings.HasPrefix(agent, "Lynx/") {
		return false
	}
	return strings.Contains(agent, "Mozilla/") || strings.Contains(agent, "Opera/") || acceptsPage(lines)
}

// MayBePage reports whether a page may have made a browser send a request with these fields, although they are those of a program:
// scripts can set User-Agent and Accept for the origin of their page. They can make Accept-Language empty, and not leave it out.
func MayBePage(lines httpmessage.Lines) bool {
	return lines.Has("Accept-Language") || isBrowser(lines)
}

// OriginOf returns the origin of the page that sent a request, by Origin or Referer, "" where neither shows it.
func OriginOf(lines httpmessage.Lines) string {
	if origin := lines.Value("Origin"); origin != "" {
		return origin
	}
	u, err := url.Parse(lines.Value("Referer"))
	if err != nil || u.Host == "" {
		return lines.Value("Referer") // that of no page of this server
	}
	return u.Scheme + "://" + u.Host
}

const sameOrigin = "same-origin"

// siteOf returns Sec-Fetch-Site (Fetch Metadata section 2.3), or what it would be by Origin and Referer, "" where nothing
// shows it. The scheme is not compared: what is in front of this server may speak TLS.
func siteOf(lines httpmessage.Lines, host string) string {
	if site := lines.Value("Sec-Fetch-Site"); site != "" {
		return site
	}
	origin := OriginOf(lines)
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

// isShown reports whether a browser shows the response as a page of its own, not in a frame. Without Fetch Metadata this is
// what Accept says, which a script can set: it must not decide that a resource is retrieved.
func isShown(lines httpmessage.Lines) bool {
	if mode := lines.Value("Sec-Fetch-Mode"); mode != "" || lines.Value("Sec-Fetch-Site") != "" {
		return mode == "navigate" && lines.Value("Sec-Fetch-Dest") == "document"
	}
	return lines.Value("Origin") == "" && acceptsPage(lines)
}

func acceptsPage(lines httpmessage.Lines) bool {
	return strings.Contains(lines.List("Accept"), "text/html")
}
