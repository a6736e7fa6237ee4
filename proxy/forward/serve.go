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

// Serve answers a request from the cache, or forwards it to the origin server, and returns what the
// cache did in one word. An error means that nothing was sent.
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
	way := &r.passage
	way.proxy, way.request = p, r
	way.asked = p.cacheRequest(r, p.asked(c, r))
	answer, err := p.config.Cache.Serve(ctx, &way.asked, way)
	c.answer()
	if err != nil {
		return "", blamed(c, err)
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

// prepare makes the fields of a request those that are passed on, before any of them decides something.
func (p *Proxy) prepare(r *Request) {
	p.consume(r)
	if r.isGateway() {
		r.Fields = r.Site.edited(r)
	}
}

// cacheRequest returns a request as the cache gets it, with asked for what it asks for.
func (p *Proxy) cacheRequest(r *Request, asked httpmessage.Request) httpcache.Request {
	c := httpcache.Request{
		Request: asked, Found: r.Found, Key: r.Key.String(), Added: p.added(r), Client: quota.Network(r.Share),
		Gateway: r.isGateway(), Encodes: p.encodes(r), Check: r.Check, Pass: r.bound != nil, Ended: r.Ended,
	}
	if r.isGateway() {
		c.Overrides = r.Site.Cache
	}
	return c
}

// prepareCoding lets a request whose response may be compressed select it by the one coding that it gets.
func (p *Proxy) prepareCoding(r *Request) {
	if !p.encodes(r) {
		return
	}
	p.config.Compress.StrengthenIfMatch(&r.Fields)
	if lines := p.config.Compress.Selecting(r.Fields.Lines); len(lines) == 1 { // else they are those of the client
		r.Fields.Set("Accept-Encoding", lines[0])
	}
}

// asked returns the request as the cache gets it, for a client.
func (p *Proxy) asked(c *client, r *Request) httpmessage.Request {
	asked := r.Request
	asked.Fields, asked.Body = p.selecting(r), nil
	if c.body != nil {
		asked.Body = c.body
	}
	isPassed := func(name string) bool { return p.passes(r, name) }
	if asked.Trailer != nil && (c.body == nil || slices.ContainsFunc(asked.Trailer.Names, func(name string) bool { return !isPassed(name) })) {
		asked.Trailer = nil
	}
	return asked
}

// blamed returns an error that names the client as who took too long, where it is about its body. The same
// deadline may end the request as a whole before the origin is told of it, and before who reads the body knows.
func blamed(c *client, err error) error {
	isLate := c.body != nil && (c.body.late.Load() || c.BodyLate())
	if isLate || errors.Is(err, scheme.ErrBody) && errors.Is(err, os.ErrDeadlineExceeded) {
		return problem.ErrBodyTimeout
	}
	return err
}

// ask sends a request to the origin.
func (p *Proxy) ask(ctx context.Context, c *client, r *Request, o httpcache.Outgoing) (*httpmessage.Response, error) {
	permit, err := p.config.Fetches.Acquire(r.Share)
	if err != nil {
		return nil, err
	}
	rooms := r.passage.take(&o)
	o.Fields = p.outgoing(ctx, r, o.Fields, rooms.sent[:0])
	arrived := false
	defer func() {
		if !arrived { // also where a handler panics
			permit.Release()
		}
	}()
	resource, pick, err := p.fetchOf(ctx, c, r, o)
	if err != nil {
		return nil, err
	}
	arrived = true
	response := &resource.Response
	response.Fields, response.Private = httpcache.AppendEndToEnd(rooms.received[:0], response.Fields), scheme.HasConnectionToken(response.Fields)
	if response.Body == http.NoBody { // nothing more is to come
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

// encodes reports whether responses to a request are compressed: those of sites, and not those of other servers, whose content is not
// urnd's to change (RFC 9110 section 7.7).
func (p *Proxy) encodes(r *Request) bool { return p.config.Compress != nil && r.isGateway() }

// fetchOf asks the origin, or the servers of a site: another one where one has not answered a request that may be sent again. The pick
// is to be released with the response; it is nil where no server of a site was picked.
func (p *Proxy) fetchOf(ctx context.Context, c *client, r *Request, o httpcache.Outgoing) (*scheme.Resource, *balance.Pick, error) {
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
		if ctx.Err() == nil && !errors.Is(err, scheme.ErrBody) { // else it is the client's
			r.Site.Pool.Report(pick.Server, err)
		}
		if !mayRepeat(ctx, &o, err) {
			return nil, nil, err
		}
		failed = err
	}
}

// fetchPicked asks a server that was picked, and releases it where it has not answered, also where a handler panics.
func (p *Proxy) fetchPicked(ctx context.Context, c *client, r *Request, pick *balance.Pick, o httpcache.Outgoing) (resource *scheme.Resource, err error) {
	defer func() {
		if resource == nil {
			pick.Release()
		}
	}()
	return p.fetchFrom(ctx, c, r, pick.Server, o)
}

// mayRepeat reports whether a request that has failed may be sent to another server: where nothing was sent, or its method is
// idempotent (RFC 9110 section 9.2.2). A body was read by then.
func mayRepeat(ctx context.Context, o *httpcache.Outgoing, err error) bool {
	if o.Body != nil || ctx.Err() != nil {
		return false
	}
	switch o.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return isUnconnected(err) || errors.Is(err, scheme.ErrUnanswered)
	default:
		return isUnconnected(err)
	}
}

// fetchFrom asks one server.
func (p *Proxy) fetchFrom(ctx context.Context, c *client, r *Request, server uri.URI, o httpcache.Outgoing) (*scheme.Resource, error) {
	request, fetch := p.request(r, server, o), p.config.Fetch
	if request.H2C && request.Fields.Has("Upgrade") { // which HTTP/2 has not: RFC 9113 section 8.6
		return nil, problem.ErrProtocol
	}
	if !o.Background && !r.Fetched { // its fields are not those of this server
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
	}
	return resource, nil
}

// isUnconnected reports whether an error is of connecting to a server.
func isUnconnected(err error) bool {
	var operation *net.OpError
	return errors.Is(err, netguard.ErrLookup) || errors.Is(err, netguard.ErrConnectTimeout) || errors.As(err, &operation) && operation.Op == "dial"
}

// request returns the request to the origin.
func (p *Proxy) request(r *Request, server uri.URI, o httpcache.Outgoing) scheme.Request {
	request := scheme.Request{Request: o.Request, Client: r.Share, Check: r.Check}
	if r.isGateway() {
		r.Site.address(&request, server, r.URI, r.Key)
	}
	if r.bound != nil && !o.Background {
		request.Bound = r.bound.BoundConn
	}
	return request
}

// Purge makes the stored responses for a URI, in all of its spellings, to be validated before they are used again, and returns
// how many there were.
func (p *Proxy) Purge(ctx context.Context, key uri.URI) int { return p.config.Purge(ctx, key) }

// cacheWord returns the outcome of a request with regard to the HTTP cache in one word, for logs.
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
