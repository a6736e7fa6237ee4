package forward

import (
	"context"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Explanation describes the decision of the cache about a request, with the reasons.
type Explanation = httpcache.Explanation

// Explain returns the decision of the cache about a GET without content and without a client. It sends nothing,
// and changes only the request.
func (p *Proxy) Explain(r *Request) Explanation {
	requested := p.cacheRequest(r, p.messageWithoutClient(r))
	return p.config.Cache.Explain(&requested)
}

// Try sends a GET without content and without a client through the cache, and returns its outcome. Errors are
// those of the origin.
func (p *Proxy) Try(ctx context.Context, r *Request) (Sent, error) {
	return p.serveWithoutClient(ctx, r, p.messageWithoutClient(r))
}

// messageWithoutClient returns the message of a request without a client, with the fields by which Serve would
// select its response.
func (p *Proxy) messageWithoutClient(r *Request) httpmessage.Request {
	p.prepare(r)
	p.prepareCoding(r)
	requested := r.Request
	requested.Fields = p.selecting(r)
	return requested
}
