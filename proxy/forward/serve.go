package forward

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Serve answers a request from the cache, or forwards it to the origin server, and returns the result of the
// cache in one word. If it returns an error, nothing was sent.
func (p *Proxy) Serve(ctx context.Context, w ResponseWriter, r *Request) (cached string, err error) {
	p.prepare(r)
	left, limited, err := forwards(r)
	switch {
	case err != nil:
		return "", err
	case limited && left == 0:
		message.Write(w, r.Method, last(r), nil)
		return "", nil
	}
	if limited {
		r.Fields.Set(maxForwards, strconv.Itoa(left-1))
	}
	if err := p.bind(r); err != nil {
		return "", err
	}
	defer r.unbind()
	if protocol := upgradeOf(r); protocol != "" && r.isWeb() && !r.Fetched {
		return "bypass", p.upgrade(ctx, w, r, p.outgoing(ctx, r, r.Fields, nil), protocol)
	}
	p.prepareCoding(r)
	c := p.newClient(w, r)
	defer c.end()
	way := &r.state
	way.proxy, way.request = p, r
	way.cacheRequest = p.cacheRequest(r, p.message(c, r))
	answer, err := p.config.Cache.Serve(ctx, &way.cacheRequest, way)
	c.answer()
	if err != nil {
		return "", bodyTimeoutError(c, err)
	}
	if r.Fetched {
		if answer, err = p.asFetched(r, answer); err != nil {
			return "", err
		}
	}
	if answer, err = challenging(r, answer); err != nil {
		return "", err
	}
	p.send(ctx, w, r, answer)
	return cacheWord(answer.Outcome), nil
}

// prepare edits the fields of a request to those that are forwarded, before any of them affects a decision.
func (p *Proxy) prepare(r *Request) {
	p.consume(r)
	if r.isGateway() {
		r.Fields = r.Site.edited(r)
	}
}

// cacheRequest returns the request for the cache; asked is the message that is forwarded on a miss.
func (p *Proxy) cacheRequest(r *Request, requested httpmessage.Request) httpcache.Request {
	c := httpcache.Request{
		Request: requested, Found: r.Found, Key: r.Key.String(), Added: p.added(r), Client: quota.Network(r.QuotaAddr),
		Gateway: r.isGateway(), OriginCompresses: p.encodes(r), Check: r.Check, Bypass: r.bound != nil,
		ClientHalfClosed: r.ClientHalfClosed,
	}
	if r.isGateway() {
		c.Overrides = r.Site.Cache
	}
	return c
}

// prepareCoding replaces Accept-Encoding by the one coding that the response will get, if it may be compressed.
func (p *Proxy) prepareCoding(r *Request) {
	if !p.encodes(r) {
		return
	}
	p.config.Compress.StrengthenIfMatch(&r.Fields)
	// otherwise it is unchanged
	if lines := p.config.Compress.NormalizeAcceptEncoding(r.Fields.Values); len(lines) == 1 {
		r.Fields.Set("Accept-Encoding", lines[0])
	}
}

// message returns the message that the cache forwards for a client.
func (p *Proxy) message(c *client, r *Request) httpmessage.Request {
	requested := r.Request
	requested.Fields, requested.Body = p.selecting(r), nil
	if c.body != nil {
		requested.Body = c.body
	}
	isPassed := func(name string) bool { return p.passesInTrailer(r, name) }
	if requested.Trailer != nil &&
		(c.body == nil || slices.ContainsFunc(requested.Trailer.Names,
			func(name string) bool { return !isPassed(name) })) {
		requested.Trailer = nil
	}
	return requested
}

// bodyTimeoutError returns the timeout error of the request body if err is a consequence of it. The same deadline may
// end the whole request before the origin learns of it, and before the reader of the body does.
func bodyTimeoutError(c *client, err error) error {
	late := c.body != nil && (c.body.late.Load() || c.BodyTimedOut())
	if late || errors.Is(err, scheme.ErrRequestBody) && errors.Is(err, os.ErrDeadlineExceeded) {
		return problem.ErrBodyTimeout
	}
	return err
}

// roundTrip sends a request to the origin.
func (p *Proxy) roundTrip(
	ctx context.Context, c *client, r *Request, o httpcache.Outgoing,
) (*httpmessage.Response, error) {
	permit, err := p.config.Fetches.Acquire(r.QuotaAddr)
	if err != nil {
		return nil, err
	}
	rooms := r.state.takeScratch(&o)
	o.Fields = p.outgoing(ctx, r, o.Fields, rooms.sent[:0])
	arrived := false
	defer func() {
		if !arrived { // also if a handler panics
			permit.Release()
		}
	}()
	resource, pick, err := p.fetchOf(ctx, c, r, o)
	if err != nil {
		return nil, err
	}
	arrived = true
	response := &resource.Response
	response.Fields, response.Private = httpcache.AppendEndToEnd(rooms.received[:0], response.Fields),
		scheme.HasConnectionToken(response.Fields)
	if response.Body == http.NoBody { // the response has no content
		permit.Release()
		pick.Release()
	} else {
		rooms.body.ReadCloser, rooms.body.permit, rooms.body.pick = response.Body, permit, pick
		response.Body = &rooms.body
	}
	if p.encodes(r) {
		p.config.Compress.Response(o.Method, o.Fields, response)
	}
	return response, nil
}

