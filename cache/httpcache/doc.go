// Package httpcache is a shared HTTP cache: RFC 9111, with the extensions of RFC 5861
// (stale-while-revalidate, stale-if-error), RFC 8246 (immutable), RFC 9213 (targeted
// Cache-Control) and RFC 9211 (Cache-Status).
//
// What may be stored and used is decided by pure functions of header fields and times:
// freshness.go, store.go, harmless.go, sharing.go, reuse.go, vary.go, validation.go, condition.go,
// ranges.go and invalidation.go. Cache uses them, over a cache.Store of the responses of each URI.
// Requests for the same wait for one exchange with the origin (wait.go), of which they share the
// answer, and never an error, a delay or a pace.
package httpcache

import (
	"context"
	"io"
	"net/http"
	"net/netip"
)

// Request is the request of a client. Its Header is not changed.
type Request struct {
	Method string
	// URI is the canonical form of the target URI: the primary cache key, RFC 9111 section 2.
	URI string
	// Spelling is the path and query that the origin is asked for, where they are not those of URI; "" for those. It is a
	// part of the key: what is stored for one spelling answers no other one. What changes or removes what is stored for
	// URI does so for all spellings of it.
	Spelling string
	Header   http.Header
	// Added are the fields of Header that are not the client's, as http.Header has their names.
	Added []string
	// Client is the address by whose share the client takes turns with others; all with the zero value
	// are one client.
	Client netip.Addr
	// Ended ends when the client has ended its side of the connection, and may have left: it is answered, and
	// nobody else waits for its exchange. nil never does.
	Ended context.Context //nolint:containedctx // it is not that of the request
	// Body is whether the request has a body, which is not sent twice.
	Body bool
	// Pass is whether nothing stored may be used for it, and its response is not stored.
	Pass bool
	// Gateway is whether the cache is one of the site that it serves: the fields of
	// Config.Targeted apply to it, RFC 9213.
	Gateway bool
	// Check returns why the client must not get what the server at an address has sent; nil
	// allows all.
	Check func(netip.AddrPort) error
}

// Response is the response of an origin. Its Header has no hop-by-hop fields, and its Body
// fails where it does not arrive completely.
type Response struct {
	Status        int
	Reason        string
	Header        http.Header
	Trailer       http.Header // complete at the end of Body
	Announced     []string    // the fields of Trailer that are known before
	Body          io.ReadCloser
	ContentLength int64 // -1 if unknown
	From          netip.AddrPort
	// Private is whether it is for the client that has asked alone, whatever its fields say.
	Private bool
}

// isGet reports whether a request is for a representation that may come from the cache.
func (r *Request) isGet() bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }
