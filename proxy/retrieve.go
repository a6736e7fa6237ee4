package proxy

import (
	"net/netip"

	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// retrieve fetches the resource at the first possible location of a name, or all for I2Rs.
func (h *Handler) retrieve(x *exchange, r *message.Request) (message.Reply, error) {
	q := r.Query
	by, err := h.initiator(x)
	if err != nil {
		return message.Reply{}, problem.About(err, q.URI)
	}
	all := q.Service == resolver.I2Rs
	q.Service = resolver.I2L
	if all {
		q.Service = resolver.I2Ls
	}
	ctx := x.request.Context()
	found, err := h.config.Resolver.Resolve(ctx, q)
	if err != nil {
		return message.Reply{}, problem.About(err, q.URI)
	}
	locations := h.answers.InOrder(x.request.Header, found.Locations, forward.MaxResources)
	fetch := h.forward.Resource
	if all {
		fetch = h.forward.Resources
	}
	reply, err := fetch(ctx, forward.Retrieval{
		Request: x.request, Locations: locations, Client: q.Client, Allow: h.allow(x, by, r.Led), Embedder: h.embedder(x),
	})
	if err != nil {
		return message.Reply{}, problem.About(err, q.URI)
	}
	reply.Record = found.Record()
	return reply, nil
}

// allow returns what decides, by the rules of the site and by who made the client ask, which servers may be asked for the
// resources of a name; toName is whether a server has led to the name.
func (h *Handler) allow(x *exchange, by message.Initiator, toName bool) forward.Allow {
	return func(u uri.URI, led bool) (func(netip.AddrPort) error, error) {
		if err := mayRetrieve(by, u, led || toName); err != nil {
			return nil, err
		}
		asked, err := policy.NewRequest(x.client.Addr, x.user, x.request.Method, u)
		if err != nil {
			return nil, resolver.Unreachable(err)
		}
		v, err := h.judge(x, asked)
		if err != nil {
			return nil, err
		}
		return v.check(), nil
	}
}
