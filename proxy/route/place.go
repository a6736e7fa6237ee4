package route

import (
	"net"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Server is what all requests to one configuration have in common. It is immutable.
type Server struct {
	Own   OwnHosts
	Names resolver.Names // the rules for names
	Sites Sites
	// Hosts are the web hosts whose paths are names of the registry.
	Hosts Hosts
	// Handles are those that are names of the registry.
	Handles Handles
	// Documents are the paths of documents that never change.
	Documents map[string]bool
	// OwnDocuments are the paths of others that Hosts have not: there they may be names.
	OwnDocuments map[string]bool
	// HostDocuments are the paths of documents of some Hosts alone.
	HostDocuments map[string]map[string]bool
	// Spelling is that of what is sent on for clients of the proxy.
	Spelling Spelling
	// RedirectTLS redirects requests without TLS to https, at TLSPort, "" for its default.
	RedirectTLS bool
	TLSPort     string
	// Browses is whether there are pages that list names of the registry, and HasSitemap whether there is a sitemap of them.
	Browses, HasSitemap bool
	// PublicURL is the URL by which clients reach this server, without a slash at its end; "" is the one that they use.
	PublicURL string
}

// Place is where a request has come to. It remembers what the last hosts meant, so it serves one connection: it is not safe
// for concurrent use. What it says of the client may be changed between requests.
type Place struct {
	*Server
	Local      string // the address of this end of the connection; "" for a Unix socket
	Secure     bool   // by TLS
	ServerName string // that of the TLS handshake, "" for none
	// IsFronted is whether the peer is a trusted proxy, and Scheme what it says that the client has used; "" for nothing.
	IsFronted bool
	Scheme    string
	// IsThisMachine is whether the client is on this machine, where a page of another site may lead a browser by a name of its
	// own (DNS rebinding).
	IsThisMachine bool
	// Proxies is whether the client may use the proxy. By HTTP/2 it may mean another server than this one by any host.
	Proxies bool

	host      meaning
	authority ownName
	base      ownBase
}

// meaning is what a host means, which mostly is that of the next request, too.
type meaning struct {
	text          string
	isKnown       bool
	isThisMachine bool    // of the client
	isMisnamed    bool    // see Ask.IsMisnamed
	sites         []*Site // of the host, the most specific first
	names         string  // the web host whose paths are names; "" for none
}

// ownName is whether the authority of the last target is this server.
type ownName struct {
	text           string
	isKnown, isOwn bool
}

// meaningOf returns what the host of a request means.
func (p *Place) meaningOf(v *View) *meaning {
	if last := &p.host; !last.isKnown || last.text != v.Host || last.isThisMachine != p.IsThisMachine {
		*last = meaning{
			text: v.lasting(v.Host), isKnown: true, isThisMachine: p.IsThisMachine, sites: p.Sites.at(v.Host), names: p.Hosts.at(v.Host),
			isMisnamed: p.IsThisMachine && v.Host != "" && !p.Own.Has(v.Host),
		}
	}
	return &p.host
}

// isOwn reports whether an authority is that of this end of the connection, or one of this server's names with its port.
func (p *Place) isOwn(authority string) bool {
	if p.Local == "" {
		return false
	}
	if authority == p.Local {
		return true
	}
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		host, port = authority, "80"
	}
	_, localPort, err := net.SplitHostPort(p.Local)
	return err == nil && port == localPort && !isAddress(host) && p.Own.Has(host)
}

// isAddress reports whether a host is an IP address.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// ownTarget returns the request-target, without scheme and authority where they are those of this server: a server must accept
// the absolute form (RFC 9112 section 3.2.2), and a proxy must not forward to itself (RFC 9110 section 7.6).
func (p *Place) ownTarget(v *View) string {
	const scheme = "http://"
	if len(v.Target) < len(scheme) || !uri.EqualFold(v.Target[:len(scheme)], scheme) {
		return v.Target
	}
	rest := v.Target[len(scheme):]
	authority, path := rest, "/"
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if last := &p.authority; !last.isKnown || last.text != authority {
		*last = ownName{v.lasting(authority), true, p.isOwn(authority)}
	}
	if path[0] != '/' || !p.authority.isOwn {
		return v.Target
	}
	return path
}

// scheme returns the scheme that a client asked for a site by: a trusted proxy in front of urnd may have ended TLS.
func (p *Place) scheme() string {
	switch {
	case p.IsFronted && p.Scheme != "":
		return p.Scheme
	case p.Secure:
		return "https"
	default:
		return "http"
	}
}

// streamTarget returns the absolute target of a request that a client sent to the proxy by HTTP/2, where the target URI is in
// several fields, and "" for one that is for this server: by the name of its certificate, by one of its own, or from a client
// that may not use the proxy. A scheme other than http comes by CONNECT.
func (p *Place) streamTarget(v *View) string {
	if !v.HTTP2 || !p.Proxies || !strings.HasPrefix(v.Target, "/") || v.Host == "" || p.isOwnStream(v.Host) {
		return ""
	}
	return "http://" + v.Host + v.Target
}

// isOwnStream reports whether a request by HTTP/2 names this server, and not another one on the same machine. A client that
// reached it without naming it, in the TLS handshake, may mean it by any name.
func (p *Place) isOwnStream(authority string) bool {
	if name, _ := uri.SplitPort(authority); p.Secure && (p.ServerName == "" || uri.SameHost(name, p.ServerName)) {
		return true
	}
	if p.Local == "" {
		return p.Own.Has(authority)
	}
	localHost, localPort, err := net.SplitHostPort(p.Local)
	host, port := authority, localPort
	if name, number, splitErr := net.SplitHostPort(authority); splitErr == nil {
		host, port = name, number
	}
	host = strings.Trim(host, "[]")
	if isAddress(host) {
		return err != nil || port == localPort && host == localHost
	}
	return p.Own.Has(host) && (err != nil || port == localPort)
}
