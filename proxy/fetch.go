package proxy

import (
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/uri"
)

// fetch retrieves a location for a client that may use the proxy, as a resource of this server:
// /fetch?uri=. The rules of the site hold for it as for a request to the proxy.
func (h *Handler) fetch(x *exchange, u uri.URI) error {
	if err := h.mayProxy(x); err != nil {
		return err
	}
	asked, err := policy.NewRequest(x.client.Addr, x.user, x.request.Method, u)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	v, err := h.judge(x, asked)
	if err != nil {
		return err
	}
	u = u.WithoutFragment()
	return h.forwardRequest(x, &forward.Request{Key: u.Normalize(), Target: h.spelled(x, u), Fetched: true}, v)
}
