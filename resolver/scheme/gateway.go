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

// Gateway is a Handler in front of those of schemes other than http: it lets no request pass that they
// must not get.
type Gateway struct {
	Handler Handler
	Info    Info // of which Ports and Local decide
}

// local is where responses come from that no server has sent: this machine. So rules about the addresses
// of servers hold for them, too, also when they come from a cache.
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
	if err != nil || resource.From.IsValid() {
		return resource, err
	}
	if err := r.checkLocal(); err != nil {
		_ = resource.Body.Close()
		return nil, err
	}
	resource.From = local()
	return resource, nil
}

// Dial connects to "host:port"; check is that of the Request, and may be nil. It is the only way of a
// handler to a server, also for addresses that a server names.
type Dial func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error)

// Limits bound what a handler does for one request. All must be set.
type Limits struct {
	Timeout time.Duration // of each reply of a server, and of a listing as a whole
	Entries int           // of a listing: the rest is left out, which Incomplete says
	Octets  int64         // of a listing, and of what is read as a whole, such as an article
	Line    int           // octets of a line of a listing or of a reply
}

// Redirect returns a Resource that leads to another URI, which must be valid.
func Redirect(status int, location string) *Resource {
	return &Resource{
		Response: httpmessage.Response{
			Status: status, Fields: httpmessage.FieldsOf("Location", location, "Content-Length", "0"),
			Body: http.NoBody,
		},
	}
}

// Listed returns the Resource of a listing.
func Listed(l *Listing) *Resource {
	return &Resource{Response: httpmessage.Response{Status: http.StatusOK, Body: http.NoBody, ContentLength: -1}, Listing: l}
}
