package forward

import (
	"context"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Explanation is what the cache would do with a request, and why.
type Explanation = httpcache.Explanation

// Why returns what the cache would do with a GET without content, which is of no client. It sends nothing, and changes nothing but the
// request.
func (p *Proxy) Why(r *Request) Explanation {
	asked := p.cacheRequest(r, p.askedByNobody(r))
	return p.config.Cache.Why(&asked)
}

// Try sends a GET without content, which is of no client, through the cache, and returns what became of it. Errors are those of the
// origin.
func (p *Proxy) Try(ctx context.Context, r *Request) (Sent, error) {
	return p.serveNobody(ctx, r, p.askedByNobody(r))
}

// askedByNobody returns what a request asks for, with the fields by which Serve would select its response.
func (p *Proxy) askedByNobody(r *Request) httpmessage.Request {
	p.prepare(r)
	p.prepareCoding(r)
	asked := r.Request
	asked.Fields = p.selecting(r)
	return asked
}
