// Package nntp retrieves groups and articles from news servers: RFC 3977, and RFC 5538.
package nntp

import (
	"context"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields but Servers, User and Password must be set.
type Config struct {
	Dial   scheme.Dial
	Limits scheme.Limits
	Now    func() time.Time
	// Servers are asked, in order, for URLs without host; User logs in there, unless it is empty.
	Servers        []Server
	User, Password string
	Page           int // articles of a page
}

// Server is a news server.
type Server struct {
	Address string // "host:port"
	TLS     bool   // from the start
}

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	return nil, scheme.ErrUnsupported
}
