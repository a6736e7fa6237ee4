// Package gopher retrieves menus and documents from gopher servers: RFC 1436, and RFC 4266.
package gopher

import (
	"context"

	"github.com/urnd/urnd/resolver/scheme"
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

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	return nil, scheme.ErrUnsupported
}
