package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// Refresh fetches all stored variants of a URI again, sequentially, and returns the number of successful
// fetches. site is the site of the URI, nil for none. A variant whose fetch fails is unchanged.
func (p *Proxy) Refresh(ctx context.Context, key uri.URI, site *Site) (int, error) {
	variants := p.config.Cache.Variants(key.String())
	fetched, outdated := 0, false
	var failures []error
	for _, variant := range variants {
		outcome, err := p.refresh(ctx, key, site, variant)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		fetched++
		outdated = outdated || !outcome.Stored && outcome.OriginStatus != http.StatusNotModified
	}
	if outdated { // the new response of the origin is not cacheable
		p.Purge(ctx, key)
	}
	if len(failures) > 0 {
		return fetched, fmt.Errorf("%d of %d stored responses were fetched again: %w", fetched, len(variants),
			errors.Join(failures...))
	}
	return fetched, nil
}

// refresh fetches a variant, and discards its content once it is stored.
func (p *Proxy) refresh(ctx context.Context, key uri.URI, site *Site, v httpcache.Variant) (httpcache.Outcome, error) {
	r := &Request{
		Request: httpmessage.Request{Method: http.MethodGet, URI: key, Spelling: v.Spelling}, Key: key, Site: site,
	}
	requested := r.Request
	requested.Fields = v.Fields.Clone()
	requested.Fields.Set("Cache-Control", "no-cache")
	sent, err := p.serveWithoutClient(ctx, r, requested)
	if err == nil && sent.Status >= http.StatusInternalServerError && !sent.Outcome.Stored {
		err = &statusError{key.String(), sent.Status}
	}
	return sent.Outcome, err
}

// Sent is the outcome of a request without a client.
type Sent struct {
	Status  int
	Outcome httpcache.Outcome
}

// serveWithoutClient sends a request without a client through the cache. It returns when the response is completely
// stored, if it is cacheable.
func (p *Proxy) serveWithoutClient(ctx context.Context, r *Request, requested httpmessage.Request) (Sent, error) {
	request := p.cacheRequest(r, requested)
	answer, err := p.config.Cache.Serve(ctx, &request,
		httpcache.OriginFunc(func(ctx context.Context, o httpcache.Outgoing) (*httpmessage.Response, error) {
			o.Background = true // no client for interim responses
			return p.roundTrip(ctx, nil, r, o)
		}))
	if err != nil {
		return Sent{}, err
	}
	if answer.Content != nil {
		if answer.Outcome.Stored {
			err = answer.Content.SendTo(io.Discard, nil)
		}
		answer.Content.Close()
	}
	if err != nil {
		return Sent{}, fmt.Errorf("reading %s: %w", r.Key, err)
	}
	return Sent{answer.Status, answer.Outcome}, nil
}
