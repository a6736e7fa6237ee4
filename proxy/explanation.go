package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// Explanation describes the handling of a GET for a URL, and the reasons.
type Explanation struct {
	Key      uri.URI     // the cache key of its response
	Spelling string      // the path and query that are sent instead of those of Key, "" for the same
	Site     *route.Site // the site of the URL, nil for none
	// Reply is the response of urnd itself, nil if it comes from a server; then Cache describes the decision
	// of the cache.
	Reply *OwnReply
	Cache forward.Explanation
	// Sent is the outcome of the request if it was sent; Cache describes the state after it.
	Sent *forward.Sent
}

// OwnReply is a response of urnd itself, without a server.
type OwnReply struct {
	Status   int
	Location string // the target of a redirect, "" for other responses
}

// errOwn means that the URL is not served through the HTTP cache.
var errOwn = fmt.Errorf("%w: urnd itself answers this URL, and stores no response for it; use /api/v1/cache/entries "+
	"for names", problem.ErrSelection)

// Explain explains the handling of a GET for a URL with the given header fields, which it does not change: by any
// client, regardless of its rights. If send is set, the request is sent once before. The rules of the site do
// not apply, as they are for clients.
func (h *Handler) Explain(
	ctx context.Context, u uri.URI, fields httpmessage.Fields, send bool,
) (e Explanation, err error) {
	a := h.classify(u.WithoutFragment(), fields)
	if a.Err != nil {
		return e, a.Err
	}
	e = Explanation{Key: a.Key, Spelling: a.Spelling, Site: a.Site}
	switch {
	case a.Kind == route.KindHTTPSRedirect:
		e.Key, e.Reply = u.WithoutFragment().Normalize(), &OwnReply{http.StatusPermanentRedirect, a.Location}
		return e, nil
	case a.Kind != route.KindSite && a.Kind != route.KindForward:
		return e, errOwn
	case a.RedirectsToNormal:
		e.Reply = &OwnReply{http.StatusPermanentRedirect, a.Key.String()}
		return e, nil
	}
	if e.Site == nil {
		if e.Site, err = h.server.Sites.Find(a.Key, a.Spelling); err != nil {
			return e, err
		}
	}
	var set *forward.Site
	if e.Site != nil {
		site := &h.sites[e.Site.Index]
		if site.FixedResponse != nil {
			e.Reply = &OwnReply{site.FixedResponse.Status, site.FixedResponse.RedirectLocation(&a)}
			return e, nil
		}
		set = &site.Site
	}
	asked := func() *forward.Request {
		return &forward.Request{
			Request: httpmessage.Request{
				Method: http.MethodGet, URI: a.OutgoingURI(), Spelling: a.Spelling,
				Fields: fields.Clone(),
			},
			Key: a.Key, Site: set, Major: 1, Minor: 1,
		}
	}
	if send {
		sent, err := h.forward.Try(ctx, asked())
		if err != nil {
			return e, err
		}
		e.Sent = &sent
	}
	e.Cache = h.forward.Explain(asked())
	return e, nil
}

// classify returns the route of a GET for a URL: within a site as its clients request it, else as clients of the
// proxy do.
func (h *Handler) classify(u uri.URI, fields httpmessage.Fields) (a route.Request) {
	view := route.RequestHead{Method: http.MethodGet, Target: u.String(), Header: fields.Values}
	view.Host, _ = u.Host()
	if u.IsWeb() {
		of := view
		of.Host, _ = u.Authority()
		of.Host = of.Host[strings.LastIndexByte(of.Host, '@')+1:]
		of.Target = uri.PathAndQuery(u.String())
		if !strings.HasPrefix(of.Target, "/") {
			of.Target = "/" + of.Target
		}
		route.Classify(&a, &of, &route.Endpoint{Server: &h.server, Secure: uri.EqualFold(u.Scheme(), "https")})
		if a.Site != nil {
			return a
		}
	}
	route.Classify(&a, &view, &route.Endpoint{Server: &h.server, MayProxy: true})
	return a
}
