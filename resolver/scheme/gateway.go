package scheme

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Gateway is a Handler that wraps the handler of a scheme other than http and checks each request first: its
// method, its URI, its port, and the rules about addresses.
type Gateway struct {
	Handler Handler
	Info    Info // Ports and Local decide what is checked
}

// local is the address of responses that urnd generates without a server: this machine. So the rules about
// server addresses apply to them, too, even for a cache hit.
func local() netip.AddrPort { return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0) }

func (r *Request) checkLocal() error {
	if r.Check == nil {
		return nil
	}
	return r.Check(local())
}

// Fetch implements Handler.
func (g Gateway) Fetch(ctx context.Context, r Request) (*Resource, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URI.Scheme(), ErrMethod)
	}
	if err := r.URI.Check(); err != nil {
		return nil, err
	}
	if err := g.Info.Ports.Check(r.URI); err != nil {
		return nil, err
	}
	if g.Info.Local {
		if err := r.checkLocal(); err != nil {
			return nil, err
		}
	}
	resource, err := g.Handler.Fetch(ctx, r)
	if err != nil || resource.RemoteAddr.IsValid() {
		return resource, err
	}
	if err := r.checkLocal(); err != nil {
		_ = resource.Body.Close()
		return nil, err
	}
	resource.RemoteAddr = local()
	return resource, nil
}

// Dial connects to "host:port". check is Request.Check, and may be nil. Handlers reach servers only by it, even
// at an address that a server sent.
type Dial func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error)

// Limits bounds the work of a handler for one request. All fields must be set.
type Limits struct {
	Timeout time.Duration // of each reply of a server, and of a whole listing
	Entries int           // maximum entries of a listing; Incomplete is set if more were left out
	Bytes   int64         // maximum bytes of a listing, and of a body read as a whole, such as an article
	Line    int           // maximum bytes of a line of a listing or of a reply
}

// Redirect returns a redirect Resource to the URI location, which must be valid.
func Redirect(status int, location string) *Resource {
	return &Resource{
		Response: httpmessage.Response{
			Status: status, Fields: httpmessage.NewFields("Location", location, "Content-Length", "0"),
			Body: http.NoBody,
		},
	}
}

// ListingResource returns a Resource that consists of a listing.
func ListingResource(l *Listing) *Resource {
	return &Resource{
		Response: httpmessage.Response{Status: http.StatusOK, Body: http.NoBody, ContentLength: -1},
		Listing:  l,
	}
}
