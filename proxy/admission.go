package proxy

import (
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// traced serves the request within its span. Without a span the traceparent of the client is forwarded to origins.
// Tracing is costly: only clients named in the configuration may demand a span; other requests are sampled.
func (x *exchange) traced() {
	c := &x.handler.config
	var span Span
	if c.StartSpan != nil && !x.untraced {
		mayAsk := gate.Contains(c.Access.Trusted, x.client.Peer) || gate.Contains(c.Access.Proxy, x.client.Peer)
		span = c.StartSpan(x.in.Method, x.header, x.start, mayAsk)
	}
	if span != nil {
		ctx, trace := resolver.WithTrace(resolver.WithSpan(x.ctx, span.Traceparent()), c.Now)
		defer func() {
			x.event.Duration = c.Now().Sub(x.start)
			span.End(&x.event, trace.Steps())
		}()
		x.ctx = ctx
	} else if traceparent := x.header.Get(httpmessage.TraceparentField); httpmessage.IsTraceparent(traceparent) {
		x.ctx = message.WithTraceparent(x.ctx, traceparent)
	}
	if err := x.admitAndServe(); err != nil {
		x.fail(err)
	}
}

// admitAndServe admits the request, if Begin has not, and serves it.
func (x *exchange) admitAndServe() error {
	if x.err != nil {
		return x.err
	}
	if text, ok := x.challenged(); ok {
		return x.replied(message.Reply{
			Status: http.StatusOK, ContentType: "application/octet-stream",
			CacheControl: message.NoStore, Body: []byte(text),
		}, nil)
	}
	a, access := &x.request, &x.handler.config.Access
	if !x.admitted {
		x.client.Login = x.login()
		x.admit()
		x.prove()
	}
	if x.verdict.Err != nil {
		return x.denialError(x.verdict.Err)
	}
	a.Target.Query = x.withClient(a.Target.Query)
	switch {
	case x.in.Protocol != "" && !x.changesProtocol():
		return problem.ErrProtocol
	case a.IsPreflight && a.IsLink:
		return x.replied(x.options())
	case a.IsPreflight && x.allowOrigin():
		return x.replied(answer.Preflight(a), nil)
	}
	if access.MayBypassCache(&x.client) && !a.UnknownHost && gate.WantsCacheBypass(x.header) {
		x.ctx = resolver.WithCacheBypass(x.ctx)
	}
	return x.serve()
}

// changesProtocol reports whether an extended CONNECT (RFC 8441) may open a WebSocket: only to a server
// behind urnd. A 2xx response of urnd itself would mean that it accepts the protocol.
func (x *exchange) changesProtocol() bool {
	forwarded := x.request.Kind == route.KindSite || x.request.Kind == route.KindForward ||
		x.request.Kind == route.KindHTTPSRedirect
	return forwarded && forward.IsWebSocket(x.in.Protocol)
}

// challenged returns the response to an ACME challenge. Every client may request it, of every host, without TLS.
func (x *exchange) challenged() (text string, ok bool) {
	if x.handler.config.Challenge == nil || x.in.Method != http.MethodGet || x.in.Protocol != "" {
		return "", false
	}
	return x.handler.config.Challenge(x.ctx, x.in.Target)
}

// admit decides whether the client may send the request.
func (x *exchange) admit() {
	x.verdict, x.admitted = x.handler.gate.Admit(x.ctx, &x.client, &x.request), true
	x.event.Rule = x.verdict.Rule()
}

// classify sets the route of the request. It returns an error for a malformed message or a loop. Before keep,
// the route refers to scratch buffers.
func (x *exchange) classify() (err error) {
	in, h := x.in, x.handler
	if len(in.Target) > h.config.MaxTarget && in.Method != http.MethodConnect {
		return problem.ErrTargetTooLong
	}
	if x.ownEndpoint.Server == nil { // not called by keep
		x.requestHead.Scratch = &x.texts
	}
	head := &x.requestHead
	head.Method, head.Target, head.Host, head.HTTP2, head.Header = in.Method, in.Target, in.Host, in.Major == 2,
		x.header
	route.Classify(&x.request, &x.requestHead, x.endpoint)
	if x.uses&httpmessage.LoopDetection != 0 {
		if x.hops, err = message.Hops(x.header); err != nil {
			return err
		}
		if x.hops == resolver.MaxHops || h.config.Via.Loops(x.header) {
			return problem.ErrLoop
		}
	}
	x.request.Target.Query.Hops, x.request.Target.Query.Client = x.hops, x.client.Addr
	x.event.Form, x.event.Service, x.event.Scheme = x.request.Form, x.request.Service(), x.request.Scheme
	return nil
}

// allowOrigin sets the CORS fields if the response is public, also for an error, and reports whether the page
// that sent the request may read the response. Repeated calls have no further effect.
func (x *exchange) allowOrigin() bool {
	a := &x.request
	public := a.Public || a.IsPreflight || a.Kind == route.KindBatch || a.Kind == route.KindDocument
	if public && !x.crossed {
		x.crossed, x.readable = true, x.handler.cors.Allow(&x.fields, x.header.Values("Origin"))
	}
	return x.readable
}

// withClient adds the client and its rights to a query.
func (x *exchange) withClient(q resolver.Query) resolver.Query {
	q.Hops, q.Client = x.hops, x.client.Addr
	if kind := x.request.Kind; kind != route.KindName && kind != route.KindBatch {
		return q
	}
	if q.Spelling.IsLocation() || q.URI.IsLocation() && x.request.Host == "" && !x.handler.config.Names.Claims(q.URI) {
		q.NamesOnly = !x.mayRedirectToURLs()
	}
	return q
}

// mayRedirectToURLs reports whether the client may resolve URLs. A page of another site does not inherit the
// rights of its reader's address.
func (x *exchange) mayRedirectToURLs() bool {
	return x.handler.gate.MayProxy(x.ctx, &x.client, &x.request) == nil && !x.header.Has("Origin")
}
