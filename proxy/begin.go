package proxy

import (
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/route"
)

// Begin implements httpmessage.Handler: it classifies a request, admits it where that needs no waiting, and answers it where a cache can.
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
	if h.config.Identify {
		x.identify()
	}
	if h.config.HSTS != "" && x.place.Secure && strings.HasPrefix(x.in.Target, "/") { // not what is forwarded
		x.fields.Set("Strict-Transport-Security", h.config.HSTS)
	}
	if x.err = x.classify(); x.err == nil && x.isCachable() && !h.gate.Waits(&x.client, &x.ask) {
		x.admit()
		if answered = x.verdict.Err == nil && x.cached(); answered {
			return nil
		}
	}
	x.keep()
	return x
}

// isCachable reports whether a cache may have the answer to a request of this kind.
func (x *exchange) isCachable() bool {
	a := &x.ask
	switch {
	case !a.IsGet || !x.isPlain || a.Err != nil || a.Retrieves:
		return false
	case a.Kind == route.KindForward:
		return !a.IsRespelled
	case a.Kind == route.KindSite:
		return x.handler.sites[a.Site.Index].Answer == nil // else what is stored was answered before this configuration
	default:
		return a.Kind == route.KindName
	}
}

// inspect looks at the fields of the request.
func (x *exchange) inspect() {
	x.isPlain = x.in.Body == nil && x.in.ContentLength == 0 && x.in.Protocol == ""
	for i := range x.in.Fields {
		f := &x.in.Fields[i]
		use := httpmessage.UseOf(f.Name)
		x.uses |= use
		if use&httpmessage.Plain == 0 && !isKeepAlive(f) {
			x.isPlain = false
		}
	}
}

// isKeepAlive reports whether a field says of the connection nothing but whether it stays open.
func isKeepAlive(f *httpmessage.Field) bool {
	return f.Is("Connection") && (f.Value == "keep-alive" || f.Value == "close" || f.Value == "Keep-Alive")
}

// keep makes what was found last until Continue: until then it lay over the buffer of the connection, and over memory that is used again.
func (x *exchange) keep() {
	copied := x.in.Clone()
	x.own = *x.place
	x.place = &x.own
	x.client.Host = x.in.Host
	x.view.Scratch = nil
	if x.err != nil || x.ask.Err != nil { // which have texts of the request, too
		x.err = x.classify()
		return
	}
	x.ask.Last(copied.Lasting)
	x.verdict.Clone(copied.Lasting)
}

// peer is what is known of a connection's client, and the place to which it has come. It is made anew for another Handler, after a
// reload.
type peer struct {
	handler *Handler
	client  gate.Client
	place   route.Place
	hasAddr bool         // it has not by a socket in the file system
	fronted *route.Place // that of the client that a proxy in front has named last; nil for none
}

// peerOf returns what is known of the connection of a request.
func (h *Handler) peerOf(conn httpmessage.Connection) *peer {
	if p, ok := conn.State().(*peer); ok && p.handler == h {
		return p
	}
	p := &peer{handler: h}
	remote := conn.RemoteAddr().String()
	p.hasAddr = gate.AddrOf(remote).IsValid()
	p.client = gate.ClientOf(remote, nil, h.config.Access.Trusted)
	p.place = h.placeOf(&p.client, conn.Secure())
	if local := conn.LocalAddr(); local != nil {
		p.place.Local = local.String()
	}
	p.place.ServerName = conn.ServerName()
	conn.SetState(p)
	return p
}

// setClient sets who has sent the request, and to which place.
func (x *exchange) setClient() {
	p := x.handler.peerOf(x.in.Conn)
	x.client, x.place, x.hasAddr = p.client, &p.place, p.hasAddr
	if x.uses&httpmessage.FromProxy != 0 {
		x.setNamed(p)
	}
	x.client.Lines, x.client.Host, x.client.Secure = x.lines, x.in.Host, p.place.Secure
}

// setNamed sets the client that a proxy in front names, where that is trusted, and its place: by one connection come the requests of
// many.
func (x *exchange) setNamed(p *peer) {
	h := x.handler
	x.client = gate.ClientOfPeer(p.client.Peer, x.lines, h.config.Access.Trusted)
	if p.fronted == nil {
		place := p.place
		p.fronted = &place
	}
	x.place = p.fronted
	h.setClient(x.place, &x.client)
	x.place.Scheme = ""
	if x.place.IsFronted {
		x.place.Scheme = gate.SchemeOf(x.lines)
	}
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
