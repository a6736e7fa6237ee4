package forward

import (
	"context"
	"fmt"
	"io"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Explanation is what the cache would do with a request, and why.
type Explanation = httpcache.Explanation

// Sent is what became of a request that was sent to explain it.
type Sent struct {
	Status  int
	Outcome httpcache.Outcome
}

// maxSent bounds what is read of a response that is being stored, in bytes: the cache has a smaller bound, unless it is configured so.
const maxSent = 4 << 30

// Why returns what the cache would do with a GET without content, which is of no client. It sends and changes nothing but the
// request.
func (p *Proxy) Why(r *Request) Explanation {
	p.consume(r)
	return p.config.Cache.Why(p.explained(r))
}

// explained returns the request as the cache gets it.
func (p *Proxy) explained(r *Request) *httpcache.Request {
	if r.isGateway() {
		r.Fields = r.Site.Request.apply(r.Fields)
	}
	asked := &httpcache.Request{
		Request: r.Request, Key: r.Key.String(), Added: p.added(r), Gateway: r.isGateway(), Overrides: r.overrides(),
	}
	asked.Fields = p.selecting(r)
	return asked
}

// Try sends a GET without content, which is of no client, through the cache, and returns what became of it, when all that is stored
// of the response has come. Errors are those of the origin.
func (p *Proxy) Try(ctx context.Context, r *Request) (Sent, error) {
	p.consume(r)
	answer, err := p.config.Cache.Serve(ctx, p.explained(r), httpcache.Forward(
		func(ctx context.Context, o httpcache.Outgoing) (*httpmessage.Response, error) {
			o.Background = true // there is no client for interim responses
			return p.ask(ctx, nil, r, o)
		}))
	if err != nil {
		return Sent{}, err
	}
	if answer.Content != nil {
		if answer.Outcome.Stored {
			err = answer.Content.SendTo(&bounded{left: maxSent}, nil)
		}
		answer.Content.Close()
	}
	if err != nil {
		return Sent{}, fmt.Errorf("reading %s: %w", r.Key, err)
	}
	return Sent{answer.Status, answer.Outcome}, nil
}

// bounded drops what is written, up to a bound.
type bounded struct{ left int }

// Write implements io.Writer.
func (b *bounded) Write(data []byte) (int, error) {
	if b.left -= len(data); b.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(data), nil
}
