// Package explain describes URIs that nothing is retrieved from, such as telnet:, mailto: and prospero:
// what their parts mean, what is dangerous about them, and a link for a program that can open them.
package explain

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Config configures a Handler.
type Config struct {
	Ports scheme.Ports // which ports of servers are not unusual
	// ServiceAt returns what servers of other protocol gateways at a port are for, in words, "" for none; nil knows none.
	ServiceAt func(port uint16) string
}

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler. It connects to no server. Its error is a *uri.ParseError for a URI that is not
// well formed, or scheme.ErrUnsupported for one of another scheme.
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
	resource := scheme.Listed(d.listing())
	if _, isPrivate := u.Userinfo(); isPrivate {
		resource.Fields.Set("Cache-Control", "no-store")
	}
	return resource, nil
}

// description is a listing under construction.
type description struct {
	l    scheme.Listing
	open scheme.Link
	// harmful is whether a program that opens the URI may do what its reader does not expect: it gets no link.
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
	name = scheme.Text(name)
	d.l.Properties = append(d.l.Properties, scheme.Property{Name: name, Value: scheme.Text(value)})
	d.warnOfCharacters(name, value)
}

func (d *description) note(text string) { d.l.Notes = append(d.l.Notes, text) }

func (d *description) warn(text string) { d.l.Warnings = append(d.l.Warnings, text) }

// warnHarmful is warn of what takes the link away.
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
