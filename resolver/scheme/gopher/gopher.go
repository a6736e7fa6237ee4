// Package gopher retrieves menus and documents from gopher servers: RFC 1436, RFC 4266, and Gopher+,
// the enhancements of its authors of July 30, 1993.
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

// Fetch implements scheme.Handler. Menus, searches and attributes are listings, all else is a stream. It
// has neither validators nor a freshness lifetime, since nothing in the protocol says how long it is good.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	q, err := newRequest(r.URI)
	if err != nil {
		return nil, err
	}
	resource, err := h.fetch(ctx, r, q.asked())
	if err != nil {
		return nil, fmt.Errorf("fetching by gopher: %w", err)
	}
	if r.Fields.Value("Authorization") != "" {
		resource.Fields.Set("Cache-Control", "no-store")
	}
	return resource, nil
}

func (h *Handler) fetch(ctx context.Context, r scheme.Request, q request) (*scheme.Resource, error) {
	if q.isForm() {
		return nil, scheme.Decline(http.StatusNotImplemented, "gopher_form", "forms of Gopher+ are shown, but their answers are not sent")
	}
	if q.wantsAttributes() {
		return h.attributes(ctx, r, q)
	}
	switch q.Type {
	case typeCSO:
		return nil, scheme.Decline(http.StatusNotImplemented, "gopher_phone_book", "this is a phone book of CSO, which is asked by a protocol of its "+
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
			return scheme.Listed(searchForm(q)), nil
		}
		return h.menu(ctx, r, q)
	case typeMenu:
		return h.menu(ctx, r, q)
	case typeInfo, typeError:
		return nil, scheme.Decline(http.StatusNotFound, "gopher_text_line", "this is a line of a menu, and leads to nothing")
	}
	return h.document(ctx, r, q)
}

// session leads to the URL of a session, which is explained and not retrieved.
func session(q request) (*scheme.Resource, error) {
	port := q.port
	if port == defaultPort { // which gopher has, and no session
		port = ""
	}
	location := sessionLink(q.Type, q.Selector, q.host, port)
	if location == "" {
		return nil, scheme.Decline(http.StatusNotFound, "gopher_session", "this session has no valid address")
	}
	return scheme.Redirect(http.StatusFound, location), nil
}

// redirectTo leads to a URL that a selector has: no server of gopher is needed for that.
func redirectTo(target string) (*scheme.Resource, error) {
	location, err := webLink(target)
	if err != nil {
		return nil, err
	}
	return scheme.Redirect(http.StatusFound, location), nil
}

// webSelector returns the URL in a selector of type h, which begins "URL:", or "/URL:" as some servers
// want it.
func webSelector(selector string) (string, bool) {
	return strings.CutPrefix(strings.TrimPrefix(selector, "/"), "URL:")
}

// checkLocation is resolver.CheckLocation for links of servers. They may also name what is resolved, and what is explained.
func checkLocation(text string) error {
	if u, err := uri.Parse(text); err == nil && u.Check() == nil && u.IsLink() {
		return nil
	}
	if err := resolver.CheckLocation(text); err != nil {
		return fmt.Errorf("the link of the server: %w", err)
	}
	return nil
}
