// Package template redirects to gateways of others, by a URI template for each scheme.
package template

import (
	"context"

	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler.
type Config struct {
	Template string // RFC 6570, with the variables uri, scheme, host, port, path and query
}

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	return nil, scheme.ErrUnsupported
}
