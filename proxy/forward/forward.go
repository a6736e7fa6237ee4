// Package forward forwards the requests of proxy clients to origin servers, as far as the HTTP
// cache cannot answer them, opens tunnels, and fetches the resources at locations of names.
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

// Config configures a Proxy. All fields but Compress, Base and Underscores must be set.
type Config struct {
	Fetch scheme.Handler
	Cache *httpcache.Cache
	// Compress compresses responses of sites; nil compresses none.
	Compress *compress.Compressor
	// Purge purges all that is stored for a URI, so that it is validated before it is used again, and returns how many responses there
	// were; nil is that of Cache.
	Purge func(ctx context.Context, key uri.URI) int
	Via   httpmessage.ViaName
	Now   func() time.Time
	// Fetches bounds concurrent fetches, and Streams tunnels and upgraded connections such as
	// WebSockets, which have no time limit.
	Fetches, Streams quota.Limit
	// Bound bounds the connections to servers that belong to a Session.
	Bound quota.Limit
	// Accept returns the field Accept of a request for what may be a listing, by that of a client, "" for none; fetched
	// is whether its links lead back through /fetch, as those of Request.Fetched, and order that of Request.Sort.
	Accept func(accept string, fetched bool, order string) string
	// Language returns the field Accept-Language of such a request, by what Accept has returned and that of a client; "" is none.
	Language func(accepted, languages string) string
	// Base is the path that a proxy in front of this server has removed from requests, such as "/resolver"; "" for none.
	Base string
	// Forwarded is how the client is named to origins.
	Forwarded Forwarded
	// Underscores is whether servers of sites get fields with "_" in their names.
	Underscores bool
	// Tunnel connects to the target of a CONNECT, "host:port"; check refuses addresses, and nil
	// refuses none.
	Tunnel func(ctx context.Context, target string, check func(netip.AddrPort) error) (net.Conn, error)
	// TunnelPort reports whether a CONNECT may name a port.
	TunnelPort func(port uint16) bool
	// TunnelIdle ends a tunnel, or another upgraded connection, that carries nothing for so long.
	TunnelIdle time.Duration
}

// Proxy passes requests on to origin servers. It is safe for concurrent use.
type Proxy struct {
	config     Config
	via        string   // the value of the field
	naming     []string // the fields that name a client: httpmessage.NamesClient
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

// Request is a request to be forwarded. Its URI is the one that is sent; its Spelling is that of a client: no URI, but without
// controls, spaces and "#". Its fields are its own, and may be changed.
type Request struct {
	httpmessage.Request
	// Key is the target URI in canonical form, by which the response is cached.
	Key uri.URI
	// Found is what Find has found for Key; the zero value is looked up.
	Found Found
	// Target and Authority are the request-target and the Host as they came.
	Target, Authority string
	Major, Minor      int // the version of HTTP by which it came
	// Protocol is the protocol that a client of HTTP/2 asks to change its stream to, websocket: RFC 8441; "" for none.
	Protocol string
	// Site is that which urnd is the gateway of, nil for none.
	Site *Site
	// Fetched is whether the response is shown as a resource of this server: without what would be
	// taken for its own, such as cookies and scripts.
	Fetched bool
	// Sort is the order of a listing, one of package message; "" for its own.
	Sort string
	// Language is what its reader has chosen in place of Accept-Language, for a listing; "" for nothing.
	Language string
	// Embedder is the origin of a page of another site that may load the response, "" for none.
	Embedder string
	// Share is whose share of the limits the request takes, and Client the address of the client,
	// which may be the zero value.
	Share, Client netip.Addr
	// Trusted is whether the request comes from a proxy whose fields of the client are believed, and made anew.
	Trusted bool
	// consumed are those that name the client.
	consumed []string
	// Check returns why the server at an address must not be asked for this client; nil allows
	// all.
	Check func(netip.AddrPort) error
	// Look decides by with what the client begins a tunnel to the server at an address; nil allows all.
	Look func(tunnel.Hello, netip.AddrPort) error
	// Ended ends when the client has ended its side of the connection, and may have left; nil never does.
	Ended context.Context //nolint:containedctx // it is not that of the request
	// Session is the connection of the client; nil where requests of others may come by it.
	Session *Session
	bound   *bound // nil for none
	passage passage
}

// ResponseWriter is where the response to a forwarded request is written.
type ResponseWriter interface {
	httpmessage.ResponseWriter
	// CloseBehind ends the connection of a client of HTTP/1 behind the response.
	CloseBehind()
	// SetServer tells which server has answered, the zero value where that is not known.
	SetServer(at netip.AddrPort)
	// Broken is called where the source of a response breaks off, which is broken off for the
	// client, too.
	Broken(err error)
}

// isWeb reports whether a request is for a server of HTTP.
func (r *Request) isWeb() bool { return r.URI.IsWeb() }

// isAtLeast11 reports whether the client speaks HTTP/1.1 or a later version.
func (r *Request) isAtLeast11() bool { return r.Major > 1 || r.Major == 1 && r.Minor >= 1 }

// hasBody reports whether a request has a body that is passed on: for what is fetched none is.
func (r *Request) hasBody() bool { return !r.Fetched && r.Body != nil && r.ContentLength != 0 }
