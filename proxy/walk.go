package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// traced walks within the span of the request. Without a span the traceparent of the client is passed on to origins. Tracing
// costs time: only clients that the configuration names may demand a span, others are sampled.
func (x *exchange) traced(start time.Time) {
	c := &x.handler.config
	var span Span
	if c.Begin != nil {
		mayAsk := gate.Contains(c.Access.Trusted, x.client.Peer) || gate.Contains(c.Access.Proxy, x.client.Peer)
		span = c.Begin(x.in.method, x.lines, start, mayAsk)
	}
	if span != nil {
		ctx, trace := resolver.WithTrace(resolver.WithSpan(x.ctx, span.Traceparent()), c.Now)
		defer func() {
			x.event.Took = c.Now().Sub(start)
			span.End(&x.event, trace.Steps())
		}()
		x.ctx = ctx
	} else if traceparent := x.lines.Value(httpmessage.TraceparentField); httpmessage.IsTraceparent(traceparent) {
		x.ctx = message.WithTraceparent(x.ctx, traceparent)
	}
	if err := x.walk(); err != nil {
		x.fail(err)
	}
}

// walk is the way of a request: it is classified, admitted and served.
func (x *exchange) walk() error {
	if err := x.classify(); err != nil {
		return err
	}
	a, access := &x.ask, &x.handler.config.Access
	x.verdict = x.handler.gate.Admit(x.ctx, &x.client, a)
	x.event.Rule = x.verdict.Rule()
	if x.verdict.Err != nil {
		return x.refused(x.verdict.Err)
	}
	switch {
	case a.IsPreflight && a.IsLink:
		return x.serveOptions()
	case a.IsPreflight && x.allowOrigin():
		x.reply(answer.Preflight(a))
		return nil
	}
	if access.MayRefresh(&x.client) && !a.IsMisnamed && gate.WantsFresh(x.lines) {
		x.ctx = resolver.WithFresh(x.ctx)
	}
	return x.serve()
}

// classify says what is asked, unless the message is malformed or in a loop.
func (x *exchange) classify() (err error) {
	in, h := &x.in, x.handler
	if len(in.target) > h.config.MaxTarget && in.method != http.MethodConnect {
		return problem.ErrTargetTooLong
	}
	x.place = h.placeOf(&x.client, in.isSecure)
	x.place.Local, x.place.ServerName = in.local, in.serverName
	if x.place.IsFronted {
		x.place.Scheme = gate.SchemeOf(x.lines)
	}
	if in.ask != nil {
		x.ask = *in.ask
	} else {
		view := route.View{Method: in.method, Target: in.target, Host: in.host, HTTP2: in.major == 2, Lines: x.lines}
		route.Classify(&x.ask, &view, &x.place)
	}
	if err := x.check(); err != nil {
		return err
	}
	x.event.Form, x.event.Service, x.event.Scheme = x.ask.Form, x.ask.Service(), x.ask.Scheme
	return nil
}

// placeOf returns the place to which a client has come.
func (h *Handler) placeOf(c *gate.Client, secure bool) route.Place {
	p := route.Place{Server: &h.server, Secure: secure, IsFronted: gate.Contains(h.config.Access.Trusted, c.Peer)}
	h.setClient(&p, c)
	return p
}

// setClient sets what a request means of a place by the rights and the address of its client.
func (h *Handler) setClient(p *route.Place, c *gate.Client) {
	p.IsThisMachine, p.Proxies = c.Addr.IsLoopback(), h.config.Access.MayProxy(c)
}

// allowOrigin lets the page that sent the request read the reply, if that is public, also a refusal, and reports whether it may. It does so once.
func (x *exchange) allowOrigin() bool {
	a := &x.ask
	isPublic := a.IsPublic || a.IsPreflight || a.Kind == route.KindBatch || a.Kind == route.KindDocument
	if isPublic && !x.isCrossed {
		x.isCrossed, x.isReadable = true, x.handler.cors.Allow(x.Header(), x.lines.Of("Origin"))
	}
	return x.isReadable
}

// check refuses a request that is malformed, or in a loop. It takes the hop count of others.
func (x *exchange) check() (err error) {
	if r, ok := x.in.source.(netHTTP); ok && x.in.major == 2 {
		if err := checkHTTP2(r.Request); err != nil {
			return err
		}
	}
	if x.hops, err = message.Hops(x.lines); err != nil {
		return err
	}
	x.ask.Target.Query = x.asking(x.ask.Target.Query)
	if x.hops == resolver.MaxHops || x.handler.config.Via.Loops(x.lines) {
		return problem.ErrLoop
	}
	return nil
}

// asking returns a question as that of the client.
func (x *exchange) asking(q resolver.Query) resolver.Query {
	q.Hops, q.Client = x.hops, x.client.Addr
	if kind := x.ask.Kind; kind != route.KindName && kind != route.KindBatch {
		return q
	}
	if q.Spelling.IsLocation() || q.URI.IsLocation() && x.ask.Host == "" && !x.handler.config.Names.Claims(q.URI) {
		q.NamesOnly = !x.mayBeLedToURLs()
	}
	return q
}

// mayBeLedToURLs reports whether the client may ask where URLs lead. A page of another site has not the right of the address that its reader is at.
func (x *exchange) mayBeLedToURLs() bool {
	return x.handler.gate.MayProxy(x.ctx, &x.client, &x.ask) == nil && !x.lines.Has("Origin")
}

// checkHTTP2 refuses a request that is malformed, where net/http accepts by HTTP/2 what it refuses
// by HTTP/1.1: RFC 9113 sections 8.1.1 and 8.3.1.
func checkHTTP2(r *http.Request) error {
	length := r.Header["Content-Length"]
	switch {
	case !httpguts.ValidHeaderFieldName(r.Method):
		return problem.NotHTTP("the method is no token")
	case !strings.HasPrefix(r.RequestURI, "/") && r.RequestURI != "*" && r.Method != http.MethodConnect:
		return problem.NotHTTP("the :path of HTTP/2 begins with a slash")
	case !httpguts.ValidHostHeader(r.Host):
		return problem.NotHTTP("the :authority is no host")
	case len(length) > 0 && (len(length) > 1 || length[0] != strconv.FormatInt(r.ContentLength, 10)):
		return problem.NotHTTP("Content-Length is not that of the body")
	default:
		return nil
	}
}
