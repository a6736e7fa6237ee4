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

// Explanation is what becomes of a GET for a URL, and why.
type Explanation struct {
	Key      uri.URI     // by which its response is stored
	Spelling string      // the path and query that are sent in place of those of Key, "" for these
	Site     *route.Site // that it is of, nil for none
	// Reply is what urnd itself answers, nil where a server does; then Cache is what the cache would do.
	Reply *OwnReply
	Cache forward.Explanation
	// Sent is what became of the request where it was sent; Cache is as it is then.
	Sent *forward.Sent
}

// OwnReply is a reply that no server is asked for.
type OwnReply struct {
	Status   int
	Location string // where a redirect leads, "" for others
}

// errOwn is the error of what is not answered from the cache of responses.
var errOwn = fmt.Errorf("%w: urnd itself answers this, as a name or one of its pages, and stores no response for it; "+
	"/api/v1/cache/entries has the answers for names", problem.ErrSelection)

// Why explains what becomes of a GET for a URL with some fields, which are not changed: as by any client, whose rights do not matter.
// Where send is set, it is sent once before. The rules of the site, which are for clients, do not apply.
func (h *Handler) Why(ctx context.Context, u uri.URI, fields httpmessage.Fields, send bool) (e Explanation, err error) {
	a := h.askOf(u.WithoutFragment(), fields)
	if a.Err != nil {
		return e, a.Err
	}
	e = Explanation{Key: a.Key, Spelling: a.Spelling, Site: a.Site}
	switch {
	case a.Kind == route.KindSecure:
		e.Key, e.Reply = u.WithoutFragment().Normalize(), &OwnReply{http.StatusPermanentRedirect, a.Location}
		return e, nil
	case a.Kind != route.KindSite && a.Kind != route.KindForward:
		return e, errOwn
	case a.IsRespelled:
		e.Reply = &OwnReply{http.StatusPermanentRedirect, a.Key.String()}
		return e, nil
	}
	if e.Site == nil {
		if e.Site, err = h.server.Sites.Of(a.Key, a.Spelling); err != nil {
			return e, err
		}
	}
	var set *forward.Site
	if e.Site != nil {
		site := &h.sites[e.Site.Index]
		if site.Answer != nil {
			e.Reply = &OwnReply{site.Answer.Status, site.Answer.Leads(&a)}
			return e, nil
		}
		set = &site.Site
	}
	asked := func() *forward.Request {
		return &forward.Request{
			Request: httpmessage.Request{Method: http.MethodGet, URI: a.Sent(), Spelling: a.Spelling, Fields: fields.Clone()},
			Key:     a.Key, Site: set, Major: 1, Minor: 1,
		}
	}
	if send {
		sent, err := h.forward.Try(ctx, asked())
		if err != nil {
			return e, err
		}
		e.Sent = &sent
	}
	e.Cache = h.forward.Why(asked())
	return e, nil
}

// askOf returns what a GET for a URL asks for: of a site as its clients ask, and of all else as clients of the proxy do.
func (h *Handler) askOf(u uri.URI, fields httpmessage.Fields) (a route.Ask) {
	view := route.View{Method: http.MethodGet, Target: u.String(), Lines: fields.Lines}
	view.Host, _ = u.Host()
	if u.IsWeb() {
		of := view
		of.Host, _ = u.Authority()
		of.Host = of.Host[strings.LastIndexByte(of.Host, '@')+1:]
		of.Target = uri.PathAndQuery(u.String())
		if !strings.HasPrefix(of.Target, "/") {
			of.Target = "/" + of.Target
		}
		route.Classify(&a, &of, &route.Place{Server: &h.server, Secure: uri.EqualFold(u.Scheme(), "https")})
		if a.Site != nil {
			return a
		}
	}
	route.Classify(&a, &view, &route.Place{Server: &h.server, Proxies: true})
	return a
}
