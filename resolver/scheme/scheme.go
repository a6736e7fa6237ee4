// Package scheme retrieves: it opens a location as a stream of bytes. Each scheme has a
// Handler in a package of its own; a Mux selects it.
package scheme

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"

	"github.com/urnd/urnd/internal/httpmessage"
)

// ErrUnsupported is wrapped by the error for a scheme without a handler.
var ErrUnsupported = errors.New("scheme not supported")

// ErrBody means that the body of a request could not be read, which is no failure of the origin.
var ErrBody = errors.New("the body of the request could not be read")

// ErrResponse means that the response of an origin is not valid, or its framing ambiguous.
var ErrResponse = errors.New("the response of the origin is not valid")

// ErrUpstream means that the upstream proxy could not be asked, or has refused.
var ErrUpstream = errors.New("the upstream proxy gave no way to the server")

// ErrUnanswered is in the chain of the error of a fetch by HTTP without a response, for which a
// connection was found or begun. Without it the server was not asked: a limit of urnd was reached, or
// its host has no address.
var ErrUnanswered = errors.New("the server did not answer")

// Request is the request of one resource.
type Request struct {
	httpmessage.Request
	// Interim is told of each interim response (1xx) but 100 and 101; nil is not.
	Interim Interim
	// Client is for whom the resource is fetched, as an address or that of a network, and whose share of the limits it
	// takes; the zero value where it is for none. It decides nothing of what is sent.
	Client netip.Addr
	// Check returns why the server at an address must not be asked, in addition to the rules of
	// the guard; nil allows all. It is called before an address is dialled, and before a
	// connection is used again; with the zero value where an upstream proxy hides the address.
	Check func(netip.AddrPort) error
	// TLS is how an https server is authenticated, and the client to it, in place of what the handler has for all; nil for that.
	// Requests with another one go by other connections. It must not be changed.
	TLS *tls.Config
	// H2C is whether an http server is known to speak HTTP/2 without TLS, and is asked by that: RFC 9113 section 3.3. It
	// means nothing for other schemes.
	H2C bool
	// Bound is the connection by which the request is sent, and by no other one, where it belongs to the client; nil
	// where the handler chooses. It has ended where there is an error.
	Bound *BoundConn
}

// Interim is told of interim responses: RFC 9110 section 15.2.
type Interim interface {
	Interim(status int, fields httpmessage.Fields)
}

// Resource is the representation of a resource as a stream, in the terms of HTTP. The
// caller must close Body, which after status 101 is also an io.Writer: the connection.
type Resource struct {
	httpmessage.Response
	// Listing is what the resource is in place of Body, which is empty then; nil for none. Who fetches
	// makes a document of it.
	Listing *Listing
}

// Handler fetches resources of one scheme. Fetch is safe for concurrent use;
// ctx also ends the stream of Body. An error means that there was no response: an error
// response of the origin is a Resource with its status, or a *Refusal where its protocol is not HTTP.
type Handler interface {
	Fetch(ctx context.Context, r Request) (*Resource, error)
}

// Mux has the handlers by scheme, in lower case. It must not be changed while in use.
type Mux map[string]Handler

// Fetch implements Handler.
func (m Mux) Fetch(ctx context.Context, r Request) (*Resource, error) {
	handler, ok := m[r.URI.Scheme()]
	if !ok {
		return nil, fmt.Errorf("fetching %q: %w", r.URI.Scheme(), ErrUnsupported)
	}
	return handler.Fetch(ctx, r)
}
