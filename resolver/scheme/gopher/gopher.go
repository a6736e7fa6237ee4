// Package gopher fetches menus and documents from gopher servers as scheme.Handler. A request for a gopher URL
// enters; a listing of a menu, of search results or of attributes leaves, a streamed document, or a redirect to
// a link. Errors of a server become a scheme.StatusError. It implements RFC 1436, the URLs of RFC 4266, and
// Gopher+, the enhancements of July 30, 1993 by the authors of gopher.
package gopher

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Config configures a Handler. All fields must be set.
type Config struct {
	Dial   scheme.Dial
	Limits scheme.Limits
}

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler. Menus, searches and attributes are listings, everything else is a stream.
// Responses have neither validators nor a freshness lifetime, because the protocol has no such metadata.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	q, err := newRequest(r.URI)
	if err != nil {
		return nil, err
	}
	resource, err := h.fetch(ctx, r, q.requested())
	if err != nil {
		return nil, fmt.Errorf("fetching by gopher: %w", err)
	}
	if r.Fields.Get("Authorization") != "" {
		resource.Fields.Set("Cache-Control", "no-store")
	}
	return resource, nil
}

func (h *Handler) fetch(ctx context.Context, r scheme.Request, q request) (*scheme.Resource, error) {
	if q.isForm() {
		return nil, scheme.PolicyDenial(http.StatusNotImplemented, "gopher_form",
			"Gopher+ forms are shown, but cannot be submitted")
	}
	if q.wantsAttributes() {
		return h.attributes(ctx, r, q)
	}
	switch q.Type {
	case typeCSO:
		return nil, scheme.PolicyDenial(http.StatusNotImplemented, "gopher_phone_book",
			"this is a CSO phone book, which has a protocol of its "+
				"own (RFC 1436 section 3.7)")
	case typeTelnet, typeTN3270:
		return session(q)
	case typeHTML:
		if target, ok := webSelector(q.Selector); ok && !q.HasPlus {
			return redirectTo(target)
		}
	case typeSearch:
		if location, ok := q.submitted(); ok {
			return scheme.Redirect(http.StatusSeeOther, location), nil
		}
		if q.Search == "" {
			return scheme.ListingResource(searchForm(q)), nil
		}
		return h.menu(ctx, r, q)
	case typeMenu:
		return h.menu(ctx, r, q)
	case typeInfo, typeError:
		return nil, scheme.PolicyDenial(http.StatusNotFound, "gopher_text_line",
			"this is a text line of a menu, without a document")
	}
	return h.document(ctx, r, q)
}

// session redirects to the URL of a telnet or tn3270 session, which is explained and not fetched.
func session(q request) (*scheme.Resource, error) {
	port := q.port
	if port == defaultPort { // the default port of gopher, not of the session
		port = ""
	}
	location := sessionLink(q.Type, q.Selector, q.host, port)
	if location == "" {
		return nil, scheme.PolicyDenial(http.StatusNotFound, "gopher_session", "session without a valid address")
	}
	return scheme.Redirect(http.StatusFound, location), nil
}

// redirectTo redirects to the URL in a selector, without contacting the gopher server.
func redirectTo(target string) (*scheme.Resource, error) {
	location, err := webLink(target)
	if err != nil {
		return nil, err
	}
	return scheme.Redirect(http.StatusFound, location), nil
}

// webSelector returns the URL in a selector of type h, which starts with "URL:", or "/URL:" at some servers.
func webSelector(selector string) (string, bool) {
	return strings.CutPrefix(strings.TrimPrefix(selector, "/"), "URL:")
}

// checkLocation is resolver.CheckLocation for links of servers, and also allows URIs that are resolved or
// explained.
func checkLocation(text string) error {
	if u, err := uri.Parse(text); err == nil && u.Check() == nil && u.IsLink() {
		return nil
	}
	if err := resolver.CheckLocation(text); err != nil {
		return fmt.Errorf("link from the server: %w", err)
	}
	return nil
}
