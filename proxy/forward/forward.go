// Package forward is the forwarding part of the proxy and gateway. A Request with its target URI enters; the
// response leaves through a ResponseWriter: from the HTTP cache, or from the origin or a server of a site. It
// also opens tunnels and WebSockets, and retrieves the resources at the locations of names. The rules are
// those of RFC 9110 section 7 (forwarding) and section 9.3.6 (CONNECT), RFC 9111 (caching), RFC 7239
// (Forwarded) and RFC 8441 (WebSockets over HTTP/2).
package forward

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/compress"
	"github.com/urnd/urnd/proxy/forward/tunnel"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Config configures a Proxy. All fields but Compress, Purge, Base, Forwarded and Underscores must be set.
type Config struct {
	Fetch scheme.Handler
	Cache *httpcache.Cache
	// Compress compresses responses of sites; nil compresses none.
	Compress *compress.Compressor
	// Purge invalidates all stored responses for a URI, so that they are validated before reuse, and returns
	// their number; nil calls Cache.Purge.
	Purge func(ctx context.Context, key uri.URI) int
	Via   httpmessage.ViaName
	Now   func() time.Time
	// Fetches limits concurrent fetches. Streams limits tunnels and upgraded connections such as WebSockets,
	// which have no time limit.
	Fetches, Streams quota.Limit
	// Bound limits the connections to servers that are bound to a Session.
	Bound quota.Limit
	// Accept returns the Accept of a request for a possible listing, derived from that of the client, "" for
	// none. fetched is whether the links of the listing go through /fetch, as with Request.Fetched, and order
	// is that of Request.Sort.
	Accept func(accept string, fetched bool, order string) string
	// Language returns the Accept-Language of such a request, derived from the result of Accept and from that
	// of the client; "" for none.
	Language func(accepted, languages string) string
	// Base is the path prefix that a proxy in front of this server removes from requests, such as
	// "/resolver"; "" for none.
	Base string
	// Forwarded selects how the client is identified to origins.
	Forwarded Forwarded
	// Underscores is whether servers of sites get fields with "_" in their names.
	Underscores bool
	// Tunnel connects to the target of a CONNECT, "host:port". check rejects addresses; nil accepts all.
	Tunnel func(ctx context.Context, target string, check func(netip.AddrPort) error) (net.Conn, error)
	// TunnelPort reports whether a CONNECT may use a port.
	TunnelPort func(port uint16) bool
	// TunnelIdle is how long a tunnel, or another upgraded connection, may be idle before it is closed.
	TunnelIdle time.Duration
}

// Proxy forwards requests to origin servers. It is safe for concurrent use.
type Proxy struct {
	config     Config
	via        string   // the value of the field Via
	naming     []string // the fields that identify a client: httpmessage.NamesClient
	boundConns boundConns
	sendings   sync.Pool // of *sending
	tunnels    *tunnel.Tunnels
}

// New returns a Proxy.
func New(config Config) *Proxy {
	if config.Purge == nil {
		config.Purge = func(_ context.Context, key uri.URI) int { return config.Cache.Purge(key.String(), false) }
	}
	p := &Proxy{
		config: config, via: config.Via.String(), tunnels: tunnel.New(config.TunnelIdle, config.Now),
	}
	for _, f := range httpmessage.RequestFields() {
		if f.Use&httpmessage.NamesClient != 0 {
			p.naming = append(p.naming, f.Name)
		}
	}
	return p
}

// Request is a request to be forwarded. Its URI is the one that is sent. Its Spelling is the path and query
// as the client sent them, which may be no valid URI, but has no controls, spaces and "#". It owns its
// fields, which may be changed.
type Request struct {
	httpmessage.Request
	// Key is the target URI in canonical form, the cache key of the response.
	Key uri.URI
	// Found is the result of Find for Key; the zero value makes Serve look it up.
	Found Found
	// Target and Authority are the request-target and the Host as received.
	Target, Authority string
	Major, Minor      int // the HTTP version of the request
	// Protocol is the protocol of an extended CONNECT of HTTP/2, websocket (RFC 8441); "" for none.
	Protocol string
	// Site is the site that urnd is the gateway of, nil for none.
	Site *Site
	// Fetched is whether the response is served as a resource of this server: without parts that would act as
	// its own, such as cookies and scripts.
	Fetched bool
	// Sort is the order of a listing: one of those in package route, or "" for the order of the listing itself.
	Sort string
	// Language replaces Accept-Language for a listing, if its reader has chosen a language; "" for none.
	Language string
	// Embedder is the origin of a page of another site that may embed the response, "" for none.
	Embedder string
	// QuotaAddr is the address whose quota the request uses. Client is the address of the client, the zero value
	// if unknown.
	QuotaAddr, Client netip.Addr
	// Trusted is whether the request comes from a trusted proxy, whose fields about the client are generated anew.
	Trusted bool
	// consumed are the names of the removed fields that identify the client.
	consumed []string
	// Check returns an error for an address that must not be contacted for this client; nil allows all.
	Check func(netip.AddrPort) error
	// TunnelCheck decides by the first bytes of a tunnel to the server at an address; nil allows all.
	TunnelCheck func(tunnel.Hello, netip.AddrPort) error
	// ClientHalfClosed ends when the client has closed its side of the connection, and may have disconnected; nil
	// never ends.
	ClientHalfClosed context.Context //nolint:containedctx // it is not that of the request
	// Session belongs to the connection of the client; nil if that may carry requests of other clients.
	Session *Session
	bound   *bound // nil for none
	state   requestState
}

// ResponseWriter receives the response to a forwarded request.
type ResponseWriter interface {
	httpmessage.ResponseWriter
	// CloseAfterResponse closes the connection of an HTTP/1 client after the response.
	CloseAfterResponse()
	// SetServer reports the server that has responded, the zero value if unknown.
	SetServer(at netip.AddrPort)
	// SourceFailed is called if the source of a response fails before its end, so that the response is aborted.
	SourceFailed(err error)
}

// isWeb reports whether the URI has the scheme http or https.
func (r *Request) isWeb() bool { return r.URI.IsWeb() }

// isAtLeast11 reports whether the client uses HTTP/1.1 or later.
func (r *Request) isAtLeast11() bool { return r.Major > 1 || r.Major == 1 && r.Minor >= 1 }

// hasBody reports whether the request has a body that is forwarded; /fetch forwards none.
func (r *Request) hasBody() bool { return !r.Fetched && r.Body != nil && r.ContentLength != 0 }
