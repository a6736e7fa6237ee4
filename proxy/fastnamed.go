package proxy

import "github.com/urnd/urnd/proxy/gate"

// namedBy returns the client of a request with fields by which a proxy in front names it, where that is trusted, and the place to which
// that client has come: by one connection come the requests of many. It is valid until the next request of the connection.
func (p *FastPath) namedBy(f *fastClient, w *fastWork) *fastClient {
	n := f.named
	if n == nil {
		n = &fastClient{handler: f.handler, remote: f.remote, place: f.place}
		f.named = n
	}
	n.client = gate.ClientOfPeer(f.client.Peer, w.view.Lines, p.config.Access.Trusted)
	p.setClient(&n.place, &n.client)
	if n.place.IsFronted {
		n.place.Scheme = gate.SchemeOf(w.view.Lines)
	}
	return n
}
