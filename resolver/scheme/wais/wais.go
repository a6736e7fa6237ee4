// Package wais searches databases and retrieves their records by Z39.50, the protocol of WAIS: RFC 1738
// section 3.9, and RFC 2056.
package wais

import (
	"context"

	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields must be set.
type Config struct {
	Dial    scheme.Dial
	Limits  scheme.Limits
	Records int // of a result that are shown
}

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	return nil, scheme.ErrUnsupported
}
