package proxy

import (
	"errors"
	"net/http"
	"slices"

	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/uri"
)

// isFetch reports whether a request is one for what is retrieved at /fetch, and not for where a name leads,
// or one that fetch refuses. err is that of parsing it.
func (h *Handler) isFetch(x *exchange, r *message.Request, err error) bool {
	return r.Form == message.FormFetch && isGet(x.request) && (err != nil || !h.isName(r) || isForeign(x.request.Header))
}

// fetch retrieves a location for a client that may use the proxy, as a resource of this server:
// /fetch?uri=. Browsers get a form where the parameter is missing. err is that of parsing the request.
func (h *Handler) fetch(x *exchange, r *message.Request, err error) error {
	if isForeign(x.request.Header) {
		return unfetched(r, problem.ErrFetchSite)
	}
	if refused := h.mayProxy(x); refused != nil {
		return unfetched(r, refused)
	}
	switch {
	case r.Text == "" && err != nil && problem.PrefersHTML(x.request.Header):
		h.reply(x, message.Reply{Status: http.StatusOK, ContentType: pages.ContentType, Body: pages.Fetch(), Vary: "Accept"})
		return nil
	case err == nil:
		err = h.fetchURL(x, r.Query.URI)
	}
	if err != nil {
		return unfetched(r, err)
	}
	return nil
}

// fetchURL retrieves a location. The rules of the site hold for it as for a request to the proxy.
func (h *Handler) fetchURL(x *exchange, u uri.URI) error {
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
	return r.Typed && !h.isName(r) && problem.PrefersHTML(x.request.Header) &&
		slices.Contains([]string{"ftp", "gopher", "news", "nntp", "wais", "z39.50r", "z39.50s", "file", "telnet", "prospero"}, r.Query.URI.Scheme())
}

// isForeign reports whether a page of another site makes a browser send a request, and not by a link: it
// would use the rights of its reader. Browsers send these fields of Fetch Metadata by TLS, and to localhost.
func isForeign(header http.Header) bool {
	switch header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return header.Get("Sec-Fetch-Mode") != "navigate" || header.Get("Sec-Fetch-Dest") != "document"
	default:
		return false
	}
}

// unfetched returns the error of a request at /fetch with what was asked for, without its password.
func unfetched(r *message.Request, err error) error {
	about := &problem.Failure{Err: err, Input: r.Query.URI.WithoutPassword().String(), Fetched: true}
	if about.Typed = about.Input; about.Typed == "" {
		about.Typed = r.Text // it is no URI
	}
	return about
}
