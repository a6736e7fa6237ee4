// Package ftp retrieves files and directories from FTP servers: RFC 959, and RFC 1738 section 3.2.
//
// It speaks the protocol itself: on the control connection each line of a reply is bounded, FEAT is asked
// before the login, and no text of a server is lost; data connections are made only to the address of the
// control connection, which the client opens, never the server.
package ftp

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields but Roots must be set.
type Config struct {
	Dial   scheme.Dial
	Limits scheme.Limits
	Now    func() time.Time
	// Anonymous is the password of the user anonymous, and Login whether other users are allowed.
	Anonymous string
	Login     bool
	TLS       TLS
	Roots     *x509.CertPool // of certificates where TLS is required; nil for those of the system
	// MaxIdle bounds the connections that wait for the next request, and Idle how long each does.
	MaxIdle int
	Idle    time.Duration
}

// TLS is when TLS is used: RFC 4217.
type TLS uint8

// The uses of TLS.
const (
	TLSOffered TLS = iota // where the server offers it, with any certificate
	TLSNever
	TLSRequired // with a valid certificate
)

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct {
	config Config
	pool   *pool
}

// New returns a Handler.
func New(config Config) *Handler {
	return &Handler{config: config, pool: newPool(config.MaxIdle, config.Idle)}
}

// Close closes the connections that wait, and those in use when their requests end.
func (h *Handler) Close() { h.pool.close() }

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	t, err := h.newTarget(r)
	if err != nil {
		return nil, err
	}
	resource, err := h.fetch(ctx, r, t)
	if !t.private {
		return resource, err
	}
	var refusal *scheme.Refusal
	switch {
	case errors.As(err, &refusal):
		if refusal.Header == nil {
			refusal.Header = make(http.Header)
		}
		refusal.Header["Cache-Control"] = []string{"no-store"}
	case err == nil:
		resource.Header["Cache-Control"] = []string{"no-store"}
	}
	return resource, err
}

// fetch gives the connection back, where no stream of a body has it.
func (h *Handler) fetch(ctx context.Context, r scheme.Request, t target) (*scheme.Resource, error) {
	c, err := h.connection(ctx, r, t)
	if err != nil {
		return nil, err
	}
	f := fetch{config: &h.config, request: r, target: t, control: c, release: func() { h.pool.put(c) }}
	resource, err := f.answer(ctx)
	if err != nil && !errors.As(err, new(*scheme.Refusal)) {
		c.broken = true
	}
	if !f.streams {
		h.pool.put(c)
	}
	if err != nil {
		return nil, err
	}
	resource.From = c.remote
	return resource, nil
}
