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
	if c.Begin != nil && !x.untraced {
		mayAsk := gate.Contains(c.Access.Trusted, x.client.Peer) || gate.Contains(c.Access.Proxy, x.client.Peer)
		span = c.Begin(x.in.Method, x.lines, x.start, mayAsk)
	}
	if span != nil {
		ctx, trace := resolver.WithTrace(resolver.WithSpan(x.ctx, span.Traceparent()), c.Now)
		defer func() {
			x.event.Took = c.Now().Sub(x.start)
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

// walk admits the request, if Begin has not, and serves it.
func (x *exchange) walk() error {
	if x.err != nil {
		return x.err
	}
	if text, ok := x.challenged(); ok {
		return x.replied(message.Reply{Status: http.StatusOK, ContentType: "application/octet-stream", CacheControl: message.NoStore, Body: []byte(text)}, nil)
	}
	a, access := &x.ask, &x.handler.config.Access
	if !x.admitted {
		x.client.Login = x.login()
		x.admit()
		x.prove()
	}
	if x.verdict.Err != nil {
		return x.refused(x.verdict.Err)
	}
	a.Target.Query = x.asking(a.Target.Query)
	switch {
	case x.in.Protocol != "" && !x.changesProtocol():
		return problem.ErrProtocol
	case a.IsPreflight && a.IsLink:
		return x.replied(x.options())
	case a.IsPreflight && x.allowOrigin():
		return x.replied(answer.Preflight(a), nil)
	}
	if access.MayRefresh(&x.client) && !a.IsMisnamed && gate.WantsFresh(x.lines) {
		x.ctx = resolver.WithFresh(x.ctx)
	}
	return x.serve()
}

// changesProtocol reports whether an extended CONNECT (RFC 8441) may open a WebSocket: only to a server
// behind urnd. A 2xx response of urnd itself would mean that it accepts the protocol.
func (x *exchange) changesProtocol() bool {
	forwarded := x.ask.Kind == route.KindSite || x.ask.Kind == route.KindForward || x.ask.Kind == route.KindSecure
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
	x.verdict, x.admitted = x.handler.gate.Admit(x.ctx, &x.client, &x.ask), true
	x.event.Rule = x.verdict.Rule()
}

// classify sets the route of the request. It returns an error for a malformed message or a loop. Before keep,
// the route refers to scratch buffers.
func (x *exchange) classify() (err error) {
	in, h := x.in, x.handler
	if len(in.Target) > h.config.MaxTarget && in.Method != http.MethodConnect {
		return problem.ErrTargetTooLong
	}
	if x.own.Server == nil { // not called by keep
		x.view.Scratch = &x.texts
	}
	x.view.Method, x.view.Target, x.view.Host, x.view.HTTP2, x.view.Lines = in.Method, in.Target, in.Host, in.Major == 2, x.lines
	route.Classify(&x.ask, &x.view, x.place)
	if x.uses&httpmessage.LoopDetection != 0 {
		if x.hops, err = message.Hops(x.lines); err != nil {
			return err
		}
		if x.hops == resolver.MaxHops || h.config.Via.Loops(x.lines) {
			return problem.ErrLoop
		}
	}
	x.ask.Target.Query.Hops, x.ask.Target.Query.Client = x.hops, x.client.Addr
	x.event.Form, x.event.Service, x.event.Scheme = x.ask.Form, x.ask.Service(), x.ask.Scheme
	return nil
}

// allowOrigin sets the CORS fields if the response is public, also for an error, and reports whether the page
// that sent the request may read the response. Repeated calls have no further effect.
func (x *exchange) allowOrigin() bool {
	a := &x.ask
	public := a.IsPublic || a.IsPreflight || a.Kind == route.KindBatch || a.Kind == route.KindDocument
	if public && !x.crossed {
		x.crossed, x.readable = true, x.handler.cors.Allow(&x.fields, x.lines.Of("Origin"))
	}
	return x.readable
}

// asking adds the client and its rights to a query.
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

// mayBeLedToURLs reports whether the client may resolve URLs. A page of another site does not inherit the
// rights of its reader's address.
func (x *exchange) mayBeLedToURLs() bool {
	return x.handler.gate.MayProxy(x.ctx, &x.client, &x.ask) == nil && !x.lines.Has("Origin")
}
