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

// requestState is the state that most forwarded requests need once, allocated together with them. It is the
// httpcache.Origin of its request.
type requestState struct {
	proxy        *Proxy
	request      *Request
	client       client
	cacheRequest httpcache.Request
	fields       [16]httpmessage.Field // for the fields of the client
	scratchUsed  bool                  // rooms is in use
	scratch      scratch               // for the first exchange with the origin
}

// scratch are the scratch buffers of one exchange with the origin.
type scratch struct {
	body     released
	sent     [16]httpmessage.Field // for the fields of the request
	received [16]httpmessage.Field // for those of the response
}

// ScratchFields returns scratch memory for the fields of a request, valid as long as the request.
func (r *Request) ScratchFields() httpmessage.Fields { return r.state.fields[:0] }

// RoundTrip implements httpcache.Origin.
func (w *requestState) RoundTrip(ctx context.Context, o httpcache.Outgoing) (*httpmessage.Response, error) {
	return w.proxy.roundTrip(ctx, &w.client, w.request, o)
}

// takeScratch returns scratch buffers for an exchange with the origin. A second exchange, and a concurrent one in
// the background, get newly allocated ones.
func (w *requestState) takeScratch(o *httpcache.Outgoing) *scratch {
	if o.Background || w.scratchUsed {
		return new(scratch)
	}
	w.scratchUsed = true
	return &w.scratch
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
