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
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields but Roots, MaxFetches and DataPort must be set.
type Config struct {
	Dial   scheme.Dial
	Limits scheme.Limits
	Now    func() time.Time
	// Anonymous is the password of the user anonymous, and Login whether other users are allowed.
	Anonymous string
	Login     bool
	TLS       TLS
	Roots     *x509.CertPool // of certificates where TLS is required; nil for those of the system
	// MaxIdle bounds the connections that wait for the next request, half of them to one server, and Idle how long each does.
	MaxIdle int
	Idle    time.Duration
	// MaxFetches bounds the requests at a time, of which each may need two connections: where Dial itself
	// waits for connections to be closed, at most half of those that it opens. Others wait. 0 is no bound.
	MaxFetches int
	// DataPort returns why a data connection must not be to a port; nil allows all above 1023.
	DataPort func(port uint16) error
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
	pool   *scheme.Pool[string, *control]
	places quota.Semaphore // one for each request that runs; nil for no bound
}

// New returns a Handler.
func New(config Config) *Handler {
	h := &Handler{config: config, pool: scheme.NewPool[string](scheme.PoolConfig[*control]{
		Most: config.MaxIdle, OfServer: scheme.Half(config.MaxIdle), Timeout: config.Idle, Now: config.Now, Close: (*control).Close,
	})}
	if config.MaxFetches > 0 {
		h.places = make(quota.Semaphore, config.MaxFetches)
	}
	return h
}

// Close closes the connections that wait, and those in use when their requests end.
func (h *Handler) Close() { h.pool.Close() }

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	t, err := h.newTarget(r)
	if err != nil {
		return nil, err
	}
	resource, err := h.fetch(ctx, r, t)
	if !t.private {
		if err == nil { // what anybody gets is not for who logs in by the field
			resource.Fields.Set("Vary", "Authorization")
		}
		return resource, err
	}
	var refusal *scheme.Refusal
	switch {
	case errors.As(err, &refusal):
		refusal.Fields.Set("Cache-Control", "no-store")
	case err == nil:
		resource.Fields.Set("Cache-Control", "no-store")
	}
	return resource, err
}

// fetch gives the connection back, where no stream of a body has it.
func (h *Handler) fetch(ctx context.Context, r scheme.Request, t target) (*scheme.Resource, error) {
	if err := h.enter(ctx); err != nil {
		return nil, err
	}
	// All before the first octet has one time, of however many commands a URL is made.
	before, cancel := h.config.within(ctx)
	defer cancel()
	c, err := h.connection(before, r, t)
	if err != nil {
		h.leave()
		return nil, err
	}
	release := func() { h.giveBack(c); h.leave() }
	f := fetch{config: &h.config, request: r, target: t, control: c, release: release}
	resource, err := f.answer(ctx, before)
	if err != nil && !errors.As(err, new(*scheme.Refusal)) {
		c.broken = true
	}
	if !f.streams {
		release()
	}
	if err != nil {
		return nil, err
	}
	resource.From = c.remote
	return resource, nil
}

// giveBack lets a connection wait, where it can be used again.
func (h *Handler) giveBack(c *control) {
	if c.broken || c.home == "" || c.in.Buffered() > 0 {
		c.Close()
		return
	}
	h.pool.Put(c)
}
