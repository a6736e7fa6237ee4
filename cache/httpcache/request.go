package httpcache

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Request is the request of a client. Its Fields are not changed.
//
// Spelling is part of the cache key: a response stored for one spelling does not answer another. Purges and
// invalidations of Key apply to all its spellings. Body, if any, is sent only once.
type Request struct {
	httpmessage.Request
	// Found is the result of Find for Key; with the zero value Key is looked up.
	Found Found
	// Key is the canonical form of the target URI: the primary cache key, RFC 9111 section 2.
	Key string
	// Added are the names of the fields that the client did not send.
	Added []string
	// Client is the address for the per-client quota. All requests with the zero value count as one client.
	Client netip.Addr
	// ClientHalfClosed ends when the client has half-closed its connection, and may have disconnected. The request is
	// still answered, but no other request waits for its exchange. nil never ends.
	ClientHalfClosed context.Context //nolint:containedctx // not the context of the request
	// Bypass is whether the request bypasses the cache: no stored response is used, and its response is not
	// stored.
	Bypass bool
	// Overrides are the overrides for the path of the request: the first one that matches the response applies.
	// They are not changed. They do not affect stored responses until these are updated or replaced.
	Overrides []Override
	// Gateway is whether the cache is a gateway of the site: the fields of Config.Targeted apply, RFC 9213.
	Gateway bool
	// OriginCompresses is whether Origin itself compresses content by Accept-Encoding. The server behind it then does
	// not know the content coding, and cannot validate a response in another coding for this request.
	OriginCompresses bool
	// Check returns why the client must not get responses of the server at an address; nil permits all.
	Check func(netip.AddrPort) error
}

// retrieves reports whether a request is a GET or HEAD, for a representation that may come from the cache.
func (r *Request) retrieves() bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }
