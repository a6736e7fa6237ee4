package forward

import (
	"context"
	"io"
	"sync"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/balance"
)

// passage is the state that most forwarded requests need once, allocated together with them. It is the
// httpcache.Origin of its request.
type passage struct {
	proxy   *Proxy
	request *Request
	client  client
	asked   httpcache.Request
	fields  [16]httpmessage.Field // for the fields of the client
	isAsked bool                  // rooms is in use
	rooms   rooms                 // for the first exchange with the origin
}

// rooms are the scratch buffers of one exchange with the origin.
type rooms struct {
	body     released
	sent     [16]httpmessage.Field // for the fields of the request
	received [16]httpmessage.Field // for those of the response
}

// Room returns scratch memory for the fields of a request, valid as long as the request.
func (r *Request) Room() httpmessage.Fields { return r.passage.fields[:0] }

// Ask implements httpcache.Origin.
func (w *passage) Ask(ctx context.Context, o httpcache.Outgoing) (*httpmessage.Response, error) {
	return w.proxy.ask(ctx, &w.client, w.request, o)
}

// take returns scratch buffers for an exchange with the origin. A second exchange, and a concurrent one in
// the background, get newly allocated ones.
func (w *passage) take(o *httpcache.Outgoing) *rooms {
	if o.Background || w.isAsked {
		return new(rooms)
	}
	w.isAsked = true
	return &w.rooms
}

// released is a body whose Close releases the permit of its fetch and the pick of its server.
type released struct {
	io.ReadCloser
	once   sync.Once
	permit quota.Permit
	pick   *balance.Pick
}

// Buffered implements httpcache.Buffered.
func (b *released) Buffered() int {
	if body, ok := b.ReadCloser.(httpcache.Buffered); ok {
		return body.Buffered()
	}
	return 0
}

// Close implements io.Closer.
func (b *released) Close() error {
	defer b.once.Do(func() {
		b.permit.Release()
		b.pick.Release()
	})
	return b.ReadCloser.Close()
}