// encodes reports whether responses to a request may be compressed: those of sites, but not those of other
// servers, whose content must not be transformed (RFC 9110 section 7.7).
func (p *Proxy) encodes(r *Request) bool { return p.config.Compress != nil && r.isGateway() }

// fetchOf sends a request to the origin, or to the servers of a site: to the next one if a server did not answer and
// the request may be repeated. The pick has to be released with the response; it is nil for an origin.
func (p *Proxy) fetchOf(
	ctx context.Context, c *client, r *Request, o httpcache.Outgoing,
) (*scheme.Resource, *balance.Pick, error) {
	if r.bound != nil || !r.isGateway() {
		var server uri.URI
		if r.bound != nil {
			server = r.bound.server
		}
		resource, err := p.fetchFrom(ctx, c, r, server, o)
		return resource, nil, err
	}
	var tried balance.Tried
	for failed := error(nil); ; {
		pick, ok := r.Site.Pool.Pick(r.Key.String(), &tried)
		switch {
		case !ok && failed == nil:
			return nil, nil, problem.ErrSiteServers
		case !ok || failed != nil && !r.Site.Pool.MayRetry():
			pick.Release()
			return nil, nil, failed
		}
		resource, err := p.fetchPicked(ctx, c, r, pick, o)
		if err == nil {
			return resource, pick, nil
		}
		if ctx.Err() == nil && !errors.Is(err, scheme.ErrRequestBody) { // otherwise it is an error of the client
			r.Site.Pool.Report(pick.Server, err)
		}
		if !mayRepeat(ctx, &o, err) {
			return nil, nil, err
		}
		failed = err
	}
}

// fetchPicked sends a request to a picked server, and releases the pick if it fails, also if a handler panics.
func (p *Proxy) fetchPicked(
	ctx context.Context, c *client, r *Request, pick *balance.Pick, o httpcache.Outgoing,
) (resource *scheme.Resource, err error) {
	defer func() {
		if resource == nil {
			pick.Release()
		}
	}()
	return p.fetchFrom(ctx, c, r, pick.Server, o)
}

// mayRepeat reports whether a failed request may be sent to another server: if nothing was sent, or if its
// method is idempotent (RFC 9110 section 9.2.2). A request with a body may not, as the body was consumed.
func mayRepeat(ctx context.Context, o *httpcache.Outgoing, err error) bool {
	if o.Body != nil || ctx.Err() != nil {
		return false
	}
	switch o.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return isUnconnected(err) || errors.Is(err, scheme.ErrNoResponse)
	default:
		return isUnconnected(err)
	}
}

// fetchFrom sends a request to one server.
func (p *Proxy) fetchFrom(
	ctx context.Context, c *client, r *Request, server uri.URI, o httpcache.Outgoing,
) (*scheme.Resource, error) {
	request, fetch := p.request(r, server, o), p.config.Fetch
	if request.H2C && request.Fields.Has("Upgrade") { // HTTP/2 has no Upgrade: RFC 9113 section 8.6
		return nil, problem.ErrProtocol
	}
	if !o.Background && !r.Fetched { // at /fetch they would appear as those of this server
		request.Interim = c
	}
	if r.isGateway() && r.Site.Fetch != nil {
		fetch = r.Site.Fetch
	}
	resource, err := fetch.Fetch(ctx, request)
	if err != nil {
		return nil, err
	}
	if r.endsWith(resource) {
		c.ends.Store(true)
	}
	if r.isGateway() {
		resource.Fields = r.Site.Response.apply(resource.Fields)
		r.Site.Response.applyToTrailer(&resource.Response)
	}
	return resource, nil
}

// isUnconnected reports whether an error occurred before the connection to a server was established.
func isUnconnected(err error) bool {
	var operation *net.OpError
	return errors.Is(err, netguard.ErrLookup) || errors.Is(err, netguard.ErrConnectTimeout) ||
		errors.As(err, &operation) && operation.Op == "dial"
}

// request returns the request to the origin.
func (p *Proxy) request(r *Request, server uri.URI, o httpcache.Outgoing) scheme.Request {
	request := scheme.Request{Request: o.Request, Client: r.QuotaAddr, Check: r.Check}
	if r.isGateway() {
		r.Site.address(&request, server, r.URI, r.Key)
	}
	if r.bound != nil && !o.Background {
		request.Bound = r.bound.BoundConn
	}
	return request
}

// Purge invalidates the stored responses for a URI, in all spellings, so that they are validated before
// reuse, and returns their number.
func (p *Proxy) Purge(ctx context.Context, key uri.URI) int { return p.config.Purge(ctx, key) }

// cacheWord returns the result of the HTTP cache in one word, for logs.
func cacheWord(o httpcache.Outcome) string {
	switch {
	case o.Forwarded == "bypass" || o.Forwarded == "method" || o.Forwarded == "" && !o.HasTTL:
		return "bypass"
	case o.Hit() && o.Stale:
		return "stale"
	case o.Hit():
		return "hit"
	case o.OriginStatus == http.StatusNotModified:
		return "revalidated"
	case o.Collapsed:
		return "collapsed"
	default:
		return "miss"
	}
}
