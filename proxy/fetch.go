package proxy

import (
	"errors"
	"net/http"

	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/uri"
)

// isFetch reports whether a request is one for what is retrieved at /fetch, and not for where a name leads. err is that of
// parsing it.
func (h *Handler) isFetch(x *exchange, r *message.Request, err error) bool {
	return r.Form == message.FormFetch && isGet(x.request) && (err != nil || !h.isName(r))
}

// fetch retrieves a location for a client that may use the proxy, as a resource of this server:
// /fetch?uri=. Browsers get a form where the parameter is missing. err is that of parsing the request.
func (h *Handler) fetch(x *exchange, r *message.Request, err error) error {
	by, refused := h.initiator(x)
	if refused == nil {
		refused = h.mayProxy(x)
	}
	if refused == nil && err == nil {
		refused = mayRetrieve(by, r.Query.URI, r.Led)
	}
	if refused != nil {
		return h.unfetched(r, refused)
	}
	switch {
	case r.Text == "" && err != nil && problem.PrefersHTML(x.request.Header):
		h.reply(x, message.Reply{Status: http.StatusOK, ContentType: pages.ContentType, Body: pages.Fetch(), Vary: "Accept"})
		return nil
	case err == nil:
		err = h.fetchURL(x, r)
	}
	if err != nil {
		return h.unfetched(r, err)
	}
	return nil
}

// fetchURL retrieves a location, a listing in the order that the request names. The rules of the site hold for it as for a
// request to the proxy.
func (h *Handler) fetchURL(x *exchange, r *message.Request) error {
	u := r.Query.URI
	asked, err := policy.NewRequest(x.client.Addr, x.user, x.request.Method, u)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	v, err := h.judge(x, asked)
	if err != nil {
		return err
	}
	u = u.WithoutFragment()
	key := u.Normalize()
	target := u.String()
	if uri.EncodeRaw(r.Text) == target { // else it has spaces, or a host that is no name of the DNS yet
		target = r.Text
	}
	return h.forwardRequest(x, &forward.Request{Key: key, Target: normalTarget(x.request.Method, u), Spelling: h.config.Spelling.of(target, key), Fetched: true, Sort: r.Sort, Embedder: h.embedder(x)}, v)
}

// fetchedFrom returns the host and port of what could not be fetched at /fetch, "" for other errors.
func fetchedFrom(err error) string {
	var failure *problem.Failure
	if !errors.As(err, &failure) || !failure.Fetched {
		return ""
	}
	u, parseErr := uri.Parse(failure.Input)
	if parseErr != nil {
		return ""
	}
	host, _ := u.Host()
	if port, _ := u.Port(); port != "" {
		host += ":" + port
	}
	return host
}

// leadsToFetch reports whether an address that a person typed on the front page is shown by /fetch: browsers
// do not know its scheme.
func (h *Handler) leadsToFetch(x *exchange, r *message.Request) bool {
	return r.Typed && !h.isName(r) && problem.PrefersHTML(x.request.Header) && h.config.Schemes.IsBrowsable(r.Query.URI.Scheme())
}

// unfetched returns the error of a request at /fetch with what was asked for, without its password.
func (h *Handler) unfetched(r *message.Request, err error) error {
	about := &problem.Failure{Err: err, Input: r.Query.URI.WithoutPassword().String(), Fetched: true}
	if about.Typed = about.Input; about.Typed == "" {
		about.Typed = r.Text // it is no URI
	}
	about.Noun = h.config.Schemes.Noun(about.Input)
	return about
}
