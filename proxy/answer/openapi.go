package answer

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/route"
)

// Paths of static documents.
const (
	PathRobots   = "/robots.txt" // RFC 9309
	PathFavicon  = "/favicon.ico"
	PathSecurity = "/.well-known/security.txt" // RFC 9116
)

//go:embed openapi.json
var openAPI []byte

//go:embed favicon.ico
var favicon []byte

// HostRobots returns robots.txt of a web host whose paths are names: crawlers may follow its links as on any
// site.
func HostRobots() *Static {
	return NewStatic("text/plain; charset=utf-8",
		[]byte("User-agent: *\nDisallow: /uri-res/\nDisallow: /api/\nDisallow: /?uri=\n"))
}

// StaticDocuments returns the static documents, by path.
func StaticDocuments() map[string]*Static {
	return map[string]*Static{
		route.PathOpenAPI: NewStatic("application/json", openAPI),
		PathRobots:        Robots(Lists{}, ""),
		pages.PathCopy:    NewStatic("text/javascript; charset=utf-8", pages.CopyScript()),
		PathFavicon:       NewStatic("image/vnd.microsoft.icon", favicon),
	}
}

// securityLifetime is the validity of security.txt: RFC 9116 section 2.5.5 recommends less than a year.
const securityLifetime = 30 * 24 * time.Hour

// Security returns security.txt with a contact, a URI.
func Security(contact string, now time.Time) message.Reply {
	text := fmt.Sprintf("Contact: %s\nExpires: %s\n", contact, now.Add(securityLifetime).UTC().Format(time.RFC3339))
	return message.Reply{
		Status: 200, ContentType: "text/plain; charset=utf-8", Body: []byte(text),
		CacheControl: staticLifetime,
	}
}
