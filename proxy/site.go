package proxy

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// Site is a site that urnd is the gateway of, or a path of it. Its requests are forwarded to one of its
// servers, through the HTTP cache, or answered by urnd.
type Site struct {
	Route         route.Site // its path is also the path at the servers
	Access        gate.SiteAccess
	FixedResponse *FixedResponse // nil if its servers answer
	forward.Site
}

// FixedResponse is a fixed response of urnd in place of the servers of a site. It is immutable.
type FixedResponse struct {
	Status   int
	Location *uri.Template // the target of a redirect; nil for other responses
	Type     string        // the media type of Body; "" is text/plain
	Body     []byte        // nil for the status code and its reason phrase
}

// siteRetry is the Retry-After of a site that is in maintenance.
const siteRetry = time.Minute

// reply returns the reply to a request; redirects are fresh for ttl.
func (s *FixedResponse) reply(a *route.Request, ttl time.Duration) message.Reply {
	r := message.Reply{Status: s.Status, CacheControl: message.NoStore, Body: s.Body}
	if s.Location != nil {
		r.Location, r.CacheControl = s.RedirectLocation(a), message.MaxAge(ttl)
	}
	// It is a document of the site: it must not get the security policies of urnd's own documents, which
	// Reply.ContentType implies.
	r.Fields.Set("Content-Type", cmp.Or(s.Type, "text/plain; charset=utf-8"))
	if r.Body == nil && s.Status != http.StatusNoContent && s.Status != http.StatusNotModified {
		r.Body = []byte(strconv.Itoa(s.Status) + " " + http.StatusText(s.Status) + "\n")
	}
	if s.Status == http.StatusServiceUnavailable {
		r.Fields.Set("Retry-After", strconv.Itoa(int(siteRetry.Seconds())))
	}
	return r
}

// RedirectLocation returns the location that a request is redirected to, "" if it is not redirected.
func (s *FixedResponse) RedirectLocation(a *route.Request) string {
	if s.Location == nil {
		return ""
	}
	return s.Location.Expand(locationValues(a))
}

// locationValues returns the variables of a location template, taken from the normalized request.
func locationValues(a *route.Request) []uri.TemplateValue {
	host, _ := a.Key.Authority()
	path := a.Key.Path()
	query, hasQuery := a.Key.Query()
	if hasQuery {
		query = "?" + query
	}
	return []uri.TemplateValue{
		{Name: "host", Text: host},
		{Name: "path", Text: path},
		{Name: "rest", Text: a.Site.Rest(path)},
		{Name: "query", Text: query},
	}
}

// addSites adds the sites of the configuration to h, and returns their routes.
func (h *Handler) addSites(failures *forward.Failures) route.Sites {
	at := make([]route.Site, len(h.config.Sites))
	for i, s := range h.config.Sites {
		at[i], s.Path = s.Route, s.Route.Path
		if s.Fetch != nil {
			s.Fetch = failures.Wrap(s.Fetch)
		}
		h.sites = append(h.sites, s)
	}
	return route.NewSites(at)
}

// accessOf returns the access rules of the sites.
func accessOf(sites []Site) []gate.SiteAccess {
	all := make([]gate.SiteAccess, len(sites))
	for i, s := range sites {
		all[i] = s.Access
	}
	return all
}

// Refresh fetches all stored variants of a URI in canonical form again, and returns their number. The rules
// of the site do not apply, as they are for clients. Errors are those of the origin.
func (h *Handler) Refresh(ctx context.Context, key uri.URI) (int, error) {
	found, err := h.server.Sites.Find(key, "")
	if err != nil {
		return 0, err
	}
	if found == nil || h.sites[found.Index].FixedResponse != nil {
		return h.forward.Refresh(ctx, key, nil)
	}
	return h.forward.Refresh(ctx, key, &h.sites[found.Index].Site)
}
