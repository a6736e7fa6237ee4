// Package file retrieves local files and directories below some roots: RFC 8089.
package file

import (
	"context"

	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler.
type Config struct {
	Roots  []string // absolute paths of directories; empty: all requests are refused
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
