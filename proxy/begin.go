package proxy

import (
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/route"
)

// Begin implements httpmessage.Handler: it classifies a request, admits it if that needs no waiting, and
// answers it if a cache holds the response. It returns nil if it has sent the response, else the Continuation
// that serves the request.
func (h *Handler) Begin(in *httpmessage.Incoming, w httpmessage.ResponseWriter) (rest httpmessage.Continuation) {
	x := h.newExchange(in, w)
	answered := false
	defer func() {
		switch value := recover(); {
		case value != nil:
			x.end(x.answerPanic(value))
			rest = nil
		case answered:
			x.end(true)
		}
	}()
	x.inspect()
	x.setClient()
	if h.config.SendRequestID {
		x.identify()
	}
	if h.config.HSTS != "" && x.endpoint.Secure && strings.HasPrefix(x.in.Target, "/") { // not for forwarded requests
		x.fields.Set("Strict-Transport-Security", h.config.HSTS)
	}
	if x.err = x.classify(); x.err == nil && x.isCachable() && !h.gate.Waits(&x.client, &x.request) {
		x.admit()
		if answered = x.verdict.Err == nil && x.cached(); answered {
			return nil
		}
	}
	x.clone()
	return x
}

// isCachable reports whether a cache may hold the response to a request of this method and route kind.
func (x *exchange) isCachable() bool {
	a := &x.request
	switch {
	case !a.IsGet || !x.plain || a.Err != nil || a.Retrieves:
		return false
	case a.Kind == route.KindForward:
		return !a.RedirectsToNormal
	case a.Kind == route.KindSite:
		return x.handler.sites[a.Site.Index].FixedResponse == nil // the cached response may predate this configuration
	default:
		return a.Kind == route.KindName
	}
}

// inspect sets plain and uses from the header fields of the request.
func (x *exchange) inspect() {
	x.plain = x.in.Body == nil && x.in.ContentLength == 0 && x.in.Protocol == ""
	for i := range x.in.Fields {
		f := &x.in.Fields[i]
		use := httpmessage.UseOf(f.Name)
		x.uses |= use
		if use&httpmessage.Plain == 0 && !isKeepAlive(f) {
			x.plain = false
		}
	}
}

// isKeepAlive reports whether a Connection field holds nothing but the option keep-alive or close.
func isKeepAlive(f *httpmessage.Field) bool {
	return f.HasName("Connection") && (f.Value == "keep-alive" || f.Value == "close" || f.Value == "Keep-Alive")
}

// clone copies the state of the request, so that it stays valid until Continue: until then it refers to the
// read buffer of the connection and to pooled scratch buffers.
func (x *exchange) clone() {
	copied := x.in.Clone()
	x.ownEndpoint = *x.endpoint
	x.endpoint = &x.ownEndpoint
	x.client.Host = x.in.Host
	x.requestHead.Scratch = nil
	if x.err != nil || x.request.Err != nil { // the error may refer to the read buffer, too
		x.err = x.classify()
		return
	}
	x.request.Clone(copied.Clone)
	x.verdict.Clone(copied.Clone)
}

// peer is the client of a connection and its place, cached as the state of the connection. Each Handler makes
// its own: after a reload it is computed again.
type peer struct {
	handler  *Handler
	client   gate.Client
	endpoint route.Endpoint
	hasAddr  bool            // false for a client on a Unix domain socket
	fronted  *route.Endpoint // the place of the client that a proxy in front named most recently; nil if it named none
}

// peerOf returns the peer of the connection of a request.
func (h *Handler) peerOf(conn httpmessage.Connection) *peer {
	if p, ok := conn.State().(*peer); ok && p.handler == h {
		return p
	}
	p := &peer{handler: h}
	remote := conn.RemoteAddr().String()
	p.hasAddr = gate.AddrOf(remote).IsValid()
	p.client = gate.NewClient(remote, nil, h.config.Access.Trusted)
	p.endpoint = h.newEndpoint(&p.client, conn.Secure())
	if local := conn.LocalAddr(); local != nil {
		p.endpoint.LocalAddr = local.String()
	}
	p.endpoint.ServerName = conn.ServerName()
	conn.SetState(p)
	return p
}

// setClient sets the client and the place of the request.
func (x *exchange) setClient() {
	p := x.handler.peerOf(x.in.Conn)
	x.client, x.endpoint, x.hasAddr = p.client, &p.endpoint, p.hasAddr
	if x.uses&httpmessage.FromProxy != 0 {
		x.setNamed(p)
	}
	x.client.Header, x.client.Host, x.client.Secure = x.header, x.in.Host, p.endpoint.Secure
}

// setNamed sets the client that a trusted proxy in front names, and its place: one connection carries the
// requests of many clients.
func (x *exchange) setNamed(p *peer) {
	h := x.handler
	x.client = gate.NewClientOfPeer(p.client.Peer, x.header, h.config.Access.Trusted)
	if p.fronted == nil {
		place := p.endpoint
		p.fronted = &place
	}
	x.endpoint = p.fronted
	h.setClient(x.endpoint, &x.client)
	x.endpoint.Scheme = ""
	if x.endpoint.BehindProxy {
		x.endpoint.Scheme = gate.SchemeOf(x.header)
	}
}

// newEndpoint returns the place at which a client's connection arrived.
func (h *Handler) newEndpoint(c *gate.Client, secure bool) route.Endpoint {
	p := route.Endpoint{Server: &h.server, Secure: secure, BehindProxy: gate.Contains(h.config.Access.Trusted, c.Peer)}
	h.setClient(&p, c)
	return p
}

// setClient sets the parts of a place that depend on the rights and the address of the client.
func (h *Handler) setClient(p *route.Endpoint, c *gate.Client) {
	p.LocalClient, p.MayProxy = c.Addr.IsLoopback(), h.config.Access.MayProxy(c)
}
