package proxy

import (
	"net/http"

	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/proxy/problem"
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

// fetchForm replies with the page that asks who may fetch for a URL.
func (h *Handler) fetchForm(x *exchange) error {
	if err := h.mayProxy(x); err != nil {
		return err
	}
	h.reply(x, message.Reply{Status: http.StatusOK, ContentType: pages.ContentType, Body: pages.Fetch(), Vary: "Accept"})
	return nil
}

// unfetched returns the error of a request at /fetch with what was asked for, without its password.
func unfetched(r *message.Request, err error) error {
	about := &problem.Failure{Err: err, Input: r.Query.URI.WithoutPassword().String(), Fetched: true}
	if about.Typed = about.Input; about.Typed == "" {
		about.Typed = r.Text // it is no URI
	}
	return about
}
