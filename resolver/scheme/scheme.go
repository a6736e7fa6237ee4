// Package scheme fetches resources by URL: each URL scheme has a Handler in a package of its own, and a Mux
// dispatches by scheme. A Request enters with its URI, header fields and access checks; a Resource leaves,
// which is an HTTP response with a streamed body or a Listing to be rendered. Errors are transport failures,
// denials of a gateway, or a StatusError of a server. The package also has the parts that handlers share: the
// connection Pool, limited line readers, media type and charset detection, and the preconditions and ranges of
// RFC 9110.
package scheme

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"

	"github.com/urnd/urnd/internal/httpmessage"
)

// ErrUnsupported is wrapped by the error for a scheme without a Handler.
var ErrUnsupported = errors.New("scheme not supported")

// ErrRequestBody means that reading the body of the request failed, which is a failure of the client, not of the
// origin.
var ErrRequestBody = errors.New("request body could not be read")

// ErrInvalidResponse means that the response of the origin is malformed, or its framing ambiguous.
var ErrInvalidResponse = errors.New("invalid response from the origin")

// ErrUpstream means that the upstream proxy could not be reached, or refused the request.
var ErrUpstream = errors.New("upstream proxy did not connect to the server")

// ErrNoResponse is wrapped by the error of an HTTP fetch that got no response although a connection was reused
// or dialed. Without it the server was not contacted: a limit of urnd was reached, or its host has no address.
var ErrNoResponse = errors.New("the server did not answer")

// Request is a request for one resource.
type Request struct {
	httpmessage.Request
	// Interim receives each interim response (1xx) except 100 and 101; nil ignores them.
	Interim Interim
	// Client is the address or network prefix of the client, whose quota the fetch counts against; the zero
	// value is none. It does not affect the request that is sent.
	Client netip.Addr
	// Check returns an error if the server address must not be contacted, in addition to the rules of the
	// guard; nil allows all. It is called before an address is dialed and before a connection is reused; with
	// the zero value if an upstream proxy hides the address.
	Check func(netip.AddrPort) error
	// TLS configures the authentication of an https server and of the client, in place of the handler's
	// default; nil is the default. Requests with different configurations use different connections. It must
	// not be changed.
	TLS *tls.Config
	// H2C is true if an http server is known to speak HTTP/2 without TLS, which is then used with prior
	// knowledge: RFC 9113 section 3.3. Other schemes ignore it.
	H2C bool
	// Bound is the connection that must carry the request, because it is bound to the client; nil lets the
	// handler choose. It has ended if Fetch returns an error.
	Bound *BoundConn
}

// Interim receives interim responses: RFC 9110 section 15.2.
type Interim interface {
	Interim(status int, fields httpmessage.Fields)
}

// Resource is a representation as a stream, in the terms of HTTP. The caller must close Body. After status 101
// Body is also an io.Writer: the upgraded connection.
type Resource struct {
	httpmessage.Response
	// Listing is the content in place of Body, which is empty then; nil for none. The caller renders a document
	// from it.
	Listing *Listing
}

// Handler fetches resources of one scheme. Fetch is safe for concurrent use; canceling ctx also ends the stream
// of Body. An error means that there was no response. An error response of the origin is a Resource with its
// status, or a *Refusal if its protocol is not HTTP.
type Handler interface {
	Fetch(ctx context.Context, r Request) (*Resource, error)
}

// Mux maps schemes, in lower case, to their handlers. It must not be changed while in use.
type Mux map[string]Handler

// Fetch implements Handler.
func (m Mux) Fetch(ctx context.Context, r Request) (*Resource, error) {
	handler, ok := m[r.URI.Scheme()]
	if !ok {
		return nil, fmt.Errorf("fetching %q: %w", r.URI.Scheme(), ErrUnsupported)
	}
	return handler.Fetch(ctx, r)
}
