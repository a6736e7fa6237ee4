package route

import (
	"net"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Server is the part of the configuration that all requests share. It is immutable.
type Server struct {
	OwnHosts OwnHosts
	Names    resolver.Names // the rules for names
	Sites    Sites
	// Hosts are the web hosts whose paths are names of the registry.
	Hosts Hosts
	// Handles are the handles that are names of the registry.
	Handles Handles
	// Documents are the paths of fixed documents.
	Documents map[string]bool
	// OwnDocuments are the paths of documents that web hosts in Hosts do not have: there they may be names.
	OwnDocuments map[string]bool
	// HostDocuments are the paths of documents by host, for hosts in Hosts.
	HostDocuments map[string]map[string]bool
	// Spelling is that of URIs forwarded for clients of the proxy.
	Spelling Spelling
	// RedirectTLS redirects requests without TLS to https, at TLSPort; "" is the default port of https.
	RedirectTLS bool
	TLSPort     string
	// HasNameList is whether there are pages that list names of the registry, HasSitemap whether there is a sitemap.
	HasNameList, HasSitemap bool
	// PublicURL is the URL by which clients reach this server, without a slash at its end; "" is the one of
	// the request.
	PublicURL string
}

// Endpoint is the end of the connection that received a request. It caches look-ups of the last hosts, so it serves one
// connection, and is not safe for concurrent use. The fields about the client may be changed between requests.
type Endpoint struct {
	*Server
	LocalAddr  string // the local address of the connection; "" for a Unix domain socket
	Secure     bool   // over TLS
	ServerName string // the server name (SNI) of the TLS handshake, "" for none
	// BehindProxy is whether the peer is a trusted proxy, Scheme the scheme that it reports for the client; "" for
	// none.
	BehindProxy bool
	Scheme      string
	// LocalClient is whether the client is on this machine, where a page of another site may make a browser
	// send requests under the host name of that site (DNS rebinding).
	LocalClient bool
	// MayProxy is whether the client may use the forward proxy. By HTTP/2 any host in its requests may then
	// mean another server.
	MayProxy bool

	host      hostInfo
	authority ownName
	base      ownBase
}

// hostInfo caches the look-ups of a host, which is mostly that of the next request, too.
type hostInfo struct {
	text        string
	known       bool
	localClient bool    // of the client
	unknownHost bool    // see Request.UnknownHost
	sites       []*Site // of the host, the most specific first
	names       string  // the web host whose paths are names; "" for none
}

// ownName caches whether the authority of the last target is this server.
type ownName struct {
	text       string
	known, own bool
}

// lookupHost returns the look-ups of the host of a request.
func (p *Endpoint) lookupHost(v *RequestHead) *hostInfo {
	if last := &p.host; !last.known || last.text != v.Host || last.localClient != p.LocalClient {
		*last = hostInfo{
			text: v.clone(v.Host), known: true, localClient: p.LocalClient, sites: p.Sites.at(v.Host),
			names:       p.Hosts.at(v.Host),
			unknownHost: p.LocalClient && v.Host != "" && !p.OwnHosts.Has(v.Host),
		}
	}
	return &p.host
}

// isOwn reports whether an authority is the local address of the connection, or a name of this server with its port.
func (p *Endpoint) isOwn(authority string) bool {
	if p.LocalAddr == "" {
		return false
	}
	if authority == p.LocalAddr {
		return true
	}
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		host, port = authority, "80"
	}
	_, localPort, err := net.SplitHostPort(p.LocalAddr)
	return err == nil && port == localPort && !isAddress(host) && p.OwnHosts.Has(host)
}

// isAddress reports whether a host is an IP address.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// ownTarget returns the request-target, without scheme and authority if they are those of this server: a server must
// accept the absolute-form (RFC 9112 section 3.2.2), and a proxy must not forward to itself (RFC 9110 section 7.6).
func (p *Endpoint) ownTarget(v *RequestHead) string {
	const scheme = "http://"
	if len(v.Target) < len(scheme) || !uri.EqualFold(v.Target[:len(scheme)], scheme) {
		return v.Target
	}
	rest := v.Target[len(scheme):]
	authority, path := rest, "/"
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if last := &p.authority; !last.known || last.text != authority {
		*last = ownName{v.clone(authority), true, p.isOwn(authority)}
	}
	if path[0] != '/' || !p.authority.own {
		return v.Target
	}
	return path
}

// scheme returns the scheme that the client used: a trusted proxy in front of urnd may have terminated TLS.
func (p *Endpoint) scheme() string {
	switch {
	case p.BehindProxy && p.Scheme != "":
		return p.Scheme
	case p.Secure:
		return "https"
	default:
		return "http"
	}
}

// streamTarget returns the absolute target of an HTTP/2 request for the forward proxy, which has the target
// URI in several pseudo-header fields. It returns "" for a request for this server: by the name of its
// certificate, by one of its own names, or from a client that may not use the proxy. Requests of other
// schemes than http come by CONNECT.
func (p *Endpoint) streamTarget(v *RequestHead) string {
	if !v.HTTP2 || !p.MayProxy || !strings.HasPrefix(v.Target, "/") || v.Host == "" || p.isOwnStream(v.Host) {
		return ""
	}
	return "http://" + v.Host + v.Target
}

// isOwnStream reports whether an HTTP/2 request names this server, and not another one on the same machine. A
// client whose TLS handshake had no server name may mean this server by any name.
func (p *Endpoint) isOwnStream(authority string) bool {
	if name, _ := uri.SplitPort(authority); p.Secure && (p.ServerName == "" || uri.SameHost(name, p.ServerName)) {
		return true
	}
	if p.LocalAddr == "" {
		return p.OwnHosts.Has(authority)
	}
	localHost, localPort, err := net.SplitHostPort(p.LocalAddr)
	host, port := authority, localPort
	if name, number, splitErr := net.SplitHostPort(authority); splitErr == nil {
		host, port = name, number
	}
	host = strings.Trim(host, "[]")
	if isAddress(host) {
		return err != nil || port == localPort && host == localHost
	}
	return p.OwnHosts.Has(host) && (err != nil || port == localPort)
}
