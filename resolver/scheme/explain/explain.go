// Package explain describes URIs that urnd cannot fetch, such as telnet:, mailto: and prospero:, as
// scheme.Handler. A request for such a URI enters; a listing leaves, with the meaning of its parts, warnings of
// dangers, and a link that opens it in a program of the user. No server is contacted. It covers RFC 1738
// sections 3.8, 3.11 and 6, RFC 4248, RFC 6068 and RFC 6270.
package explain

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Config configures a Handler.
type Config struct {
	Ports scheme.Ports // ports that do not cause a warning
	// ServiceAt returns in words what servers of other protocol gateways at a port are for, "" if unknown; nil
	// is always "".
	ServiceAt func(port uint16) string
}

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler. It connects to no server. The error is a *uri.ParseError for a malformed
// URI, and wraps scheme.ErrUnsupported for any other scheme.
func (h *Handler) Fetch(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	u := r.URI.Normalize()
	if err := u.Check(); err != nil {
		return nil, err
	}
	d := newDescription(u)
	var err error
	switch u.Scheme() {
	case "telnet", "tn3270", "rlogin":
		d.session(u)
	case "ftps":
		d.ftps(u)
	case "gemini":
		d.gemini(u)
	case "mailto":
		err = d.mailto(u)
	case "prospero":
		err = d.prospero(u)
	default:
		return nil, fmt.Errorf("explaining %q: %w", u.Scheme(), scheme.ErrUnsupported)
	}
	if err != nil {
		return nil, err
	}
	d.warnOfServer(u, h.config)
	resource := scheme.ListingResource(d.listing())
	if _, private := u.Userinfo(); private {
		resource.Fields.Set("Cache-Control", "no-store")
	}
	return resource, nil
}

// description is a listing under construction.
type description struct {
	l    scheme.Listing
	open scheme.Link
	// harmful is true if opening the URI may do something that the reader does not expect: the page has no link
	// then.
	harmful bool
}

func newDescription(u uri.URI) *description {
	shown := u.WithoutPassword().String()
	return &description{
		l:    scheme.Listing{Kind: scheme.KindDescription, Title: shown, URI: shown},
		open: scheme.Link{URI: shown},
	}
}

// property adds a part of the URI, decoded.
func (d *description) property(name, value string) {
	name = scheme.DecodeText(name)
	d.l.Properties = append(d.l.Properties, scheme.Property{Name: name, Value: scheme.DecodeText(value)})
	d.warnOfCharacters(name, value)
}

func (d *description) note(text string) { d.l.Notes = append(d.l.Notes, text) }

func (d *description) warn(text string) { d.l.Warnings = append(d.l.Warnings, text) }

// warnHarmful adds a warning and removes the link.
func (d *description) warnHarmful(text string) {
	d.warn(text)
	d.harmful = true
}

func (d *description) listing() *scheme.Listing {
	if d.harmful {
		d.note("Because of the warnings, this page has no link that opens the address.")
	} else {
		d.l.Open = &d.open
	}
	return &d.l
}
