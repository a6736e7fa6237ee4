package httpcache

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Request is the request of a client. Its Fields are not changed.
//
// Its Spelling is a part of the key: what is stored for one spelling answers no other one. What changes or removes what
// is stored for Key does so for all spellings of it. Its Body, if it has one, is not sent twice.
type Request struct {
	httpmessage.Request
	// Found is what Find has found for Key; the zero value is looked up.
	Found Found
	// Key is the canonical form of the target URI: the primary cache key, RFC 9111 section 2.
	Key string
	// Added are the names of the fields that are not the client's.
	Added []string
	// Client is the address by whose quota the client shares a limit with others; all with the zero value
	// are one client.
	Client netip.Addr
	// Ended ends when the client has ended its side of the connection, and may have left: it is answered, and
	// no other request waits for its exchange. nil never does.
	Ended context.Context //nolint:containedctx // it is not that of the request
	// Pass is whether nothing stored may be used for it, and its response is not stored.
	Pass bool
	// Overrides are what is set for responses at its path: the first one that is for a response decides. They are not
	// changed. What is stored stays as it was stored, until it is updated or replaced, whatever they say by then.
	Overrides []Override
	// Gateway is whether the cache is one of the site that it serves: the fields of
	// Config.Targeted apply to it, RFC 9213.
	Gateway bool
	// Encodes is whether its Origin encodes contents by Accept-Encoding, of which the server that it asks knows nothing: that server
	// cannot say that a response in another coding is right for the request.
	Encodes bool
	// Check returns why the client must not get what the server at an address has sent; nil
	// allows all.
	Check func(netip.AddrPort) error
}

// retrieves reports whether a request is for a representation that may come from the cache.
func (r *Request) retrieves() bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }
