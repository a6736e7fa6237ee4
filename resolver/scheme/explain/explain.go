// Package explain describes URIs that nothing is retrieved from, such as telnet:, mailto: and prospero:
// what their parts mean, what is dangerous about them, and a link for a program that can open them.
package explain

import (
	"context"

	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler.
type Config struct {
	Ports scheme.Ports // which ports of servers are not unusual
}

// Schemes returns the schemes that a Handler explains.
func Schemes() []string { return []string{"telnet", "mailto", "prospero"} }

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	return nil, scheme.ErrUnsupported
}
