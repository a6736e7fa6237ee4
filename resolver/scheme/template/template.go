// Package template redirects requests to external gateways as scheme.Handler, by a URI template per scheme. A
// request for a URI enters; a redirect to the expanded template leaves, and no server is contacted. Templates
// are those of RFC 6570.
package template

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Config configures a Handler.
type Config struct {
	Template string // RFC 6570 template with the variables uri, scheme, host, port, path and query
}

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler. It connects to no server. The error wraps resolver.ErrForbidden if the
// template expands to a scheme that locations must not have, or to the scheme of the request.
func (h *Handler) Fetch(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	template, err := uri.ParseTemplate(h.config.Template)
	if err != nil {
		return nil, fmt.Errorf("expanding the template %q: %w", h.config.Template, err)
	}
	location := template.Expand(variables(r.URI))
	target, err := uri.Parse(location)
	if err != nil {
		// %s, not %w: it is not an error of the client.
		return nil, fmt.Errorf("expansion of the template %q is not a URI: %s", h.config.Template, err.Error())
	}
	if strings.EqualFold(target.Scheme(), r.URI.Scheme()) {
		return nil, fmt.Errorf("%w: the template of the scheme %s expands to the same scheme", resolver.ErrForbidden,
			r.URI.Scheme())
	}
	if err := target.Check(); err != nil {
		return nil, fmt.Errorf("expansion of the template %q is malformed: %s", h.config.Template, err.Error())
	}
	if err := resolver.CheckLocation(location); err != nil {
		return nil, fmt.Errorf("redirecting: %w", err)
	}
	resource := scheme.Redirect(http.StatusFound, location)
	if _, private := r.URI.Userinfo(); private {
		resource.Fields.Set("Cache-Control", "no-store")
	}
	return resource, nil
}

// variables returns the parts of a URI unchanged; the port defaults to that of the scheme. Missing parts are
// undefined, and no variable has the password.
func variables(u uri.URI) []uri.TemplateValue {
	u = u.WithoutPassword()
	found := []uri.TemplateValue{
		{Name: "uri", Text: u.String()},
		{Name: "scheme", Text: strings.ToLower(u.Scheme())},
		{Name: "path", Text: u.Path()},
	}
	if host, ok := u.Host(); ok {
		found = append(found, uri.TemplateValue{Name: "host", Text: host})
	}
	port, _ := u.Port()
	if port == "" {
		port = u.DefaultPort()
	}
	if port != "" {
		found = append(found, uri.TemplateValue{Name: "port", Text: port})
	}
	if query, ok := u.Query(); ok {
		found = append(found, uri.TemplateValue{Name: "query", Text: query})
	}
	return found
}
