package proxy

import (
	"net/http"
	"net/netip"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/forward/tunnel"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// serveForward answers a request for a site or through the forward proxy, from the cache or by the origin.
func (x *exchange) serveForward() error {
	h, a, c := x.handler, &x.request, &x.handler.config
	switch {
	case a.Err != nil && a.Kind == route.KindForward:
		return x.suggest(a.Err)
	case a.Err != nil:
		return a.Err
	}
	if a.RedirectsToNormal {
		return x.replied(message.Reply{
			Status: http.StatusPermanentRedirect, Location: a.Key.String(), CacheControl: message.MaxAge(c.RuleTTL),
		}, nil)
	}
	if a.Site != nil {
		if own := h.sites[a.Site.Index].FixedResponse; own != nil {
			return x.replied(own.reply(a, c.RuleTTL), nil)
		}
	}
	return x.forward(&forward.Request{Found: x.found})
}

// forward forwards the request to the origin of its target URI, or to the servers of the site that the URI belongs to.
func (x *exchange) forward(r *forward.Request) error {
	h, a := x.handler, &x.request
	x.received(r)
	r.Client, r.QuotaAddr, r.Check = x.client.Addr, x.client.Addr, x.verdict.AddressCheck()
	r.Key, r.URI, r.Spelling = a.Key, a.OutgoingURI(), a.Spelling
	r.Session, r.ClientHalfClosed = x.session(), x.HalfClosed()
	r.Trusted = x.endpoint.BehindProxy
	if x.client.Unknown {
		r.Client = netip.Addr{} // the address is that of the proxy in front
	}
	at := a.Site
	if at == nil {
		var err error
		if at, err = h.server.Sites.Find(a.Key, a.Spelling); err != nil {
			return err
		}
	}
	if at != nil {
		if a.Site == nil && (!h.gate.IsOpen(at) || h.sites[at.Index].FixedResponse != nil) {
			return problem.ErrSiteFetch
		}
		r.Site = &h.sites[at.Index].Site
	}
	word, err := h.forward.Serve(x.ctx, x, r)
	x.event.Cache, x.event.Rule = word, x.verdict.Rule()
	return err
}

// received copies the incoming request into the one to be forwarded.
func (x *exchange) received(r *forward.Request) {
	in := x.in
	r.Request = httpmessage.Request{
		Method: in.Method, Fields: append(r.ScratchFields(), in.Fields...), Body: in.Body,
		ContentLength: in.ContentLength, Trailer: in.Trailer,
	}
	r.Target, r.Authority, r.Major, r.Minor, r.Protocol = in.Target, in.Host, in.Major, in.Minor, in.Protocol
}

// purge answers PURGE: it invalidates all variants of a URI, so that they are validated before reuse.
func (x *exchange) purge() (reply message.Reply, err error) {
	if x.request.Err != nil {
		return reply, x.request.Err
	}
	purged := x.handler.forward.Purge(x.ctx, x.request.Key)
	status := http.StatusOK
	if purged == 0 {
		status = http.StatusNotFound
	}
	return message.JSON(status, map[string]int{"purged": purged}), nil
}

// serveTunnel opens a tunnel for a client of the proxy.
func (x *exchange) serveTunnel() error {
	a := &x.request
	if a.Err != nil {
		return problem.NotHTTP(a.Err.Error())
	}
	r := &forward.Request{Client: x.client.Addr, QuotaAddr: x.client.Addr, Check: x.verdict.AddressCheck()}
	if look := x.verdict.TunnelCheck(); look != nil {
		r.TunnelCheck = func(hello tunnel.Hello, at netip.AddrPort) error {
			err := look(helloOf(hello), hello.ServerName, at)
			if err != nil { // the status was already sent
				x.event.Err, x.event.Denied = err, true
			}
			return err
		}
	}
	x.received(r)
	carried, err := x.handler.forward.Connect(x.ctx, x, r,
		forward.Target{Host: a.Authority.Host, Port: a.Authority.Port})
	x.event.Bytes += carried
	x.event.Rule = x.verdict.Rule()
	return err
}

// helloOf returns the policy's value for the first bytes of a tunnel.
func helloOf(hello tunnel.Hello) policy.Hello {
	switch {
	case hello.Unreadable:
		return policy.HelloUnreadable
	case !hello.IsTLS:
		return policy.HelloNotTLS
	case hello.Encrypted:
		return policy.HelloEncrypted
	case hello.ServerName == "":
		return policy.HelloUnnamed
	default:
		return policy.HelloNamed
	}
}

// serveFetch retrieves a location as a resource of this server: /fetch?uri=. Browsers get a form if the
// parameter is missing.
func (x *exchange) serveFetch() error {
	a := &x.request
	switch {
	case a.Err != nil && a.Target.Text == "" && problem.PrefersHTML(x.header):
		return x.replied(message.Reply{
			Status: http.StatusOK,
			Vary:   "Accept",
		}.WithPage(message.Page(x.writer().Fetch())), nil)
	case a.Err != nil:
		return a.Err
	default:
		return x.forward(&forward.Request{
			Fetched: true, Sort: a.Target.Sort, Language: x.chosen(),
			Embedder: x.handler.gate.Embedder(&x.client),
		})
	}
}

// retrieve fetches the resource at the first available location of a name, or at all of them for I2Rs (RFC 2483).
func (x *exchange) retrieve() (message.Reply, error) {
	h, q := x.handler, x.request.Target.Query
	all := q.Service == resolver.I2Rs
	q.Service = resolver.I2L
	if all {
		q.Service = resolver.I2Ls
	}
	ctx := x.ctx
	found, err := h.config.Resolver.Resolve(ctx, q)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.URI)
	}
	fetch := h.forward.Resource
	if all {
		fetch = h.forward.Resources
	}
	reply, err := fetch(ctx, forward.Retrieval{
		Method: x.in.Method, Fields: x.in.Fields, Client: q.Client,
		Locations: h.answers.InOrder(x.header, found.Locations, forward.MaxResources),
		Allow:     x.mayRetrieve, Embedder: h.gate.Embedder(&x.client),
	})
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.URI)
	}
	reply.Record = found.Record()
	return reply, nil
}

// mayRetrieve decides which servers may be contacted for the resources of a name, by the rules of the site and by the
// initiator of the request. crossSite is whether another server redirected to u. It implements forward.Allow.
func (x *exchange) mayRetrieve(u uri.URI, crossSite bool) (func(netip.AddrPort) error, error) {
	if err := gate.MayRetrieve(x.verdict.Initiator, u, crossSite || x.request.Target.CrossSiteRedirect); err != nil {
		return nil, err
	}
	v := x.handler.gate.Retrieve(x.ctx, &x.client, x.verdict.User, x.in.Method, u)
	if x.event.Rule = v.Rule(); v.Err != nil {
		return nil, v.Err
	}
	return v.AddressCheck(), nil
}
